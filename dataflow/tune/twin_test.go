package tune_test

import (
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
	"sagann/dataflow/tune"
)

// TestTwins: where nothing moves, one of two schedules that take as long goes through the moves, and half of the work is enough; else both do, with all of it.
func TestTwins(t *testing.T) {
	m, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[int64]int{100 << 30: 1, 160 << 20: 2} {
		p := &tune.Problem{Machine: m, Options: plan.Options{Devices: 1}, Packed: []bool{false}, Slices: []int{1}, Saves: []string{"all"}, Work: 1000,
			Program: func(tune.Key) (*tune.Program, error) {
				return &tune.Program{Spec: plantest.Synthetic(3, 64), Budget: budget, Cells: plantest.SyntheticCells(200_000, 4e6)}, nil
			}}
		seen, moves, enough, err := tune.Kinds(p, []string{plan.Sag, plan.Stage}, 750)
		if err != nil || len(seen) != want || moves != (want > 1) || enough == moves {
			t.Errorf("%d bytes: schedules %v, moves %t, enough %t (%v)", budget, seen, moves, enough, err)
		}
	}
}
