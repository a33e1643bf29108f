package batches

import (
	"math"

	"sagann/dataset"
)

// Moments are vertices at times: item i is Vertex[i], and sees edges up to Time[i], of that time, too.
type Moments struct {
	Vertex []uint32
	Time   []float64
}

// moment is a vertex at a time.
type moment struct {
	vertex uint32
	time   float64
}

// Before is the latest time before t: edges up to it are those before t.
func Before(t float64) float64 { return math.Nextafter(t, math.Inf(-1)) }

// MomentsOf are the ends of pairs before their times, or with all edges where they have none, each once, and the numbers of the ends of
// each pair among them.
func MomentsOf(list ...*dataset.Pairs) (m *Moments, src, dst [][]uint32) {
	m = &Moments{}
	at := map[moment]uint32{}
	number := func(v uint32, t float64) uint32 {
		n, ok := at[moment{v, t}]
		if !ok {
			n = uint32(len(m.Vertex))
			at[moment{v, t}] = n
			m.Vertex, m.Time = append(m.Vertex, v), append(m.Time, t)
		}
		return n
	}
	for _, p := range list {
		var from, to []uint32
		for k, u := range p.Src {
			t := math.Inf(1)
			if p.Time != nil {
				t = Before(p.Time[k])
			}
			from, to = append(from, number(u, t)), append(to, number(p.Dst[k], t))
		}
		src, dst = append(src, from), append(dst, to)
	}
	return m, src, dst
}
