package chunk

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Shapes of about a fiftieth of reddit_full and a hundred-and-fiftieth of
// papers100M: many edges a vertex, and few.
var scaled = []struct {
	name string
	v, e int
}{{"dense", 44_000, 11_400_000}, {"sparse", 700_000, 10_000_000}}

func uniform(v, e int) *Edges {
	r := rand.New(rand.NewPCG(1, 2))
	g := &Edges{V: v, Src: make([]uint32, e), Dst: make([]uint32, e)}
	for k := range e {
		g.Src[k], g.Dst[k] = r.Uint32N(uint32(v)), r.Uint32N(uint32(v))
	}
	return g
}

// BenchmarkScale is the time in nanoseconds an edge, and the bytes an edge that
// are taken from the heap, of what partitioning a large graph does.
func BenchmarkScale(b *testing.B) {
	for _, s := range scaled {
		e := uniform(s.v, s.e)
		o := Balance(e, 8)
		bench := func(name string, f func() error) {
			b.Run(s.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.e), "ns/edge")
			})
		}
		bench("Validate", e.Validate)
		bench("InDegrees", func() error { e.InDegrees(); return nil })
		bench("WithSelfLoops", func() error { e.WithSelfLoops(); return nil })
		bench("Balance", func() error { Balance(e, 8); return nil })
		bench("Stats/P=8", func() error { Stats(e, o, 8); return nil })
		for _, p := range []int{1, 8, 64} {
			order := o
			if p == 1 {
				order = Identity(e.V)
			}
			bench(fmt.Sprintf("Build/P=%d", p), func() error {
				_, err := Build(e, order, p, Want{CSC: true, CSR: true})
				return err
			})
		}
		bench("BuildRank/P=8", func() error {
			_, err := Build(e, o, 8, Want{CSC: true, CSR: true, Rank: true})
			return err
		})
		x, y := make([]float32, s.v*100), make([]float32, s.v*LD(100))
		bench("Permute", func() error { Permute(y, x, 100, LD(100), o); return nil })
	}
}
