package chunk

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// Cells that reach over several intervals of a run have every edge once, in the order of their own rows, at the far end by its place behind the first of
// these, and are as large as was counted. Other cells are empty.
func TestWholeRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		vertices := []int{1 + rng.IntN(900), 1 + rng.IntN(400), 1 + rng.IntN(20)}
		p := 3 + rng.IntN(9)
		runs := WideRuns(vertices, p)
		wide := []int{1, 2, 3, AllFar}[n%4]
		in, err := WholeRuns(vertices, runs, wide)
		if err != nil {
			t.Fatal(err)
		}
		s, d := rng.IntN(3), rng.IntN(3)
		e := &Edges{V: in.V}
		for range 1 + rng.IntN(40_000) {
			e.Src, e.Dst = append(e.Src, uint32(in.id(runs[s], rng.IntN(vertices[s])))), append(e.Dst, uint32(in.id(runs[d], rng.IntN(vertices[d]))))
			e.Weight = append(e.Weight, rng.Float32())
		}
		want := Want{CSC: true, CSR: true, Wide: wide, Pack: n%8 < 4, Weight: n%3 == 0}
		if !want.Weight {
			e.Weight = nil
		}
		g, err := Memory{}.BuildOver(e, in, want)
		if err != nil {
			t.Fatal(err)
		}
		src, dst := End{nil, runs[s].First, runs[s].N}, End{nil, runs[d].First, runs[d].N}
		st := StatsOver(e, src, dst, in, false)
		if alone := StatsOver(e, src, dst, in, true); !reflect.DeepEqual(alone, st) {
			t.Fatal("counts on one processor differ")
		}
		for back, side := range []*Side{g.CSC, g.CSR} {
			own, far, a, b := d, s, e.Dst, e.Src
			if back == 1 {
				own, far, a, b = s, d, e.Src, e.Dst
			}
			var expect, got []string
			for i := range a {
				expect = append(expect, fmt.Sprint(in.row(runs[own], a[i]), in.row(runs[far], b[i]), e.weight(i)))
			}
			for i := range side.Cells {
				c, v := &side.Cells[i], side.View(i)
				o, x := i/in.P, i%in.P
				counted := st.CSC(o, x, want)
				if back == 1 {
					counted = st.CSR(o, x, want)
				}
				if counted.Hub, counted.Off = c.Hub, c.Off; counted != *c {
					t.Fatalf("cell %d, %d: built %+v, counted %+v", o, x, *c, counted)
				}
				first := x - runs[far].First
				if c.NNZ > 0 && first%wide > 0 {
					t.Fatalf("cell %d, %d has edges", o, x)
				}
				ids, _ := v.Far(nil, 0, int(c.NNZ))
				for k := range c.Rows {
					r := k
					if v.RowIDs != nil {
						r = int(v.RowIDs[k])
					}
					for q := v.Ptr[k]; q < v.Ptr[k+1]; q++ {
						w := float32(0)
						if v.Weight != nil {
							w = v.Weight[q]
						}
						got = append(got, fmt.Sprint((o-runs[own].First)*runs[own].Width+r, first*runs[far].Width+int(ids[q]), w))
					}
				}
			}
			slices.Sort(expect)
			slices.Sort(got)
			if !slices.Equal(expect, got) {
				t.Fatalf("%v, %d intervals, side %d: other edges", vertices, p, back)
			}
		}
	}
}

// id is the number of vertex v of a run, row its place in the run.
func (n Intervals) id(r Run, v int) int { return (r.First+v/r.Width)*n.Width + v%r.Width }
func (n Intervals) row(r Run, id uint32) int {
	return (int(id)/n.Width-r.First)*r.Width + int(id)%n.Width
}

func (e *Edges) weight(i int) float32 {
	if e.Weight == nil {
		return 0
	}
	return e.Weight[i]
}
