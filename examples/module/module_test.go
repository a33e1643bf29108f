// Package module tests that a program outside this module can use it as docs/library.md says.
package module

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "sagann/layers" // what is built below, so that go test knows when its result is old
)

// copyPath stands for the copy of this module in docs/library.md.
const copyPath = "../sagann"

// TestModule follows docs/library.md word for word, but for the place of the copy.
func TestModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "library.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile("(?s)```(sh|go)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(parts) < 3 || parts[0][1] != "sh" || parts[1][1] != "go" || parts[2][1] != "sh" {
		t.Fatalf("the page has %d blocks of commands and code; want commands, main.go, commands first", len(parts))
	}
	parent := t.TempDir()
	dir := filepath.Join(parent, "mine")
	shell := func(where, commands string) (string, error) {
		c := exec.Command("bash", "-e", "-c", strings.ReplaceAll(commands, copyPath, root))
		c.Dir = where
		c.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off") // nothing is fetched
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash is installed, in which the page's commands are written")
	}
	if out, err := shell(parent, parts[0][2]); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(parts[1][2]), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := shell(dir, parts[2][2])
	if err != nil && regexp.MustCompile("GOPROXY=off|module lookup disabled").MatchString(out) {
		t.Skipf("modules are missing in the cache: go mod tidy once with a network\n%s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"epoch 50: loss ", "vertex 0 is of class ", "test accuracy 1.0000"} {
		if !strings.Contains(out, want) {
			t.Errorf("the program does not print %q:\n%s", want, out)
		}
	}
}
