package tables

import (
	"runtime"
	"testing"

	"sagann/internal/cli"
	"sagann/internal/draw"
)

// TestAutoAgainstAll: what auto chooses is within 5 % of the best of all numbers of
// intervals and schedules, on a graph, within budgets that do not hold everything; make soak has four.
// saga bench auto does the same for all models, machines and budgets; bench/quality takes the time of planning.
func TestAutoAgainstAll(t *testing.T) {
	if testing.Short() {
		t.Skip("an exhaustive search takes some seconds")
	}
	for graph, shape := range autoShapes {
		if !draw.Soak() && graph != "reddit_middle" {
			continue
		}
		m, err := (&benchOutput{Hidden: 128, Layers: 2}).model("gcn", shape)
		if err != nil {
			t.Fatal(err)
		}
		c := &autoCase{m, shape, "h200", ""}
		budgets, err := c.budgets(3)
		if err != nil {
			t.Fatal(err)
		}
		best, err := c.compare(budgets[1], autoLadder(32, 15))
		if err != nil {
			t.Fatal(err)
		}
		if best.tried < 3 {
			t.Errorf("%s: only %d numbers of intervals fit; nothing was compared", graph, best.tried)
		}
		if best.gap() > autoGap {
			t.Errorf("%s, %s: auto takes %v s with P = %d, %d slots, %s; %v s with P = %d, %d slots, %s", graph, cli.SizeText(best.mem),
				best.auto.seconds(), best.auto.plan.Cells.P, best.auto.plan.Slots, best.auto.plan.Schedule,
				best.best.seconds(), best.best.plan.Cells.P, best.best.plan.Slots, best.best.plan.Schedule)
		}
	}
	var mem runtime.MemStats
	if runtime.ReadMemStats(&mem); mem.Sys > 1e9 {
		t.Errorf("planning took %d bytes from the system", mem.Sys)
	}
}
