package saga_test

import (
	"testing"
	"time"

	"sagann/layers"
	"sagann/saga"
)

// TestAuto: with a machine model, planning from statistics picks intervals, slots and
// schedule, and says what it predicts.
func TestAuto(t *testing.T) {
	shapes := map[string]saga.Shape{
		"reddit_middle": {Vertices: 233e3, Edges: 23.2e6, Features: 602, Classes: 41},
		"reddit_full":   {Vertices: 2.2e6, Edges: 571e6, Features: 300, Classes: 50},
		"enwiki":        {Vertices: 3.2e6, Edges: 222.1e6, Features: 300, Classes: 12},
		"papers100M":    {Vertices: 111e6, Edges: 1.6e9, Features: 128, Classes: 172},
	}
	for name, s := range shapes {
		m, err := layers.New("ggcn", layers.Options{Features: s.Features, Hidden: 128, Classes: s.Classes, Layers: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, mem := range []int64{0, 8 << 30} {
			start := time.Now()
			p, err := saga.Plan(m, s, saga.Config{Machine: "h200", Schedule: "auto", Mem: mem})
			if err != nil {
				t.Logf("%s mem %d: %v", name, mem, err)
				continue
			}
			h, d := p.Moves()
			t.Logf("%s mem %d P=%d: %v; h2d %.1f GB d2h %.1f GB; planned in %v", name, mem, p.Chunks(), p.Predicted(), float64(h)/1e9, float64(d)/1e9, time.Since(start))
		}
	}
}
