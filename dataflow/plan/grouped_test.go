package plan_test

import (
	"errors"
	"testing"

	"sagann/dataflow/plan"
)

// What is looked for in groups of intervals is no slower than what is there, and needs no more
// host memory than there is.
func TestGrouped(t *testing.T) {
	m, err := plan.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	s := streamSpec()
	rows := &s.Phases[0].Steps[1].Calls[0]
	rows.Operands = append([]plan.Operand{{ID: 0}}, rows.Operands...)
	cells := func(p int) (*plan.Cells, error) { return fullCells(20000, p, int64(200000/p/p), 0), nil }
	o := plan.Options{Schedule: plan.Sag, Quick: true, Budget: 1}
	var small *plan.BudgetError
	if _, err := plan.New(s, cells, o); !errors.As(err, &small) {
		t.Fatal(err)
	}
	for _, share := range []int64{130, 250, 400, 800} {
		o.Budget = small.Smallest * share / 100
		for _, o.HostMem = range []int64{0, 2_600_000, 3_000_000, 3_300_000, 3_400_000, 4_000_000} {
			pl, line, err := plan.Search(s, cells, o, m)
			if err != nil {
				t.Fatal(err)
			}
			other, end, err := plan.Grouped(s, cells, o, m, pl, line)
			if err != nil {
				t.Fatal(err)
			}
			if other.Short() && !pl.Short() || end.Wall > line.Wall {
				t.Errorf("%d %% of the smallest budget, %d bytes of host memory: %d ns, short %v, in groups of %d; before %d ns, short %v", share, o.HostMem, end.Wall, other.Short(), other.Group, line.Wall, pl.Short())
			}
		}
	}
}
