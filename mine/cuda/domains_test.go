package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/internal/draw"
	"sagann/mine/domain"
	"sagann/mine/rows"
)

// labelled is a random graph with labels of vertices, some of them without, and of edges.
func labelled(t testing.TB, d *rand.Rand, vertices, edges, labels, kinds int) (*rows.Rows, []int32) {
	t.Helper()
	e := &chunk.Edges{V: vertices}
	typed := map[[2]uint32]int32{}
	for range edges {
		a, b := uint32(d.IntN(vertices)), uint32(d.IntN(vertices)*d.IntN(vertices)/vertices) // some vertices have many neighbours
		if a != b {
			e.Src, e.Dst = append(e.Src, a, b), append(e.Dst, b, a)
		}
	}
	r, _, err := rows.FromEdges(e)
	if err != nil {
		t.Fatal(err)
	}
	for range vertices {
		r.Label = append(r.Label, int32(d.IntN(labels+1))-int32(d.IntN(8)/7))
	}
	if kinds == 0 {
		return r, nil
	}
	of := make([]int32, len(r.Col))
	for v := range uint32(vertices) {
		for at := r.Off[v]; at < r.Off[v+1]; at++ {
			key := [2]uint32{min(v, r.Col[at]), max(v, r.Col[at])}
			if _, ok := typed[key]; !ok {
				typed[key] = int32(d.IntN(kinds))
			}
			of[at] = typed[key]
		}
	}
	return r, of
}

// found is what a search finds, as text.
func found(ctx context.Context, g *domain.Graph, q domain.Question) (string, error) {
	text := ""
	err := g.Mine(ctx, q, func(level []domain.Found) error {
		for _, f := range level {
			text += fmt.Sprint(f.Pattern, " ", f.Support)
			for _, s := range f.Domains {
				text += fmt.Sprint(" ", slices.Collect(s.All()))
			}
			text += "\n"
		}
		return nil
	})
	return text, err
}

// TestDomains compares the domains that emulated GPUs find with those of the CPU.
func TestDomains(t *testing.T) {
	cases := 6
	switch {
	case draw.Soak():
		cases = 40
	case testing.Short():
		cases = 4 // each kind once
	}
	compareDomains(t, []device.GPU{cudatest.Open(t, 0, 1<<20), cudatest.Open(t, 1, 1<<20)}, cases, 120, 200<<10)
}

// TestDomainsOnGPU compares those that a GPU finds.
func TestDomainsOnGPU(t *testing.T) {
	gpu := openGPU(t, 2<<30)
	compareDomains(t, []device.GPU{gpu}, 12, 120, 200<<10)
	compareDomains(t, []device.GPU{gpu}, 8, 20000, 64<<20)
}

// TestLongSearches compares domains where searches fail after many steps: odd cycles in graphs with hardly an odd cycle, of which each lane of a
// warp then takes a part.
func TestLongSearches(t *testing.T) {
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	e := &chunk.Edges{V: 60}
	for a := range uint32(30) {
		for b := uint32(30); b < 60; b++ {
			if d.IntN(3) > 0 {
				e.Src, e.Dst = append(e.Src, a, b), append(e.Dst, b, a)
			}
		}
	}
	e.Src, e.Dst = append(e.Src, 0, 1), append(e.Dst, 1, 0) // the triangles
	longSearches(t, e, nil, 4)
}

// TestSquares compares the domains of patterns with cycles of four in a graph with few of them: the points and lines of a projective plane, of which any
// two have one line or point in common, and some more edges. Several vertices share each mark, and nearly all
// searches are long.
func TestSquares(t *testing.T) {
	const order = 5
	var points [][3]int
	for a := range order {
		for b := range order {
			points = append(points, [3]int{1, a, b})
		}
		points = append(points, [3]int{0, 1, a})
	}
	points = append(points, [3]int{0, 0, 1})
	e := &chunk.Edges{V: 2 * len(points)}
	add := func(a, b int) {
		e.Src, e.Dst = append(e.Src, uint32(a), uint32(b)), append(e.Dst, uint32(b), uint32(a))
	}
	for i, p := range points {
		for j, q := range points {
			if (p[0]*q[0]+p[1]*q[1]+p[2]*q[2])%order == 0 {
				add(i, len(points)+j)
			}
		}
	}
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	for range 3 {
		add(d.IntN(len(points)), len(points)+d.IntN(len(points)))
	}
	var two []int32
	for range e.V {
		two = append(two, int32(d.IntN(2)))
	}
	defer func(marks, alone int) { searchMarks, searchAlone = marks, alone }(searchMarks, searchAlone)
	searchMarks, searchAlone = 32, 4
	longSearches(t, e, nil, 4)
	longSearches(t, e, two, 5)
}

// longSearches compares the domains that an emulated GPU finds in a graph with those of the CPU.
func longSearches(t *testing.T, e *chunk.Edges, labels []int32, edges int) {
	t.Helper()
	r, _, err := rows.FromEdges(e)
	if err != nil {
		t.Fatal(err)
	}
	r.Label = labels
	ctx := context.Background()
	g, err := domain.New(ctx, r, nil, 1, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	q := domain.Question{Least: 1, Vertices: edges, Edges: edges, Workers: 1, Domains: true}
	want, err := found(ctx, g, q)
	if err != nil {
		t.Fatal(err)
	}
	_, room := DomainsNeed(g, nil, q.Vertices)
	dom, err := NewDomains([]device.GPU{cudatest.Open(t, 0, 1<<20)}, g, nil, 1, ArcLayout{Hot: -1, Dense: true}, min(room, 300<<10))
	if err != nil {
		t.Fatal(err)
	}
	q.Cards = dom.Cards()
	got, err := found(ctx, g, q)
	if err != nil || got != want {
		t.Errorf("%v:\n%.2000s\nwant\n%.2000s", err, got, want)
	}
	if err := dom.Free(); err != nil {
		t.Fatal(err)
	}
}

// compareDomains compares the domains that GPUs find in graphs of up to so many vertices with those of the CPU, with that memory for a
// batch or the smallest.
func compareDomains(t *testing.T, gpus []device.GPU, cases, vertices int, memory int64) {
	t.Helper()
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	ctx := context.Background()
	for i := range cases {
		r, kinds := labelled(t, d, 5+d.IntN(vertices), vertices/6+d.IntN(2*vertices), 1+d.IntN(4), i%3*(i%2))
		least := int64(2+d.IntN(6)) * int64(max(1, vertices/1000))
		q := domain.Question{Least: least, Vertices: 4, Edges: 3 + d.IntN(2), Workers: 2, Domains: true}
		whole := r
		if q.Induced = i%4 == 3; q.Induced {
			q.Edges = 0
		} else {
			whole = nil
		}
		g, err := domain.New(ctx, r, kinds, least, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		want, err := found(ctx, g, q)
		if err != nil {
			t.Fatal(err)
		}
		smallest, most := DomainsNeed(g, whole, q.Vertices)
		l := ArcLayout{Hot: []int64{-1, 0, ArcBytes(g, false) / 2}[d.IntN(3)], Dense: d.IntN(2) > 0}
		room := []int64{smallest, min(most, memory)}[d.IntN(2)]
		dom, err := NewDomains(gpus[:1+i%len(gpus)], g, whole, least, l, max(room, smallest))
		if err != nil {
			t.Fatal(err)
		}
		q.Cards = dom.Cards()
		got, err := found(ctx, g, q)
		if err != nil || got != want {
			t.Errorf("case %d: %d vertices, %d arcs, support %d, %v:\n%.2000s\nwant\n%.2000s", i, r.V(), len(g.Arcs()), least, err, got, want)
		}
		done, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := found(done, g, q); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v after the end", err)
		}
		if err := dom.Free(); err != nil {
			t.Fatal(err)
		}
	}
}
