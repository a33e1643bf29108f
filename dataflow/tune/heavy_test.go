package tune_test

import (
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
	"sagann/dataflow/tune"
)

// Seeds of programs of many values are tried with the names that mostly help together, those of other programs are not.
func TestHeavySeeds(t *testing.T) {
	m, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	for layers, want := range map[int]string{3: "", 60: "late:a,late:b"} {
		first := ""
		_, _, _, err := tune.Search(&tune.Problem{Machine: m, Options: plan.Options{Schedule: plan.Sag, Devices: 1}, Packed: []bool{false}, Slices: []int{1}, Saves: []string{"all"}, Mix: true, Work: 1,
			Program: func(k tune.Key) (*tune.Program, error) {
				n := layers
				if len(k.Stored()) == 2 { // it is the faster program
					n = layers - 1
				}
				return &tune.Program{Spec: plantest.Synthetic(n, 64), Budget: 160 << 20, Cells: plantest.SyntheticCells(200_000, 4e6), Store: []string{"late:a", "late:b"}, Arriving: []string{"late:a", "late:b"}}, nil
			},
			Log: func(move string, e *tune.Eval) {
				if move == "seed" {
					first = e.Store
				}
			}})
		if err != nil || first != want {
			t.Errorf("%d layers: the best seed has %q, want %q (%v)", layers, first, want, err)
		}
	}
}
