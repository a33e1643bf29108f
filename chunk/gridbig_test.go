package chunk

import (
	"math/rand/v2"
	"testing"
	"time"

	"sagann/internal/draw"
)

// skewed is a random graph whose degrees fall with the vertex id, as in files
// that list vertices by popularity: the worst case for a grid without Balance.
func skewed(v, e int, seed uint64) *Edges {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &Edges{V: v, Src: make([]uint32, e), Dst: make([]uint32, e)}
	for k := range e {
		a, b := r.Float64(), r.Float64()
		g.Src[k], g.Dst[k] = uint32(a*a*float64(v)), uint32(b*b*b*float64(v))
	}
	return g
}

// sumOf is a checksum of an edge that does not depend on where it stands.
func sumOf(dst, src uint32, rank float32) uint64 {
	x := uint64(dst)<<32 | uint64(src)
	x = (x ^ x>>29) * 0x9e3779b97f4a7c15
	x += uint64(rank) * 0xbf58476d1ce4e5b9
	return x ^ x>>31
}

// TestBuildWide has intervals wider than one radix digit and cells with few
// edges, where the sort takes several passes and rows are listed.
func TestBuildWide(t *testing.T) {
	for _, tc := range []struct{ v, e, p int }{
		{3_000_000, 2_000, 1}, {3_000_000, 2_000, 5}, {200_000, 400_000, 1}, {200_000, 400_000, 3}, {70_000, 300, 16},
	} {
		e := skewed(tc.v, tc.e, 7)
		o := Balance(e, 8)
		g, err := Build(e, o, tc.p, Want{CSC: true, CSR: true, Rank: true})
		if err != nil {
			t.Fatal(err)
		}
		want, next := uint64(0), make([]uint32, tc.v)
		for k, d := range e.Dst {
			want += sumOf(o.New[d], o.New[e.Src[k]], float32(next[d]))
			next[d]++
		}
		csc, csr := uint64(0), uint64(0)
		eachEdge(t, g.CSC, g.Intervals, func(own, other uint32, rank float32) { csc += sumOf(own, other, rank) })
		eachEdge(t, g.CSR, g.Intervals, func(own, other uint32, rank float32) { csr += sumOf(other, own, rank) })
		if csc != want || csr != want {
			t.Errorf("%+v: edges differ: CSC %x, CSR %x, want %x", tc, csc, csr, want)
		}
	}
}

// eachEdge walks all cells; inside a CSC row ranks must rise, as stored order.
func eachEdge(t *testing.T, s *Side, in Intervals, f func(own, other uint32, rank float32)) {
	for i := range s.Cells {
		c, v := &s.Cells[i], s.View(i)
		ownLo, _ := in.Bounds(i / in.P)
		otherLo, _ := in.Bounds(i % in.P)
		for r := range c.Rows {
			row := uint32(r)
			if !c.Dense {
				row = v.RowIDs[r]
				if r > 0 && v.RowIDs[r-1] >= row {
					t.Fatalf("cell %d: rows not ascending at %d", i, r)
				}
			}
			for k := v.Ptr[r]; k < v.Ptr[r+1]; k++ {
				f(uint32(ownLo)+row, uint32(otherLo)+v.Other[k], v.Rank[k])
			}
		}
	}
}

func TestBalanceSkew(t *testing.T) {
	e := skewed(50_000, 400_000, 3)
	for _, p := range []int{2, 4, 8} {
		before, mean := CellSkew(e, nil, p)
		after, _ := CellSkew(e, Balance(e, 8), p)
		t.Logf("P=%d: max/mean %.2f before, %.3f after", p, float64(before)/mean, float64(after)/mean)
		if r := float64(after) / mean; r > 1.25 {
			t.Errorf("P=%d: max/mean %.3f after balancing, want at most 1.25", p, r)
		}
	}
}

func TestBuildDeterministic(t *testing.T) {
	e := skewed(5_000, 40_000, 5)
	w := Want{CSC: true, CSR: true, Rank: true}
	a, err := Build(e, Balance(e, 4), 4, w)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Build(e, Balance(e, 4), 4, w)
	if err != nil {
		t.Fatal(err)
	}
	if string(a.CSC.Mem) != string(b.CSC.Mem) || string(a.CSR.Mem) != string(b.CSR.Mem) {
		t.Error("two builds of one graph differ")
	}
}

// BenchmarkBuild is 2 M edges into an 8×8 grid, both sides.
func BenchmarkBuild(b *testing.B) {
	e := skewed(50_000, 2_000_000, 9)
	e.Weight = make([]float32, e.E())
	o := Balance(e, 8)
	for b.Loop() {
		if _, err := Build(e, o, 8, Want{CSC: true, CSR: true, Rank: true, Weight: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestBuildLinear: ten times the edges must not cost far more than ten times
// the time; a scan of all edges for every cell would.
func TestBuildLinear(t *testing.T) {
	if !draw.Soak() {
		t.Skip("it takes times: make soak")
	}
	took := func(n int) time.Duration {
		e := skewed(20_000, n, 9)
		best := time.Hour
		for range 3 {
			start := time.Now()
			if _, err := Build(e, nil, 16, Want{CSC: true, CSR: true}); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	small, large := took(50_000), took(500_000)
	if large > 40*small {
		t.Errorf("50,000 edges took %v, 500,000 took %v", small, large)
	}
}
