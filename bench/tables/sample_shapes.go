package tables

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"sagann/bench/measure"
	"sagann/chunk"
	"sagann/internal/cli"
	"sagann/sample"
)

// powerShape is the size that text gives: the name of a shape, or VxE.
func powerShape(text string) (v, e int, err error) {
	if s, err := measure.ShapeOf(text); err == nil {
		return s.Vertices, int(s.Edges), nil
	}
	a, b, ok := strings.Cut(text, "x")
	if v, err = strconv.Atoi(a); ok && err == nil && v > 0 {
		if e, err = strconv.Atoi(b); err == nil && e > 1 {
			return v, e, nil
		}
	}
	return 0, 0, cli.Usagef("--shapes %s: want %s, or vertices and edges such as 10000x200000", text, measure.Shapes(measure.All))
}

// powerGraph is an undirected graph with a power law of degrees. The ends of
// edge k are computed from hashes of 2k and 2k+1: a number u in [0, 1) gives the rank V·u^1.6, and the rank gives a
// vertex. Ranks are looked up in a table of (x/V)^(5/8), which is computed by products and square roots
// only: these are rounded in the same way on every machine. Rows are sorted, edge numbers are places in the graph, and
// weights are in [1, 5).
func powerGraph(v, e int, weights bool) *sample.Graph {
	return powerGraphOf(newPower(v, usual), e, weights)
}

// powerGraphOf is powerGraph with another power in place of 1.6.
func powerGraphOf(p *power, e int, weights bool) *sample.Graph {
	v := p.v
	half := e / 2
	g := &sample.Graph{Offsets: make([]int64, v+1), Far: make([]uint32, 2*half), Edge: make([]uint32, 2*half)}
	at := g.Offsets[1:]
	ends := g.Edge // the ends of edge k at 2k and 2k+1; edge numbers replace them later
	chunk.Ranges(2*half, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			ends[i] = p.vertex(measure.Mixed(uint64(i)))
			atomic.AddInt64(&at[ends[i]], 1)
		}
	})
	sum := int64(0)
	for i, n := range at {
		at[i] = sum
		sum += n
	}
	chunk.Ranges(half, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			a, b := ends[2*k], ends[2*k+1]
			g.Far[atomic.AddInt64(&at[a], 1)-1] = b
			g.Far[atomic.AddInt64(&at[b], 1)-1] = a
		}
	})
	chunk.Ranges(v, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			slices.Sort(g.Far[g.Offsets[r]:g.Offsets[r+1]])
		}
	})
	if weights {
		g.Weight = make([]float32, len(g.Far))
	}
	chunk.Ranges(len(g.Far), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			g.Edge[i] = uint32(i)
			if weights {
				g.Weight[i] = 1 + 4*(float32(measure.Mixed(uint64(i))>>40)/(1<<24))
			}
		}
	})
	return g
}

// root is the power factors/2^roots, computed as factors factors under roots square roots.
type root struct{ factors, roots int }

// usual is the power 5/8.
var usual = root{5, 3}

// of is q to the power.
func (r root) of(q float64) float64 {
	x := q
	for range r.factors - 1 {
		x *= q
	}
	for range r.roots {
		x = math.Sqrt(x)
	}
	return x
}

// inverse is the inverse of the power, with which ranks are drawn.
func (r root) inverse() float64 { return float64(int(1)<<r.roots) / float64(r.factors) }

// power is the table: from[x] is the least u of rank x, and first[b] the rank of b·2⁻²⁰. With too many
// vertices there is no table from, and entries are computed when they are read.
type power struct {
	v     int
	root  root
	from  []float64
	first []uint32
}

const (
	powerBuckets = 1 << 20
	powerTable   = 1 << 24 // reading a larger table is slower than computing entries
)

func newPower(v int, r root) *power {
	p := &power{v: v, root: r}
	if v > powerTable {
		return p
	}
	p.from, p.first = make([]float64, v), make([]uint32, powerBuckets+1)
	for x := range p.from {
		p.from[x] = p.least(x)
	}
	x := 0
	for b := range p.first {
		u := float64(b) / powerBuckets
		for x+1 < v && p.from[x+1] <= u {
			x++
		}
		p.first[b] = uint32(x)
	}
	return p
}

// least is (x/V) to the power.
func (p *power) least(x int) float64 { return p.root.of(float64(x) / float64(p.v)) }

// vertex is the vertex of a random number.
func (p *power) vertex(r uint64) uint32 {
	u := float64(r>>11) * (1.0 / (1 << 53))
	x := p.rank(u, r)
	return uint32(uint64(x) * 2654435761 % uint64(p.v))
}

func (p *power) rank(u float64, r uint64) int {
	if p.from == nil {
		x := min(int(math.Pow(u, p.root.inverse())*float64(p.v)), p.v-1) // about
		for x > 0 && p.least(x) > u {
			x--
		}
		for x+1 < p.v && p.least(x+1) <= u {
			x++
		}
		return x
	}
	x := int(p.first[r>>44])
	for x+1 < p.v && p.from[x+1] <= u {
		x++
	}
	return x
}

// graphSum identifies a graph: the first 16 digits of the SHA-256 of its offsets and far ends.
func graphSum(g *sample.Graph) string {
	h := sha256.New()
	buf := make([]byte, 0, 1<<16)
	flush := func(least int) {
		if len(buf) > least {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	for _, o := range g.Offsets {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(o))
		flush(1<<16 - 8)
	}
	for _, f := range g.Far {
		buf = binary.LittleEndian.AppendUint32(buf, f)
		flush(1<<16 - 8)
	}
	flush(0)
	return fmt.Sprintf("%.8x", h.Sum(nil))
}
