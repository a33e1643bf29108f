package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// TestHelpFits: no line of any help is wider than a terminal of 80 columns.
func TestHelpFits(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	list := []string{""}
	allCommands(func(command string, _ []*kong.Flag) { list = append(list, command) })
	for _, command := range append(list, "mine", "bench", "data") {
		path := filepath.Join(t.TempDir(), "help")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if status := run(append(strings.Fields(command), "--help"), f, f); status != exitOK {
			t.Errorf("saga %s --help: status %d", command, status)
		}
		f.Close()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("saga %s --help has a line of %d characters: %s", command, n, line)
			}
		}
	}
}

// TestFold: commands go on behind a backslash, second columns below themselves, and lists break behind commas.
func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"    saga train --data a --model b":  "    saga train \\\n      --data a \\\n      --model b\n",
		"  one  some words that are long":    "  one  some words\n       that are long\n",
		"  a=1111,b=2222,c=3333,d=4444,e=55": "  a=1111,b=2222,\n  c=3333,d=4444,e=55\n",
		"nothingbreaksinsideofthisword":      "nothingbreaksinsideofthisword\n",
	} {
		if got := fold(in, 20); got != want {
			t.Errorf("%q is folded to %q, want %q", in, got, want)
		}
	}
}
