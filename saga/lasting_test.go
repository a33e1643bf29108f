package saga_test

import (
	"testing"

	"sagann/layers"
	"sagann/saga"
)

// Within half of what all takes, copies hide behind kernels: what the last sweep has read of the
// features is there when the next epoch begins.
func TestLasting(t *testing.T) {
	shape := saga.Shape{Vertices: 2200000, Edges: 571e6, Features: 300, Classes: 50}
	for _, name := range []string{"gcn", "commnet"} {
		var all int64
		for _, mem := range []int64{0, 5430 << 20} {
			m, err := layers.New(name, layers.Options{Features: shape.Features, Hidden: 128, Classes: shape.Classes, Layers: 2})
			if err != nil {
				t.Fatal(err)
			}
			p, err := saga.Plan(m, shape, saga.Config{Mem: mem, Machine: "h200", Schedule: "auto", Without: []string{"invariant"}})
			if err != nil {
				t.Fatal(err)
			}
			wall := p.Predicted().Wall
			if all == 0 {
				all = wall
				continue
			}
			if 100*wall > 121*all {
				t.Errorf("%s takes %d ns an epoch, %d where all stays", name, wall, all)
			}
			if pl := p.TrainPlan(); pl.Constant() >= pl.Once {
				t.Errorf("%s: nothing stays from one epoch to the next only", name)
			}
		}
	}
}
