//go:build cuda || nvrtc

package nvrtc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/singleflight"
	"gorgonia.org/cu/nvrtc"
)

// PTX compiles source for compute capability arch (90 for 9.0), or reads what an
// earlier run left in the user's cache folder under the hash of all that matters. A
// cache that cannot be read or written is no error; errors of the compiler come with
// its log. Several that want the same at a time wait for one of them.
func PTX(source string, arch int) (string, error) {
	ptx, err, _ := flights.Do(fmt.Sprintf("%d %s", arch, source), func() (any, error) { return translate(source, arch) })
	if err != nil {
		return "", err
	}
	return ptx.(string), nil
}

// flights are the translations under way.
var flights singleflight.Group

func translate(source string, arch int) (string, error) {
	major, minor, err := nvrtc.Version()
	if err != nil {
		return "", err
	}
	options := []string{fmt.Sprintf("--gpu-architecture=compute_%d", arch), "--std=c++17"}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d.%d %q\n%s", major, minor, options, source))
	var file string
	if dir, err := os.UserCacheDir(); err == nil {
		file = filepath.Join(dir, "sagann", "cuda", hex.EncodeToString(sum[:])+".ptx")
		if b, err := os.ReadFile(file); err == nil {
			return string(b), nil
		}
	}
	p, err := nvrtc.CreateProgram(source, "kernels.cu")
	if err != nil {
		return "", err
	}
	defer p.Destroy()
	if err := p.Compile(options...); err != nil {
		log, _ := p.GetLog()
		return "", fmt.Errorf("NVRTC: %w\n%s", err, log)
	}
	ptx, err := p.GetPTX()
	if err != nil {
		return "", err
	}
	if file != "" {
		keep(file, ptx)
	}
	return ptx, nil
}

// keep writes a cache file whole or not at all.
func keep(file, text string) {
	if os.MkdirAll(filepath.Dir(file), 0o777) != nil {
		return
	}
	t, err := os.CreateTemp(filepath.Dir(file), "new-*")
	if err != nil {
		return
	}
	_, err = t.WriteString(text)
	if errors.Join(err, t.Close()) != nil || os.Rename(t.Name(), file) != nil {
		os.Remove(t.Name())
	}
}
