package main

import (
	"slices"
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
