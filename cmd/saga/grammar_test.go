package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestNamedDevices: a name that is of no devices, or of devices that compute nothing, is refused by every command, before it reads or
// writes anything.
func TestNamedDevices(t *testing.T) {
	t.Chdir(t.TempDir())
	asked := 0
	allCommands(func(command string, flags []*kong.Flag) {
		if !slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == "device" }) {
			return
		}
		for _, bad := range []string{"null", "null:2", "nosuch", "CPU", " cpu", "cpu:", "cpu:x", "cpu,cpu", "cuda:1,", "0"} {
			asked++
			with := slices.DeleteFunc(strings.Fields(flagBase[command]+" "+flagNeeds[command]), func(arg string) bool { return strings.HasPrefix(arg, "--device") })
			errs, err := os.Create("errors")
			if err != nil {
				t.Fatal(err)
			}
			status := runHere(append(append(strings.Fields(command), with...), "--device="+bad), errs, errs)
			errs.Close()
			text, err := os.ReadFile("errors")
			if err != nil {
				t.Fatal(err)
			}
			if status != exitUsage || !strings.Contains(string(text), "--device") {
				t.Errorf("saga %s --device=%q: status %d: %s", command, bad, status, text)
			}
		}
	})
	if asked < 150 {
		t.Errorf("%d command lines", asked)
	}
}

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
