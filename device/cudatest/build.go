package cudatest

import (
	"crypto/sha256"
	_ "embed" // threads.h
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

//go:embed threads.h
var threads []byte

// program is a translated source.
type program struct {
	path    string
	kernels []string // their names
}

// translator is the settings of the compiler, the same for the header and for programs.
var translator = []string{"-std=c++17", "-O1", "-U_FORTIFY_SOURCE", "-w"}

// kept is how long a program is kept after its last use.
const kept = 10 * 24 * time.Hour

var kernelHead = regexp.MustCompile(`extern "C" __global__ void __launch_bounds__\([^)]*\) (\w+)\(([^)]*)\)`)

// folder is the folder of programs and of the header that all of them include. Programs are kept
// from run to run, as in Go's build cache: compiling them takes most of
// the time of some tests. The folder's name is a hash of header, settings and compiler.
var folder = sync.OnceValues(func() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	version, err := exec.Command("g++", "--version").Output()
	if err != nil {
		return "", err
	}
	base = filepath.Join(base, "sagann-emulated")
	sum := sha256.Sum256(fmt.Append(threads, translator, string(version)))
	dir := filepath.Join(base, fmt.Sprintf("%x", sum[:8]))
	removeOld(base)
	removeOld(dir)
	header := filepath.Join(dir, "threads.h")
	if used(header + ".gch") {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	if err := os.WriteFile(header, threads, 0o666); err != nil {
		return "", err
	}
	return dir, translate(header+".gch", "", "-x", "c++-header", header)
})

// removeOld removes what has not been used for long; what is in use elsewhere is not old.
func removeOld(dir string) {
	list, _ := os.ReadDir(dir) // if it fails there is nothing to remove
	for _, e := range list {
		if i, err := e.Info(); err == nil && time.Since(i.ModTime()) > kept && e.Name() != "threads.h" {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// used reports whether a file exists, and marks it and its folder as used now.
func used(path string) bool {
	now := time.Now()
	return os.Chtimes(path, now, now) == nil && os.Chtimes(filepath.Dir(path), now, now) == nil
}

// translate compiles text to the file to. It writes a temporary file and renames it, as other test
// programs may want the same file at the same time.
func translate(to, text string, args ...string) error {
	f, err := os.CreateTemp(filepath.Dir(to), "new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	if err := f.Close(); err != nil {
		return err
	}
	c := exec.Command("g++", append(append(args, translator...), "-o", f.Name())...)
	c.Stdin = strings.NewReader(text)
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return errors.Join(os.Chmod(f.Name(), 0o777), os.Rename(f.Name(), to))
}

// build compiles a source, unless its program exists already.
func build(source string) (*program, error) {
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#include \"%s\"\n", filepath.Join(dir, "threads.h"))
	b.WriteString(strings.ReplaceAll(source, sharedWords, sharedWordsOf))
	b.WriteString("\nstatic void (*const kernels[])() = {\n")
	p := &program{}
	for _, m := range kernelHead.FindAllStringSubmatch(source, -1) {
		var args []string
		for i, a := range strings.Split(m[2], ",") {
			a = strings.Join(strings.Fields(a), " ")
			args = append(args, fmt.Sprintf("(%s)arg[%d]", a[:strings.LastIndexAny(a, " *")+1], i))
		}
		fmt.Fprintf(&b, "\t[] { %s(%s); },\n", m[1], strings.Join(args, ", "))
		p.kernels = append(p.kernels, m[1])
	}
	b.WriteString("};\nint main(int, char **args) { return serve(kernels, args); }\n")
	sum := sha256.Sum256([]byte(b.String()))
	p.path = filepath.Join(dir, fmt.Sprintf("%x", sum[:8]))
	if used(p.path) {
		return p, nil
	}
	return p, translate(p.path, b.String(), "-x", "c++", "-")
}
