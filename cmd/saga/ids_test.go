package main

import (
	"errors"
	"fmt"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/sample"
)

// TestInIDs: an error that names an edge by its number names its ends by their ids, and is still the error that it was.
func TestInIDs(t *testing.T) {
	d := &dataset.Data{Edges: &chunk.Edges{V: 2, Src: []uint32{0, 1}, Dst: []uint32{1, 0}}, Vertices: dataset.Naming{Names: []string{"ada", "bo"}}}
	is := &sample.EdgeError{Edge: 1, Has: "weight -2"}
	err := inIDs(d, fmt.Errorf("line 3: %w", is))
	var found *sample.EdgeError
	if err.Error() != "line 3: the edge from bo to ada has weight -2" || !errors.As(err, &found) || found != is {
		t.Errorf("%v, which is %v", err, found)
	}
	other := errors.New("edge 1 has other faults")
	if got := inIDs(d, other); got != other {
		t.Errorf("%v", got)
	}
}
