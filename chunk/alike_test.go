package chunk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// inside is the order of an interval's vertices in one of p, the slow way.
func inside(e *Edges, ids []uint32, p int) []uint32 {
	d, ids := degreesOf(e), slices.Clone(ids)
	slices.Sort(ids)
	if !d.uneven(p) {
		return ids
	}
	falling := func(ids []uint32, degree []uint32) {
		slices.SortFunc(ids, func(a, b uint32) int {
			if degree[a] != degree[b] {
				return int(degree[b]) - int(degree[a])
			}
			return int(a) - int(b)
		})
	}
	both := func(ids []uint32) []uint32 {
		falling(ids, d.in)
		for lo := 0; lo < len(ids); lo += 64 {
			falling(ids[lo:min(len(ids), lo+64)], d.out)
		}
		return ids
	}
	var heavy, out []uint32
	for _, v := range ids {
		if n := int(max(d.in[v], d.out[v])); n > 2*e.E()/e.V && n > 8*p {
			heavy = append(heavy, v)
		} else {
			out = append(out, v)
		}
	}
	for lo := 0; lo < len(out); lo += 1024 {
		both(out[lo:min(len(out), lo+1024)])
	}
	return append(both(heavy), out...)
}

func TestAlikeAgainstSorting(t *testing.T) {
	onProcessors(t, func(t *testing.T) {
		for _, e := range []*Edges{many(), powerLaw(30_000, 500_000, true), powerLaw(30_000, 500_000, false)} {
			for _, p := range []int{1, 5} {
				o := Balance(e, p)
				if err := o.Validate(e.V); err != nil {
					t.Fatal(err)
				}
				in, _ := NewIntervals(e.V, p)
				for i := range p {
					lo, hi := in.Bounds(i)
					if !slices.Equal(o.Old[lo:hi], inside(e, o.Old[lo:hi], p)) {
						t.Fatalf("%d vertices, interval %d of %d: another order", e.V, i, p)
					}
				}
			}
		}
	})
}

// Vertices of even degree, and those whose cells chance fills, keep the user's order.
func TestEvenVerticesStay(t *testing.T) {
	mesh := &Edges{V: 90_000}
	for v := range uint32(mesh.V) {
		for _, to := range []uint32{v + 1, v + 300} {
			if to < uint32(mesh.V) {
				mesh.Src, mesh.Dst = append(mesh.Src, v, to), append(mesh.Dst, to, v)
			}
		}
	}
	if !Balance(mesh, 1).IsIdentity() {
		t.Error("a mesh is not in its order")
	}
	e := uniform(20_000, 400_000)
	for p, e := range map[int]*Edges{7: mesh, 8: e} {
		o := Balance(e, p)
		in, _ := NewIntervals(e.V, p)
		for i := range p {
			if lo, hi := in.Bounds(i); !slices.IsSorted(o.Old[lo:hi]) {
				t.Errorf("%d edges: interval %d of %d is not in the user's order", e.E(), i, p)
			}
		}
	}
}

// powerLaw is a graph whose degrees are proportional to rank^-½, ranks in random order,
// edges both ways or one.
func powerLaw(v, e int, symmetric bool) *Edges {
	r := rand.New(rand.NewPCG(uint64(v), uint64(e)))
	g := &Edges{V: v, Src: make([]uint32, e), Dst: make([]uint32, e)}
	from, to := r.Perm(v), r.Perm(v)
	if symmetric {
		to = from
	}
	draw := func(at []int) uint32 {
		x := r.Float64()
		return uint32(at[int(x*x*float64(v))])
	}
	for k := range e {
		g.Src[k], g.Dst[k] = draw(from), draw(to)
		if symmetric && k&1 == 1 {
			g.Src[k], g.Dst[k] = g.Dst[k-1], g.Src[k-1]
		}
	}
	return g
}

// busy is the share of a warp's time that rows use which share it by so many, when it
// takes as long as its longest row: the edges over those of as many rows of the longest.
// Rows of more than large edges are not counted, as kernels leave them to others.
func busy(s *Side, rows, large int) float64 {
	edges, time := 0, 0
	for i := range s.Cells {
		v := s.View(i)
		for at := 0; at < len(v.Ptr)-1; at += rows {
			longest := 0
			for k := at; k < min(len(v.Ptr)-1, at+rows); k++ {
				if n := int(v.Ptr[k+1] - v.Ptr[k]); n <= large {
					edges += n
					longest = max(longest, n)
				}
			}
			time += rows * longest
		}
	}
	return float64(edges) / float64(time)
}

// busyOf is that of all cells, forward and backward, for 1 to 16 rows a warp.
func busyOf(t *testing.T, e *Edges, o *Order, p int) (text string, at4 [2]float64) {
	g, err := Build(e, o, p, Want{CSC: true, CSR: true})
	if err != nil {
		t.Fatal(err)
	}
	large := max(256, 4*e.E()/e.V/p)
	for i, s := range []*Side{g.CSC, g.CSR} {
		text += [2]string{" forward", ", backward"}[i]
		for _, rows := range []int{1, 2, 4, 8, 16} {
			b := busy(s, rows, large)
			text += fmt.Sprintf(" %d: %.3f", rows, b)
			if rows == 4 {
				at4[i] = b
			}
		}
	}
	return text, at4
}

// Rows of skewed graphs use a warp about as well as those of uniform ones, whose lengths
// are chance: at a hundredth of 2.2 M vertices and 571 M edges in 14 intervals, which has as
// many edges a row and cell, and in one interval.
func TestRowsShareWarps(t *testing.T) {
	for _, c := range []struct {
		name  string
		e     *Edges
		p     int
		least float64 // of four rows a warp
	}{
		{"uniform", uniform(22_000, 5_710_000), 14, 0.80},
		{"skewed", powerLaw(22_000, 5_710_000, true), 14, 0.79},
		{"skewed, directed", powerLaw(22_000, 5_710_000, false), 14, 0.74},
		{"skewed", powerLaw(170_000, 2_330_000, true), 1, 0.99},
		{"skewed, directed", powerLaw(170_000, 2_330_000, false), 1, 0.90},
	} {
		before, was := busyOf(t, c.e, Deal(c.e, c.p), c.p)
		after, is := busyOf(t, c.e, Balance(c.e, c.p), c.p)
		t.Logf("%s, %d vertices, %d edges, P = %d\n  user's order %s\n  sorted       %s", c.name, c.e.V, c.e.E(), c.p, before, after)
		for i := range is {
			if is[i] < c.least || is[i] < was[i] {
				t.Errorf("%s: four rows a warp use %.3f of it, were %.3f", c.name, is[i], was[i])
			}
		}
	}
}
