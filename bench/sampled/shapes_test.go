package sampled

import (
	"testing"
	"time"
)

// TestMostTrain: a program is made of a graph most of whose vertices are trained on, as of Reddit's, and runs of it are timed.
func TestMostTrain(t *testing.T) {
	e := &epochs{Command: &Command{With: settings{Hidden: 16, Batch: 100, Sample: "2,2"}, epochFlags: epochFlags{Epochs: 1}}, model: "gat", of: graphSizes{vertices: 2000, edges: 20_000, features: 8, classes: 4, train: 1300}}
	p, err := e.program(e.graph())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var walls []time.Duration
	if err := e.turns(p, func(n int, x turn) error {
		walls = append(walls, x.wall)
		return nil
	}); err != nil || len(walls) != 2 || walls[0] <= 0 || walls[1] <= 0 {
		t.Errorf("epochs of %v, error %v", walls, err)
	}
}

// TestShapesHaveNoLoops: a GPU that keeps loops takes few of a vertex.
func TestShapesHaveNoLoops(t *testing.T) {
	e := &epochs{of: graphSizes{vertices: 50, edges: 20_000, features: 1, classes: 2, train: 10, named: true}}
	g := e.graph().Edges
	for i := range g.Src {
		if g.Src[i] == g.Dst[i] {
			t.Fatalf("edge %d leads from %d to itself", i, g.Src[i])
		}
	}
}

// TestAblation: every part has its row, for models with self loops and without.
func TestAblation(t *testing.T) {
	e := &epochs{Command: &Command{With: settings{Hidden: 8, Batch: 1000, Sample: "2,2"}, epochFlags: epochFlags{Epochs: 2}}}
	if err := e.ablate([]string{"tiny"}, []string{"gcn", "gin"}, []string{"fuse", "draw", "match", "stream"}); err != nil {
		t.Fatal(err)
	}
	if rows := e.sorted.rows; rows[true].Edges() != rows[false].Edges()+20_000 {
		t.Errorf("%d and %d edges", rows[true].Edges(), rows[false].Edges())
	}
}
