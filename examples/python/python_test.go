// Package python tests the example in Python where torch is installed.
package python

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "sagann/layers" // what is built below, so that go test knows when its result is old
)

// TestPython runs train.py with the command saga of this module. SAGANN_PYTHON names a Python
// other than python3.
func TestPython(t *testing.T) {
	python, err := exec.LookPath(cmp.Or(os.Getenv("SAGANN_PYTHON"), "python3"))
	if err != nil {
		t.Skipf("no Python: %v", err)
	}
	script, err := os.ReadFile("train.py")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "saga"), "sagann/cmd/saga").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := exec.Command(python, "-W", "ignore", "-c", string(script), dir)
	c.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "OMP_NUM_THREADS=1")
	out, err := c.CombinedOutput()
	if at := strings.Index(string(out), "ModuleNotFoundError"); err != nil && at >= 0 {
		t.Skipf("%s lacks what the example needs: %s", python, strings.TrimSpace(string(out[at:])))
	}
	if err != nil { // the script asserts
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{"gcn: embeddings (600, 16), ", "sage: embeddings (600, 16), ", "gat: embeddings (600, 128), "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the script does not print %q", want)
		}
	}
	t.Logf("%s", out)
}
