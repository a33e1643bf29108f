package sample

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"sagann/chunk"
)

// Graph holds the rows that samplers draw from, in compressed sparse row form: the in-edges of
// every vertex, sorted by far end, and parallel edges by edge number. All ids are the user's. To
// draw along out-edges, build the graph from edges.Reverse(); edge numbers stay the same. Make a
// Graph with NewGraph. Compile checks the rows of a Graph that is made by hand, and refuses
// unsorted or invalid ones.
type Graph struct {
	sorted bool // NewGraph made it

	Offsets []int64   // V+1: the row of vertex v is Offsets[v] to Offsets[v+1]-1
	Far     []uint32  // E: the far end of the edge, its source
	Edge    []uint32  // E: the edge's index in the user's list of edges
	Weight  []float32 // E, or nil if edges have no weights
	Time    []float64 // E, or nil if edges have no times; NewGraph makes it

	byTime []uint32  // E: the places of each row in the order of their times
	first  float64   // the earliest time that is not -Inf
	data   []float32 // the numbers of edges, by number of the edge and then column
	cols   int       // how many an edge has
}

// NewGraph sorts edges into rows. The graph takes 8 bytes per edge (12 with weights) and 8 per
// vertex; with times 12 more per edge. Of e it keeps the numbers of edges (Data) alone. Invalid edges are an error, and so are 2³² edges or more.
func NewGraph(e *chunk.Edges) (*Graph, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	if int64(e.E()) >= 1<<32 {
		return nil, fmt.Errorf("sample: %d edges: a graph to sample has fewer than 2^32", e.E())
	}
	g := &Graph{sorted: true, Offsets: make([]int64, e.V+1), Far: make([]uint32, e.E()), Edge: make([]uint32, e.E())}
	// Offsets[v+1] is where the next edge of row v goes. After the last edge it is the end of the row.
	at := g.Offsets[1:]
	sum := int64(0)
	for v, n := range e.InDegrees() {
		at[v] = sum
		sum += int64(n)
	}
	inParts(e, func(lo, n uint32) {
		at := at[lo : lo+n]
		for i, d := range e.Dst {
			if d -= lo; d < n {
				g.Far[at[d]], g.Edge[at[d]] = e.Src[i], uint32(i)
				at[d]++
			}
		}
	})
	chunk.Ranges(e.V, g.sortRows)
	g.sortTimes(e)
	g.data, g.cols = e.Data, e.DataCols
	if e.Weight != nil {
		g.Weight = make([]float32, e.E())
		chunk.Ranges(e.E(), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				g.Weight[i] = e.Weight[g.Edge[i]]
			}
		})
	}
	return g, nil
}

// inParts calls f on every processor for a range of vertices, n from lo on. Each call reads all
// edges in order and takes those into its own vertices. Reading all edges is cheap compared with
// writing them, as the writes go to random places in memory.
func inParts(e *chunk.Edges, f func(lo, n uint32)) {
	parts := max(1, min(runtime.GOMAXPROCS(0), e.V, e.E()>>16)) // for fewer edges a goroutine does not pay
	chunk.Each(parts, func(k int) {
		lo, hi := e.V*k/parts, e.V*(k+1)/parts
		f(uint32(lo), uint32(hi-lo))
	})
}

// check says what is wrong with a graph that was made by hand.
func (g *Graph) check() error {
	n, e := len(g.Offsets)-1, int64(len(g.Far))
	switch {
	case g.sorted:
		return nil
	case g.Time != nil:
		return fmt.Errorf("sample: a graph that is made by hand has no times: NewGraph makes them")
	case n < 0 || g.Offsets[0] != 0 || g.Offsets[n] != e:
		return fmt.Errorf("sample: a graph of %d edges: Offsets begin with 0 and end with the number of edges, one more than there are vertices", e)
	case int64(len(g.Edge)) != e || g.Weight != nil && int64(len(g.Weight)) != e:
		return fmt.Errorf("sample: a graph has %d far ends, %d edge numbers and %d weights: as many of each, or no weights", e, len(g.Edge), len(g.Weight))
	}
	bad := chunk.First(n, func(lo, hi int) int {
		for v := lo; v < hi; v++ {
			if g.checkRow(v) != nil {
				return v
			}
		}
		return -1
	})
	if bad >= 0 {
		return g.checkRow(bad)
	}
	return nil
}

// checkRow says what is wrong with a row.
func (g *Graph) checkRow(v int) error {
	n, e := g.Vertices(), int64(len(g.Far))
	if g.Offsets[v] < 0 || g.Offsets[v] > g.Offsets[v+1] || g.Offsets[v+1] > e {
		return fmt.Errorf("sample: the row of vertex %d is from %d to %d of %d edges", v, g.Offsets[v], g.Offsets[v+1], e)
	}
	far, edge := g.row(uint32(v))
	for i, f := range far {
		switch {
		case int64(f) >= int64(n):
			return fmt.Errorf("sample: edge %d leads to vertex %d from %d, and there are %d vertices", g.Offsets[v]+int64(i), v, f, n)
		case i > 0 && (f < far[i-1] || f == far[i-1] && edge[i] <= edge[i-1]):
			return fmt.Errorf("sample: the row of vertex %d is not sorted by far end and edge number, at place %d", v, i)
		}
	}
	return nil
}

// sortRows sorts the rows of vertices lo to hi-1, whose edges ascend by number.
func (g *Graph) sortRows(lo, hi int) {
	var both []uint64
	for v := lo; v < hi; v++ {
		far, edge := g.row(uint32(v))
		if slices.IsSorted(far) {
			continue
		}
		both = both[:0]
		for i, f := range far {
			both = append(both, uint64(f)<<32|uint64(edge[i]))
		}
		slices.Sort(both)
		for i, b := range both {
			far[i], edge[i] = uint32(b>>32), uint32(b)
		}
	}
}

// Vertices is the number of vertices.
func (g *Graph) Vertices() int { return len(g.Offsets) - 1 }

// Edges is the number of edges.
func (g *Graph) Edges() int { return len(g.Far) }

// Degree is the length of the row of v.
func (g *Graph) Degree(v uint32) int { return int(g.Offsets[v+1] - g.Offsets[v]) }

// Bytes is the memory that the graph takes.
func (g *Graph) Bytes() int64 {
	return 8*int64(len(g.Offsets)+len(g.Time)) + 4*int64(len(g.Far)+len(g.Edge)+len(g.Weight)+len(g.byTime))
}

func (g *Graph) row(v uint32) (far, edge []uint32) {
	lo, hi := g.Offsets[v], g.Offsets[v+1]
	return g.Far[lo:hi], g.Edge[lo:hi]
}

// loops is the range of places, lo to hi-1, of the self loops in the row of v.
func (g *Graph) loops(v uint32) (lo, hi int) {
	far, _ := g.row(v)
	lo = firstFrom(far, v, int(uint64(v)*uint64(len(far))/uint64(g.Vertices())))
	for hi = lo; hi < len(far) && far[hi] == v; hi++ {
	}
	return lo, hi
}

// firstFrom is the first index of an ascending list whose value is v or more. It is an
// exponential search from the index about. If the values are spread evenly, it reads one or two
// cache lines; a binary search of the whole list reads one per step.
func firstFrom(list []uint32, v uint32, about int) int {
	lo, hi := about, about // all values before lo are less than v, and none from hi on
	for step := 1; hi < len(list) && list[hi] < v; step *= 2 {
		lo, hi = hi+1, min(len(list), hi+step)
	}
	for step := 1; lo > 0 && list[lo-1] >= v; step *= 2 {
		lo, hi = max(0, lo-step), lo-1
	}
	at, _ := slices.BinarySearch(list[lo:hi], v)
	return lo + at
}

// Loops is the number of self loops of v.
func (g *Graph) Loops(v uint32) int {
	lo, hi := g.loops(v)
	return hi - lo
}

// mostLoops is the largest number of self loops of a vertex.
func (g *Graph) mostLoops() (most int) {
	var mu sync.Mutex
	chunk.Ranges(g.Vertices(), func(first, end int) {
		n := 0
		for v := first; v < end; v++ {
			lo, hi := g.loops(uint32(v))
			n = max(n, hi-lo)
		}
		mu.Lock()
		most = max(most, n)
		mu.Unlock()
	})
	return most
}
