package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/internal/cli"
)

// TestCommands: every command is found by its name.
func TestCommands(t *testing.T) {
	parser, err := parserOf(new(commands))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range parser.Model.Children {
		names = append(names, c.Name)
	}
	for _, want := range []string{"ablation", "mine", "counting", "sampled", "quality"} {
		if !slices.Contains(names, want) {
			t.Errorf("no command %s among %v", want, names)
		}
	}
}

// TestNamedDevices: no command takes devices that compute nothing.
func TestNamedDevices(t *testing.T) {
	for spec, ok := range map[string]bool{"cpu": true, "cpu:2": true, "cuda:0,1": true, "null": false, "nosuch": false, "cpu:x": false} {
		for _, args := range [][]string{{"offload"}, {"sampled"}, {"counting"}, {"accuracy"}, {"links", "--data", "x"}, {"epoch"}, {"embed"}} {
			parser, err := parserOf(new(commands))
			if err != nil {
				t.Fatal(err)
			}
			k, err := parser.Parse(append(args, "--device", spec))
			if err != nil {
				t.Fatal(err)
			}
			if err := cli.NamedDevices(k); (err == nil) != ok {
				t.Errorf("%s --device %s: %v", args[0], spec, err)
			}
		}
	}
}

// TestUnknownNames: names that a command of this package does not know are refused, and not passed over.
func TestUnknownNames(t *testing.T) {
	recipes := filepath.Join(t.TempDir(), "recipes.json")
	if err := os.WriteFile(recipes, []byte(`{"Entries": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"links --data x --features degree,nosuch":                                  "embedding or degree",
		"links --data x --every 0":                                                 "at least 1",
		"links --data x --epochs 3":                                                "at least one look",
		"links --data x --beside 0":                                                "at least 1",
		"accuracy --only nosuch --recipes " + recipes:                              "no such data set",
		"accuracy --jobs 0 --recipes " + recipes:                                   "at least one job",
		"sampled --ablation tiny --parts nosuch":                                   "fuse, draw, in-place",
		"sampled --sample 2,,2 --data vertices=100,edges=300,features=2,classes=2": `"" is not a whole number`,
		"counting --engines triangle --engine nosuch":                              "not --engine nosuch",
		"counting --device cuda --jobs csx":                                        "letters of c, s",
	} {
		parser, err := parserOf(new(commands))
		if err != nil {
			t.Fatal(err)
		}
		k, err := parser.Parse(strings.Fields(args))
		if err != nil {
			t.Fatal(err)
		}
		a := &cli.App{Stdout: io.Discard, Stderr: os.Stderr, Log: slog.New(slog.DiscardHandler), Given: map[string]bool{}}
		if err := k.Run(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("bench %s: %v", args, err)
		}
	}
}
