package golden

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "replace the expected output of golden scripts by the actual one")

// Run reads the script at path and calls f for each of its commands in order. A
// command whose result differs from the expected output fails the test with a line-by-line
// diff; later commands still run. A newline is added to a result that does not end in one.
// With -rewrite the results are written to the file instead.
func Run(t *testing.T, path string, f func(t *testing.T, cmd *Cmd) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(path, string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range s.blocks {
		got := withNewline(f(t, b.cmd))
		if err := representable(got); err != nil {
			t.Errorf("%s: %s: %v", b.cmd.Pos, b.cmd.Name, err)
			continue
		}
		if *rewrite {
			b.want = got
			continue
		}
		if got != b.want {
			t.Errorf("%s: %s (-expected +got, go test -rewrite accepts it):\n%s", b.cmd.Pos, b.cmd.Line, diff(b.want, got))
		}
	}
	if out := s.String(); *rewrite && !t.Failed() && out != string(text) {
		if err := os.WriteFile(path, []byte(out), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// Walk calls f in a subtest for each file in dir whose name ends in ext, in
// alphabetic order. It is an error when there is none.
func Walk(t *testing.T, dir, ext string, f func(t *testing.T, path string)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"+ext))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no scripts %s", filepath.Join(dir, "*"+ext))
	}
	slices.Sort(paths)
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ext), func(t *testing.T) { f(t, p) })
	}
}

// diff compares two texts line by line.
func diff(want, got string) string {
	return cmp.Diff(strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n"))
}

// withNewline ends a text that is not empty with a newline.
func withNewline(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
