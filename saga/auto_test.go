package saga_test

import (
	"testing"

	"sagann/internal/draw"
	"sagann/layers"
	"sagann/saga"
)

// TestAuto: with a machine model, planning from statistics picks intervals, slots and
// schedule, and says what it predicts. The largest graph takes long: make soak plans it.
func TestAuto(t *testing.T) {
	shapes := map[string]saga.Shape{
		"reddit_middle": {Vertices: 233e3, Edges: 23.2e6, Features: 602, Classes: 41},
		"reddit_full":   {Vertices: 2.2e6, Edges: 571e6, Features: 300, Classes: 50},
		"enwiki":        {Vertices: 3.2e6, Edges: 222.1e6, Features: 300, Classes: 12},
		"papers100M":    {Vertices: 111e6, Edges: 1.6e9, Features: 128, Classes: 172},
	}
	for name, s := range shapes {
		if name == "papers100M" && !draw.Soak() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m, err := layers.New("ggcn", layers.Options{Features: s.Features, Hidden: 128, Classes: s.Classes, Layers: 2})
			if err != nil {
				t.Fatal(err)
			}
			const mem = 64 << 30
			p, err := saga.Plan(m, s, saga.Config{Machine: "h200", Schedule: "auto", Mem: mem})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if p.PlannedPeak() > mem {
				t.Errorf("%s: peak %d over the budget %d", name, p.PlannedPeak(), int64(mem))
			}
			for _, chunks := range []int{8, 16, 32} {
				fixed, err := saga.Plan(m, s, saga.Config{Machine: "h200", Schedule: "sag", Mem: mem, Chunks: chunks})
				if err == nil && fixed.Predicted().Wall < p.Predicted().Wall {
					t.Errorf("%s: P = %d and sag take %v, the choice of auto (P = %d) %v", name, chunks, fixed.Predicted(), p.Chunks(), p.Predicted())
				}
			}
		})
	}
}
