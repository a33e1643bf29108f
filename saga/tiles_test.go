package saga_test

import (
	"slices"
	"testing"

	"sagann/saga"
)

// TestTilesGoOn: a program on a GPU is simulated with the tiles that its kernels have, they find
// their memory, and a run that goes on has the same, in another budget, too, as sums depend on them.
func TestTilesGoOn(t *testing.T) {
	differ := 0
	for _, name := range []string{"sage", "commnet"} {
		m := twoLayers(t, name, 300, 128, 50)
		s := saga.Shape{Vertices: 200_000, Edges: 4e6, Features: 300, Classes: 50}
		c := saga.Config{Machine: "h200", Device: "cuda", Mem: 800 << 20}
		p, err := saga.Plan(m, s, c)
		if err != nil {
			t.Fatal(err)
		}
		checkTiles(t, name, p)
		c.Save, c.Chunks, c.Schedule, c.Outcome = p.Saved(), p.Summary().Chunks, p.Summary().Schedule, p.Outcome()
		for _, mem := range []int64{c.Mem, 2 * c.Mem} {
			c.Mem, c.Outcome.Tiles = mem, nil
			q, err := saga.Plan(m, s, c)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Tiles(), q.Tiles()) {
				differ++
			}
			c.Outcome.Tiles = p.Tiles()
			if q, err = saga.Plan(m, s, c); err != nil {
				t.Fatal(err)
			}
			checkTiles(t, name, q)
			if !slices.Equal(p.Tiles(), q.Tiles()) {
				t.Errorf("%s goes on in %d bytes with tiles %v, began with %v", name, mem, q.Tiles(), p.Tiles())
			}
		}
	}
	if differ == 0 {
		t.Error("nothing to keep: tiles are the same without")
	}
}

func checkTiles(t *testing.T, name string, p *saga.Program) {
	t.Helper()
	if lack := p.KernelLacks(); lack != "" {
		t.Errorf("%s: %s", name, lack)
	}
	p.PlannedTiles(func(planned, tile int) {
		if planned != tile || tile < 1 {
			t.Errorf("%s: a kernel of tiles of %d rows is planned with %d", name, tile, planned)
		}
	})
}
