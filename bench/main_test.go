package main

import (
	"slices"
	"testing"
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
