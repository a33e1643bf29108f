package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestGrammar: a parser of one command prints the help, and gives the errors, that one of all commands does.
func TestGrammar(t *testing.T) {
	printed := func(grammar any, args []string) (text string) {
		var out bytes.Buffer
		defer func() {
			if _, ok := recover().(exited); ok {
				text = out.String()
			}
		}()
		_, err := newParser(grammar, &out, &out).Parse(args)
		return out.String() + err.Error()
	}
	commandLines := [][]string{{"--help"}, {}, {"trian"}, {"train", "--epoch", "3"}, {"data"}, {"data", "info"}, {"--version"}, {"train", "--version"}, {"version", "x"}, {"--epochs", "3", "train"}}
	eachCommand(newParser(&commands{}, io.Discard, io.Discard).Model.Node, "", func(path string, _ *kong.Node) {
		commandLines = append(commandLines, append(strings.Fields(path), "--help"))
	})
	alone := 0
	for _, args := range commandLines {
		one := grammar(args)
		if _, all := one.(*commands); !all {
			alone++
		}
		if got, want := printed(one, args), printed(&commands{}, args); got != want {
			t.Errorf("saga %s:\n%s\nby all commands:\n%s", strings.Join(args, " "), got, want)
		}
	}
	if alone < 20 {
		t.Errorf("%d of %d command lines by one command", alone, len(commandLines))
	}
}
