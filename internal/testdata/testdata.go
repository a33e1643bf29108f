// Package testdata finds the real graphs and reference values that some tests use, and unpacks stores.
package testdata

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Root is the folder that holds data/ and golden/: $SAGANN_DATA, or the folder
// "shared" beside the module. It may not exist.
func Root() string {
	if d := os.Getenv("SAGANN_DATA"); d != "" {
		return d
	}
	_, file, _, _ := runtime.Caller(0)
	module := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	return filepath.Join(filepath.Dir(module), "shared")
}

// Dir returns the folder sub (such as "data/cora") below Root, or skips the test
// with a reason when it is not there.
func Dir(t testing.TB, sub string) string {
	t.Helper()
	p := filepath.Join(Root(), filepath.FromSlash(sub))
	if _, err := os.Stat(p); err != nil {
		t.Skipf("no reference data at %s: set SAGANN_DATA to the folder that holds data/ and golden/", p)
	}
	return p
}

// Unpacked writes what path+".gz" has packed to a file of the test with the name of path, and returns its path.
func Unpacked(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(out, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}
