//go:build cuda || nvrtc

package nvrtc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Compiled kernels are kept in the user's cache folder, in sagann/cuda, which only the user may read and write. A file's
// name is a hash of all that its code depends on: the text, the architecture, the options, and the version of NVRTC. It
// begins with a hash of the code, so that a file that was cut off or changed is compiled again. Files that were not read for
// keepFor are removed when another is written.

// keepFor is how long a file is kept that nothing reads.
const keepFor = 60 * 24 * time.Hour

// keyOf is the name of the file for source.
func keyOf(major, minor int, options, source string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d.%d %q\n%s", major, minor, options, source))
	return hex.EncodeToString(sum[:]) + ".cubin"
}

// folder is the cache folder, made if create is set; "": there is none, or others may write to it.
func folder(create bool) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "sagann", "cuda")
	if create && os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return ""
	}
	if info.Mode().Perm()&0o077 != 0 && os.Chmod(dir, 0o700) != nil { // only its owner may do that
		return ""
	}
	return dir
}

// kept is the code in file name; nil: there is none, or it is not what was written.
func kept(name string) []byte {
	dir := folder(false)
	if dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || len(b) <= sha256.Size {
		return nil
	}
	code := b[sha256.Size:]
	if sum := sha256.Sum256(code); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil
	}
	if info, err := os.Stat(filepath.Join(dir, name)); err == nil && time.Since(info.ModTime()) > keepFor/10 {
		now := time.Now()
		os.Chtimes(filepath.Join(dir, name), now, now)
	}
	return code
}

// keep writes a file atomically, and removes those that are old.
func keep(name string, code []byte) {
	dir := folder(true)
	if dir == "" {
		return
	}
	t, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return
	}
	sum := sha256.Sum256(code)
	_, err = t.Write(append(sum[:], code...))
	if errors.Join(err, t.Close()) != nil || os.Rename(t.Name(), filepath.Join(dir, name)) != nil {
		os.Remove(t.Name())
	}
	tidyOnce.Do(func() { tidy(dir) })
}

// tidyOnce: old files are looked for once a process.
var tidyOnce sync.Once

func tidy(dir string) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().Type() == fs.FileMode(0) && time.Since(info.ModTime()) > keepFor {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
