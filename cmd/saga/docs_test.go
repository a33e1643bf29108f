package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sagann/layers"
)

// TestDocsCommands parses every command of saga in the blocks of README.md and docs, those that mpirun starts, too: commands,
// flags and their values must be known.
func TestDocsCommands(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	comment, word := regexp.MustCompile(`\s#.*`), regexp.MustCompile(`"[^"]*"|(?:'[^']*'|\S)+`)
	ofSaga, seen := regexp.MustCompile(`^(?:mpirun .*?)?(?:bin/)?saga (.*)$`), 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range strings.Split(string(text), "```") {
			for line := range strings.Lines(block) {
				m := ofSaga.FindStringSubmatch(strings.TrimSpace(line))
				if m == nil || i%2 == 0 && !strings.HasPrefix(line, "    ") || strings.Contains(m[1], "$") {
					continue
				}
				command := m[1]
				args := word.FindAllString(comment.ReplaceAllString(command, ""), -1)
				for k := range args {
					args[k] = strings.NewReplacer("'", "", `"`, "").Replace(args[k])
				}
				seen++
				if err := parses(args); err != nil && !errors.Is(err, fs.ErrNotExist) { // a run that --config names
					t.Errorf("%s: saga %s: %v", filepath.Base(page), command, err)
				}
			}
		}
	}
	if seen < 60 {
		t.Errorf("%d commands were found", seen)
	}
}

// TestModelsPage: docs/models.md has a row for every model, and README.md lists them all.
func TestModelsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range layers.Names() {
		if !strings.Contains(string(text), "\n| "+name+" |") {
			t.Errorf("no row for %s", name)
		}
	}
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "[Ready-made](docs/models.md) are ")
	list, _, _ = strings.Cut(list, ".")
	listed := regexp.MustCompile(`,\s+|\s+and\s+`).Split(list, -1)
	slices.Sort(listed)
	if !slices.Equal(listed, layers.Names()) {
		t.Errorf("README.md lists %q; there are %q", listed, layers.Names())
	}
}

// parses says what is wrong with a command line. TestGrammar checks that a parser of one command says the same as that of all.
func parses(args []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, help := r.(exited); !help {
				panic(r)
			}
		}
	}()
	_, err = newParser(grammar(args), io.Discard, io.Discard).Parse(args)
	return err
}
