package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func play(t *testing.T, cmd *Cmd) string {
	switch cmd.Name {
	case "echo":
		return cmd.Input
	case "nothing":
		return ""
	case "args":
		var out strings.Builder
		for _, a := range cmd.Args {
			fmt.Fprintf(&out, "%s %v\n", a.Key, a.Vals)
		}
		return out.String()
	case "sum":
		n := cmd.Int(t, "n", 0)
		for _, line := range cmd.Lines() {
			k, err := strconv.Atoi(line)
			if err != nil {
				t.Fatalf("%s: %v", cmd.Pos, err)
			}
			n += k
		}
		return fmt.Sprint(n) // the newline is added
	}
	t.Fatalf("%s: unknown command %s", cmd.Pos, cmd.Name)
	return ""
}

func TestRun(t *testing.T) {
	Walk(t, "testdata", ".txt", func(t *testing.T, path string) { Run(t, path, play) })
}

// TestRewrite spoils every expected output of the example; -rewrite must bring
// the very same file back.
func TestRewrite(t *testing.T) {
	if *rewrite {
		t.Skip("the flag is already in use")
	}
	right, err := os.ReadFile("testdata/example.txt")
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse("example.txt", string(right))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(right), s.String()); d != "" {
		t.Fatalf("the text changes when nothing did:\n%s", d)
	}
	for i, b := range s.blocks {
		b.want = []string{"", "wrong\n", "wrong\n\nwrong\n"}[i%3]
	}
	path := filepath.Join(t.TempDir(), "example.txt")
	if err := os.WriteFile(path, []byte(s.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	*rewrite = true
	defer func() { *rewrite = false }()
	Run(t, path, play)
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(right), string(got)); d != "" {
		t.Error(d)
	}
}

func TestBadScripts(t *testing.T) {
	for text, want := range map[string]string{
		"\necho\nx\n":                    `s.txt:2: echo: no "----" after the command`,
		"echo\n----\n----\na\n----\n":    `s.txt:1: echo: output is not closed by a doubled "----"`,
		"----\n":                         `s.txt:1: "----" without a command`,
		"echo (a\n----\n":                `'(' is not closed`,
		"echo a)\n----\n":                `')' without '('`,
		"echo a a=1\n----\n":             `argument "a" stands twice`,
		"echo =1\n----\n":                `has no key`,
		"echo\n----\n\n# end\necho\n":    `s.txt:5: echo: no "----"`,
		"echo\n----\na\n\nb\n\necho\n--": `s.txt:5: b: no "----"`,
	} {
		_, err := parse("s.txt", text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	for _, out := range []string{"a\n----\n----\n", "a\n----\n"} {
		if representable(out) == nil {
			t.Errorf("%q passed as an output", out)
		}
	}
}

// FuzzScript: a script that parses prints as a script that parses to the same.
func FuzzScript(f *testing.F) {
	text, err := os.ReadFile("testdata/example.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("c\n----\n----\n----\nx\n----\n----\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parse("a", text)
		if err != nil {
			return
		}
		for _, b := range a.blocks {
			if representable(b.want) != nil {
				return
			}
		}
		again, err := parse("a", a.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, a.String())
		}
		if len(a.blocks) != len(again.blocks) {
			t.Fatalf("%d blocks became %d", len(a.blocks), len(again.blocks))
		}
		for i, b := range again.blocks {
			// Positions move when an output takes its plain form.
			b.cmd.Pos = a.blocks[i].cmd.Pos
			if d := cmp.Diff(a.blocks[i].cmd, b.cmd); d != "" {
				t.Fatal(d)
			}
			if a.blocks[i].want != b.want || a.blocks[i].lead != b.lead {
				t.Fatalf("block %d: %+v became %+v", i, a.blocks[i], b)
			}
		}
	})
}
