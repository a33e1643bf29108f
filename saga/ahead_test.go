package saga_test

import (
	"runtime"
	"slices"
	"testing"

	"sagann/layers"
	"sagann/saga"
)

// TestPlanOnAnyProcessors: plans that are made ahead, side by side, change no choice.
func TestPlanOnAnyProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	m, err := layers.New("commnet", layers.Options{Features: 300, Hidden: 128, Classes: 50, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	var first *saga.Program
	for _, n := range []int{1, 3, 16} {
		runtime.GOMAXPROCS(n)
		p, err := saga.Plan(m, saga.Shape{Vertices: 1e6, Edges: 100e6, Features: 300, Classes: 50},
			saga.Config{Mem: 3 << 30, Machine: "h200", Schedule: "auto", Save: saga.SaveNone, Outcome: saga.Outcome{Slices: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = p
			continue
		}
		if a, b := first.TrainPlan(), p.TrainPlan(); a.Schedule != b.Schedule || !slices.Equal(a.Tasks, b.Tasks) || !slices.Equal(a.Args, b.Args) {
			t.Errorf("%d processors: %d tasks in %d intervals with schedule %s, want %d, %d, %s",
				n, len(b.Tasks), b.Cells.P, b.Schedule, len(a.Tasks), a.Cells.P, a.Schedule)
		}
		if a, b := first.Predicted().Wall, p.Predicted().Wall; a != b {
			t.Errorf("%d processors: %d ns are predicted, want %d", n, b, a)
		}
	}
}
