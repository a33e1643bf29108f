package cuda

import (
	"context"
	"maps"
	"testing"

	"sagann/chunk"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// TestWalks compares cycles of four vertices and closed walks of five edges with what the CPU finds: on one and two
// emulated GPUs, with counters of few vertices in shared memory and with those of all, with one
// block and with as many as there may be, with rows in host memory, and with counters of one,
// two and four bytes.
func TestWalks(t *testing.T) {
	widths := walkWidths
	defer func() { walkWidths = widths }()
	for i, spec := range []string{
		"vertices=34,edges=100,kind=rmat,features=1",
		"vertices=150,edges=2000,kind=rmat,features=1,seed=3",
	} {
		if i > 0 && testing.Short() {
			break // seconds
		}
		r := made(t, spec)
		for n := 1; n <= 2; n++ {
			if walkWidths = widths; n == 1 {
				walkWidths = [2]int{4 << i, 8 << i}
			}
			var gpus []device.GPU
			for i := range n {
				gpus = append(gpus, cudatest.Open(t, i, 1<<20))
			}
			compareWalks(t, gpus, r, spec, 16, 16+4*8, 16+4*64)
		}
	}
}

// TestWalksOnGPU is the same on a GPU: on graphs whose blocks meet many walks, and on one
// where more end at a vertex than two bytes hold, as two neighbours share more vertices.
func TestWalksOnGPU(t *testing.T) {
	gpu := openGPU(t, 1<<30)
	if testing.Short() { // for tools that look at each access
		widths := walkWidths
		defer func() { walkWidths = widths }()
		walkWidths = [2]int{8, 16}
		compareWalks(t, []device.GPU{gpu}, made(t, "vertices=100,edges=800,kind=rmat,features=1"), "few", 16, 16+4*8)
		return
	}
	for _, spec := range []string{
		"vertices=34,edges=100,kind=rmat,features=1",
		"vertices=20000,edges=200000,kind=rmat,features=1,seed=3",
		"vertices=4000,edges=400000,kind=rmat,features=1,seed=4",
	} {
		compareWalks(t, []device.GPU{gpu}, made(t, spec), spec, 16, 16+4*8, 16+4*1500)
	}
	const n = 66_000
	e := &chunk.Edges{V: n + 2}
	both := func(u, v uint32) { e.Src, e.Dst = append(e.Src, u, v), append(e.Dst, v, u) }
	both(n, n+1)
	for v := range uint32(n) {
		both(v, n)
		both(v, n+1)
	}
	r, _, err := rows.FromEdges(e)
	if err != nil {
		t.Fatal(err)
	}
	compareWalks(t, []device.GPU{gpu}, r.ByDegree(), "two neighbours", 16, 16+4*1000)
}

// compareWalks counts the walks with each size of shared memory, and with a GPU's own.
func compareWalks(t *testing.T, gpus []device.GPU, r *rows.Rows, what string, shared ...int64) {
	t.Helper()
	f := pattern.Formula{{Times: 1, Of: pattern.FourCycles}, {Times: 1, Of: pattern.FiveWalks}}
	want, err := (&run.Run{Rows: r, Workers: 2}).Sums(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []Layout{{Part: Whole, Hot: -1}, {Part: Whole, Hot: 2 * int64(len(r.Col))}} {
		g, err := Upload(gpus, r, l)
		if err != nil {
			t.Fatal(err)
		}
		for _, bytes := range append(shared, g.cards[0].chip.Shared) {
			for _, c := range g.cards {
				c.chip.Shared = bytes
			}
			least, most := walksNeed(r, g.cards[0].chip)
			for _, room := range []int64{least, most} {
				got, err := g.Sums(context.Background(), f, room, nil)
				if err != nil || !maps.Equal(got, want) {
					t.Errorf("%s on %d GPUs, %+v, %d bytes shared, %d to work in: %v, %v; want %v", what, len(gpus), l, bytes, room, got, err, want)
				}
			}
		}
		if err := g.Free(); err != nil {
			t.Error(err)
		}
	}
}
