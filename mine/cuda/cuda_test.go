package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/device/nvrtc"
	"sagann/internal/draw"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// TestCompiles translates all kernels, where the compiler is there.
func TestCompiles(t *testing.T) {
	sources := []string{walks(4), walks(5), domainsOf(false), domainsOf(true), sorts(), tableOf(0, false, false), tableOf(8, false, true)}
	for _, kinds := range []bool{false, true} {
		sources = append(sources, tableOf(2, true, kinds), tableOf(7, true, kinds), tableOf(1, false, kinds))
	}
	for _, part := range []Part{Above, Whole} {
		sources = append(sources, atEdges(part), edgeSums(part), edgeAdd)
		for k := 3; k <= 8; k++ {
			sources = append(sources, cliques(k, part))
		}
	}
	for _, p := range plans(t) {
		sources = append(sources, nest(p, totals))
		if l, err := plan.Listing(p.Pattern, nil); err != nil {
			t.Fatal(err)
		} else {
			sources = append(sources, nest(l, pooled), nest(l, tallied), nest(l, placed))
		}
	}
	for _, m := range mapsPlans(t, plan.Degrees{Vertices: 1e4, Entries: 1e6, Squares: 1e8, Two: 3e7, Three: 3e9, Most: 1000}) {
		sources = append(sources, mapsOf(m))
	}
	sources = append(sources, growTexts()...)
	for i, s := range sources {
		if n := strings.Count(s, "{") - strings.Count(s, "}"); n != 0 || strings.Contains(s, "%!") {
			t.Errorf("kernel %d: %d braces too many\n%s", i, n, s)
		}
		err := nvrtc.Check(s, 75)
		if errors.Is(err, nvrtc.ErrMissing) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatalf("kernel %d: %v\n%s", i, err, s)
		}
	}
}

// plans are of many patterns, with windows, differences, labels and conditions.
func plans(t testing.TB) (out []*plan.Plan) {
	t.Helper()
	for _, text := range []string{"edge", "wedge", "triangle", "path4", "star4", "cycle4", "diamond", "house", "cycle5", "clique5",
		"0:1-1:2-2:1", "0-1-2-3-0 0~2", "0-1-2-0-3-1-4-2"} {
		p := pattern.Must(text)
		var orders [][]int
		permuted(p.Vertices(), func(o []int) { orders = append(orders, slices.Clone(o)) })
		made := 0
		for i := range orders {
			o := orders[(i*7)%len(orders)]
			for _, opt := range []plan.Options{{}, {Descending: true}} {
				if pl, err := plan.New(p, nil, o, opt); err == nil && made < 4 {
					out = append(out, pl)
					made++
				}
			}
		}
	}
	return out
}

func permuted(n int, f func([]int)) {
	var next func(o []int)
	next = func(o []int) {
		if len(o) == n {
			f(o)
			return
		}
		for v := range n {
			if !slices.Contains(o, v) {
				next(append(slices.Clone(o), v))
			}
		}
	}
	next(nil)
}

// made is an R-MAT graph in order of degree.
func made(t testing.TB, spec string) *rows.Rows { return byUser(t, spec).ByDegree() }

// byUser is an R-MAT graph in the user's numbers.
func byUser(t testing.TB, spec string) *rows.Rows {
	t.Helper()
	if spec == "complete" { // on 1400 vertices
		e := &chunk.Edges{V: 1400}
		for i := range uint32(1400) {
			for j := range i {
				e.Src, e.Dst = append(e.Src, i, j), append(e.Dst, j, i)
			}
		}
		r, _, err := rows.FromEdges(e)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	s, err := dataset.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := rows.FromEdges(d.Edges.Symmetric())
	if err != nil {
		t.Fatal(err)
	}
	r.Label = d.Labels
	return r
}

// openGPU opens the first GPU, or skips.
func openGPU(t testing.TB, bytes int64) device.GPU {
	t.Helper()
	d, err := device.OpenCUDA(0, bytes)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.(device.GPU)
}

// TestEmulated compares what the kernels count on emulated GPUs with what the CPU does.
func TestEmulated(t *testing.T) {
	all := halves
	defer func() { halves = all }()
	ctx := context.Background()
	for _, spec := range []string{
		"vertices=34,edges=100,kind=rmat,features=1",
		"vertices=150,edges=6000,kind=rmat,features=1,seed=3,classes=3",
	} {
		if !draw.Soak() && strings.Contains(spec, "6000") {
			continue
		}
		r := made(t, spec)
		cpu := &run.Run{Rows: r, Workers: 2}
		want5, err := cpu.Cliques(ctx, 5)
		if err != nil {
			t.Fatal(err)
		}
		for i, layout := range []Layout{{Part: Above, Hot: -1, Hubs: false}, {Part: Whole, Hot: -1, Hubs: true}, {Part: Above, Hot: 4 * int64(len(r.Col)) / 8, Hubs: false}, {Part: Whole, Hot: 0, Hubs: false}} {
			if i > 1 && testing.Short() { // under the race detector: one GPU and two; kernels are not looked at
				continue
			}
			for gpus := 1 + i%2; gpus <= 1+i%2; gpus++ {
				t.Run(fmt.Sprintf("%d edges, %d GPUs, %+v", r.Edges(), gpus, layout), func(t *testing.T) {
					var list []device.GPU
					for i := range gpus {
						list = append(list, cudatest.Open(t, i, 1<<20))
					}
					halves = all
					if i > 0 { // rows have whole words, too
						halves = r.V() / 4
					}
					g, err := Upload(list, r, layout)
					if err != nil {
						t.Fatal(err)
					}
					for k := 3; k <= 8; k++ {
						want, err := cpu.Cliques(ctx, k)
						if err != nil {
							t.Fatal(err)
						}
						if got, err := g.Cliques(ctx, k, nil); err != nil || got != want {
							t.Errorf("%v cliques of %d vertices, %v; want %v", got, k, err, want)
						}
					}
					g.cards[0].chip.Shared = 4 << 10 // matrices of several dozen rows do not fit
					if got, err := g.Cliques(ctx, 5, nil); err != nil || got != want5 {
						t.Errorf("%v cliques of 5 vertices, %v; want %v", got, err, want5)
					}
					compareSums(t, g, layout.Part == Whole)
					if layout.Part == Whole {
						compareMaps(t, g)
						compareLoops(t, g)
					}
					if err := g.Free(); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// TestListings on emulated GPUs.
func TestListings(t *testing.T) {
	r := byUser(t, "vertices=60,edges=250,kind=rmat,features=1")
	for n := 1; n <= 2; n++ {
		if n == 1 && testing.Short() { // under the race detector: two GPUs do what one does
			continue
		}
		var gpus []device.GPU
		for i := range n {
			gpus = append(gpus, cudatest.Open(t, i, 1<<20))
		}
		compareListing(t, gpus, r, "edge", "0-1-2-0-3-1", "0-1-2-3-0 0~2", "path4")
	}
}

// TestListingLaunches: a pool that is much smaller than the listing is filled about as
// often as it takes to hold all rows. Launches of too many tasks would do most of them
// again and again, as their blocks are taken by those behind them.
func TestListingLaunches(t *testing.T) {
	defer func(n int) { poolBlocks = n }(poolBlocks)
	poolBlocks = 40 // for 32 warps, which need two for each task
	r := byUser(t, "vertices=100,edges=20000,kind=rmat,features=1")
	gpu := cudatest.Open(t, 0, 4<<20)
	g, err := Upload([]device.GPU{gpu}, r, Layout{Part: Whole, Hot: -1, Hubs: false})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Listing(pattern.Must("wedge"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, most := ListNeed(p, r, g.cards[0].chip)
	rows, before := 0, gpu.Counters().Launches
	if err := g.List(context.Background(), p, true, most, nil, func([]uint32) bool { rows++; return true }); err != nil {
		t.Fatal(err)
	}
	launches, fills := gpu.Counters().Launches-before, 12*rows/(poolBlocks*blockBytes)+1
	t.Logf("%d rows, %d launches, at least %d", rows, launches, fills)
	if launches > int64(6*fills+12) {
		t.Errorf("%d launches for %d rows, which fill the pool %d times", launches, rows, fills)
	}
	if err := g.Free(); err != nil {
		t.Error(err)
	}
}

// compareSums compares all quantities; cycles need whole rows.
func compareSums(t *testing.T, g *Graph, cycles bool) {
	t.Helper()
	cpu := &run.Run{Rows: g.rows, Workers: 2}
	for _, qs := range [][]pattern.Quantity{
		{pattern.EdgePaths},
		{pattern.EdgePairs, pattern.Tails, pattern.Triangles, pattern.EdgePaths},
		{pattern.FourCliques, pattern.Stars + 3, pattern.Triangles},
		{pattern.FourCycles},
		{pattern.FiveWalks},
		{pattern.FiveWalks, pattern.Tails, pattern.Triangles, pattern.FourCycles},
	} {
		var f pattern.Formula
		for _, q := range qs {
			f = append(f, pattern.Term{Times: 1, Of: q})
		}
		if !cycles && PartOf(f) == Whole {
			continue
		}
		want, err := cpu.Sums(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		_, room := SumsNeed(g.rows, f, g.cards[0].chip, len(g.cards))
		got, err := g.Sums(context.Background(), f, room, nil)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("sums %v, %v; want %v", got, err, want)
		}
	}
}

// mapsPlans are of several trees, of shared vectors, and of triangles at edges.
func mapsPlans(t testing.TB, d plan.Degrees) (out []*plan.Maps) {
	t.Helper()
	for _, text := range []string{"triangle", "house", "0-1-2-3-0 0-4-3 1-5-2", "cycle5", "cycle6", "0-1-2-0 2-3-4-2", "0-1-2-3-0 3-4-5-3 0-6-1 6-7",
		"0-1-2-3-4-0 4-5-6-7", "0-2-1-3-0 0-4-1-5-0", "0-1-2-0 0-3-1 0-4-5-0 5-6"} {
		m, _ := plan.NewMaps(pattern.Must(text), d)
		if m == nil {
			t.Fatalf("no maps of %s", text)
		}
		out = append(out, m)
	}
	return out
}

// compareMaps compares numbers of maps.
func compareMaps(t *testing.T, g *Graph) {
	t.Helper()
	ctx, cpu := context.Background(), &run.Run{Rows: g.rows, Workers: 2}
	closed, err := cpu.Closed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range mapsPlans(t, run.Degrees(g.rows)) {
		want, err := cpu.Maps(ctx, m, closed)
		if err != nil {
			t.Fatal(err)
		}
		least, most := MapsNeed(m, g.rows, g.cards[0].chip)
		if i%2 == 0 {
			most = least
		}
		if got, err := g.Maps(ctx, m, closed, cpu.SharedMaps(m, closed), most, nil); err != nil || got != want {
			t.Errorf("%v maps of %s, %v; want %v", got, m.Pattern, err, want)
		}
	}
}

// compareLoops compares what plans count.
func compareLoops(t *testing.T, g *Graph) {
	t.Helper()
	cpu := &run.Run{Rows: g.rows, Workers: 2}
	for i, p := range plans(t) {
		if g.rows.Edges() > 1000 && p.Pattern.Vertices() > 4 || i%7 != 0 || g.rows.Label == nil && p.Pattern.Labelled() {
			continue
		}
		want, err := cpu.Count(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		_, room := NestNeed(p, g.rows, g.cards[0].chip)
		if got, err := g.Count(context.Background(), p, room, nil); err != nil || got != want {
			t.Errorf("%v of %s, %v; want %v\n%s", got, p.Pattern, err, want, p)
		}
	}
}

// TestOnGPU compares a GPU's counts with the CPU's: on a small graph, one with roots of
// several hundred neighbours above, and one whose matrices do not fit into shared memory.
func TestOnGPU(t *testing.T) {
	gpu := openGPU(t, 4<<30)
	ctx := context.Background()
	for _, spec := range []string{
		"vertices=34,edges=100,kind=rmat,features=1",
		"vertices=2000,edges=30000,kind=rmat,features=1,seed=2,classes=3",
		"vertices=4000,edges=900000,kind=rmat,features=1,seed=3",
		"complete",
	} {
		if testing.Short() && !strings.Contains(spec, "edges=100,") {
			continue
		}
		start := time.Now()
		r := made(t, spec)
		wants := map[int]run.Total{}
		for k := 3; k <= 8 && (k <= 5 || r.MaxAbove < 40) && (k <= 4 || r.MaxAbove < 200); k++ {
			var err error
			if spec == "complete" {
				wants[k], err = run.FromBig(new(big.Int).Binomial(int64(r.V()), int64(k)))
			} else {
				wants[k], err = (&run.Run{Rows: r, Workers: 16}).Cliques(ctx, k)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, layout := range []Layout{{Part: Above, Hot: -1, Hubs: false}, {Part: Whole, Hot: -1, Hubs: true}, {Part: Above, Hot: 4 * int64(len(r.Col)) / 8, Hubs: false}, {Part: Whole, Hot: 0, Hubs: false}} {
			g, err := Upload([]device.GPU{gpu}, r, layout)
			if err != nil {
				t.Fatal(err)
			}
			for k, want := range wants {
				if got, err := g.Cliques(ctx, k, nil); err != nil || got != want {
					t.Errorf("%s, %+v, at most %d above: %v cliques of %d vertices, %v; want %v", spec, layout, r.MaxAbove, got, k, err, want)
				}
			}
			if r.MaxAbove < 1000 {
				compareSums(t, g, layout.Part == Whole)
			}
			if layout.Part == Whole && r.MaxAbove < 200 {
				compareMaps(t, g)
				compareLoops(t, g)
			}
			if err := g.Free(); err != nil {
				t.Error(err)
			}
		}
		switch {
		case r.MaxAbove < 40:
			compareListing(t, []device.GPU{gpu}, byUser(t, spec), "edge", "path4", "0-1-2-0-3-1")
		case r.MaxAbove < 200:
			compareListing(t, []device.GPU{gpu}, byUser(t, spec), "triangle", "0:1-1-2:2-0")
		}
		t.Logf("%s: %v", spec, time.Since(start))
	}
}

// compareListing compares what is listed, with as few blocks as can be and with many.
func compareListing(t *testing.T, gpus []device.GPU, r *rows.Rows, texts ...string) {
	t.Helper()
	g, err := Upload(gpus, r, Layout{Part: Whole, Hot: -1, Hubs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := g.Free(); err != nil {
			t.Error(err)
		}
	}()
	for _, text := range texts {
		p, err := plan.Listing(pattern.Must(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []uint32
		if err := (&run.Run{Rows: r, Workers: 2}).List(context.Background(), p, func(row []uint32) bool {
			want = append(want, row...)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		least, most := ListNeed(p, r, g.cards[0].chip)
		for i, room := range []int64{least, most, least, most} {
			var got []uint32
			err := g.List(context.Background(), p, i < 2, room, nil, func(row []uint32) bool {
				got = append(got, row...)
				return true
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %d words listed, %d expected, %v", text, len(got), len(want), err)
			}
		}
		n := 0
		err = g.List(context.Background(), p, true, most, nil, func(row []uint32) bool {
			n++
			return n < 3
		})
		if err != nil || n > 3 {
			t.Errorf("%s: a listing broken off after 3 rows has %d, %v", text, n, err)
		}
	}
}
