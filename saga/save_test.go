package saga

import "testing"

// TestAlikePlans: plans that came out alike are improved once, others are not mistaken for them.
func TestAlikePlans(t *testing.T) {
	saving := func(mem int64) *saved {
		p, err := Plan(viewModel(300, 50), Shape{Vertices: 200_000, Edges: 4e6, Features: 300, Classes: 50},
			Config{Machine: "h200", Mem: mem, Save: SaveNone})
		if err != nil {
			t.Fatal(err)
		}
		return &saved{low: p.train.low, plan: p.train.plan, line: p.predicted}
	}
	x, y, z := saving(800<<20), saving(800<<20), saving(810<<20)
	if !x.like(x) || x.plan == y.plan || !x.like(y) {
		t.Error("equal plans are not alike")
	}
	if x.like(z) {
		t.Error("plans for different budgets are alike")
	}
}
