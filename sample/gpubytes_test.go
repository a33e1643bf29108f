package sample

import "testing"

// TestGPUBytes: room for the most that batches can have is little beside a graph, so no batch overflows while it is drawn.
func TestGPUBytes(t *testing.T) {
	p, err := Compile(mustGraph(t, randomEdges(20, 60, 4)), Neighbours(15, 10, 5))
	if err != nil {
		t.Fatal(err)
	}
	x := &GPU{p: p}
	if _, err := x.plan(); err != nil {
		t.Fatal(err)
	}
	for _, g := range []struct{ vertices, edges, seeds int }{{2449029, 123718280, 196615}, {111059956, 1615685872, 1200000}} {
		for _, batch := range []int{1024, 8000} {
			table := 8*int64(g.vertices) + 4*int64(g.seeds)
			room := x.fanouts.Bytes(g.vertices, g.edges, batch, g.seeds) - table
			t.Logf("%d vertices, %d edges, batches of %d: %.1f MB", g.vertices, g.edges, batch, float64(room)/1e6)
			if room > 8*int64(g.edges)/10 {
				t.Errorf("batches of %d have %d bytes, a tenth of what %d edges take", batch, room, g.edges)
			}
		}
	}
}
