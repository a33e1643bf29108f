package chunk

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestDegreesOf compares in-degrees of some vertices, of few and of many, with those of all, with and without self loops that a model adds.
func TestDegreesOf(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for _, timed := range []bool{false, true} {
		e := &Edges{V: 100}
		for range 900 {
			u, v := uint32(r.IntN(100)), uint32(r.IntN(100))
			if r.IntN(6) == 0 {
				v = u
			}
			e.Src, e.Dst = append(e.Src, u), append(e.Dst, v)
			if timed {
				e.Time = append(e.Time, []float64{1, math.Inf(-1)}[r.IntN(2)])
			}
		}
		for _, loops := range []bool{false, true} {
			want := e.InDegrees()
			if loops {
				want = e.WithSelfLoops().InDegrees()
			}
			for _, n := range []int{1, 4, 50, 100} {
				var list []uint32
				for _, v := range r.Perm(100)[:n] {
					list = append(list, uint32(v))
				}
				if some := e.WithSelfLoopsOf(list); loops {
					for _, v := range list {
						if some.InDegrees()[v] != want[v] {
							t.Errorf("vertex %d of %d with loops has %d, want %d", v, n, some.InDegrees()[v], want[v])
						}
					}
					if n == 1 && some.E() > e.E()+1 {
						t.Errorf("%d edges with a loop, %d before", some.E(), e.E())
					}
				}
				got, err := e.DegreesOf(list, loops)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range list {
					if got[v] != want[v] {
						t.Errorf("timed %v, loops %v, %d vertices: vertex %d has %d, want %d", timed, loops, n, v, got[v], want[v])
					}
				}
			}
		}
	}
	for _, n := range []int{1, 50} {
		for _, bad := range []uint32{101, 1000} {
			e := &Edges{V: 100, Src: []uint32{0, 1}, Dst: []uint32{1, bad}}
			if _, err := e.DegreesOf(make([]uint32, n), true); n > 1 || bad > 127 {
				if err == nil || !strings.Contains(err.Error(), "edge 1 goes from 1 to") {
					t.Errorf("%d vertices, end %d: error %v", n, bad, err)
				}
			}
		}
	}
}
