package chunk

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// MaxDataCols bounds the width of edge data.
const MaxDataCols = 1 << 20

// Validate checks lengths, ids, types, and that weights and data are finite. The
// error names the first edge at fault, counted from 0.
func (e *Edges) Validate() error {
	if e == nil {
		return errors.New("chunk: nil in place of edges")
	}
	if err := e.Lengths(); err != nil {
		return err
	}
	if err := e.validTypes(); err != nil {
		return err
	}
	n := len(e.Src)
	wrong := First(n, func(lo, hi int) int {
		src, dst, v := e.Src[lo:hi], e.Dst[lo:hi], uint32(e.V)
		for k, s := range src {
			if max(s, dst[k]) >= v {
				return lo + k
			}
		}
		return -1
	})
	if k := wrong; k >= 0 {
		return fmt.Errorf("chunk: edge %d goes from %d to %d, but the graph has %d vertices", k, e.Src[k], e.Dst[k], e.V)
	}
	if k := noTime(e.Time); k >= 0 {
		return fmt.Errorf("chunk: edge %d has time %v", k, e.Time[k])
	}
	if k := NotFinite(e.Weight); k >= 0 {
		return fmt.Errorf("chunk: edge %d has weight %v", k, e.Weight[k])
	}
	if k := NotFinite(e.Data); k >= 0 {
		return fmt.Errorf("chunk: edge %d has %v in column %d of its data", k/e.DataCols, e.Data[k], k%e.DataCols)
	}
	return nil
}

// Lengths checks that there are as many values of each kind as edges. It is the part of Validate that looks at no edge.
func (e *Edges) Lengths() error {
	n := len(e.Src)
	switch {
	case e.V < 0 || e.V > MaxVertices:
		return fmt.Errorf("chunk: %d vertices, want 0 to %d", e.V, MaxVertices)
	case len(e.Dst) != n:
		return fmt.Errorf("chunk: %d sources but %d destinations", n, len(e.Dst))
	case e.Weight != nil && len(e.Weight) != n:
		return fmt.Errorf("chunk: %d weights for %d edges", len(e.Weight), n)
	case e.Type != nil && len(e.Type) != n:
		return fmt.Errorf("chunk: %d edge types for %d edges", len(e.Type), n)
	case e.DataCols < 0 || e.DataCols > MaxDataCols:
		return fmt.Errorf("chunk: edge data of %d columns, want 0 to %d", e.DataCols, MaxDataCols)
	case len(e.Data) != n*e.DataCols:
		return fmt.Errorf("chunk: %d values of edge data for %d edges of %d columns", len(e.Data), n, e.DataCols)
	case e.Time != nil && len(e.Time) != n:
		return fmt.Errorf("chunk: %d times for %d edges", len(e.Time), n)
	}
	return nil
}

func (e *Edges) validTypes() error {
	if e.Type == nil {
		if e.Types != 0 {
			return fmt.Errorf("chunk: %d edge types, but no edge has a type", e.Types)
		}
		return nil
	}
	if e.Types < 0 {
		return fmt.Errorf("chunk: %d edge types", e.Types)
	}
	wrong := First(len(e.Type), func(lo, hi int) int {
		for k := lo; k < hi; k++ {
			if int64(e.Type[k]) >= int64(e.Types) {
				return k
			}
		}
		return -1
	})
	if wrong >= 0 {
		return fmt.Errorf("chunk: edge %d has type %d of %d", wrong, e.Type[wrong], e.Types)
	}
	return nil
}

// noTime is the index of the first number that is no time of an edge, or -1.
func noTime(x []float64) int {
	return First(len(x), func(lo, hi int) int {
		for k := lo; k < hi; k++ {
			if !(x[k] <= math.MaxFloat64) {
				return k
			}
		}
		return -1
	})
}

// NotFinite is the index of the first NaN or infinity, or -1.
func NotFinite(x []float32) int {
	return First(len(x), func(lo, hi int) int {
		if i := scanFinite(x[lo:hi]); i >= 0 {
			return lo + i
		}
		return -1
	})
}

// scanFinite is NotFinite on one processor.
func scanFinite(x []float32) int {
	const exponent = 0x7f800000 // all these bits are set in NaN and infinities
	for i, v := range x {
		if math.Float32bits(v)&exponent == exponent {
			return i
		}
	}
	return -1
}

// InDegrees counts the edges that end in each vertex: V values.
func (e *Edges) InDegrees() []uint32 { return degrees(e.V, e.Dst) }

// OutDegrees counts the edges that start in each vertex: V values.
func (e *Edges) OutDegrees() []uint32 { return degrees(e.V, e.Src) }

// AddDegrees adds the number of edges that end in each vertex to in, and of those that start there to out, on one processor.
func (e *Edges) AddDegrees(in, out []uint32) {
	for _, v := range e.Dst {
		in[v]++
	}
	for _, v := range e.Src {
		out[v]++
	}
}

// OneLoop is a copy of the edges in which, of several self loops of a vertex, only the last has its weight; the others
// have weight 0. Without such loops, or without weights, the result is e itself.
func (e *Edges) OneLoop() *Edges {
	if e.Weight == nil {
		return e
	}
	r, seen := e, newBitset(e.V)
	for k := e.E() - 1; k >= 0; k-- {
		if v := e.Src[k]; v != e.Dst[k] || seen.add(int(v)) {
			continue
		}
		if r == e {
			r = new(Edges)
			*r = *e
			r.Weight = slices.Clone(e.Weight)
		}
		r.Weight[k] = 0
	}
	return r
}

// AddInWeights adds the weight of each edge, 1 without weights, to the sum of the vertex where it ends.
func (e *Edges) AddInWeights(sums []float64) {
	if e.Weight == nil {
		for _, v := range e.Dst {
			sums[v]++
		}
		return
	}
	for k, v := range e.Dst {
		sums[v] += float64(e.Weight[k])
	}
}

// degrees counts how often each vertex occurs in ends. Vertices are divided into stripes. Each goroutine
// sorts a block of ends by stripe, and then adds them to the counters of one stripe after another,
// locking the stripe. So the counters in use stay in the cache, and a hub delays one stripe only.
func degrees(v int, ends []uint32) []uint32 {
	n := make([]uint32, v)
	if processors() == 1 || len(ends) < 1<<16 {
		for _, x := range ends {
			n[x]++
		}
		return n
	}
	const stripes, block = 1 << 10, 1 << 18
	shift := max(bits.Len(uint(max(v-1, 0))), 10) - 10 // id >> shift is below stripes
	locks := make([]sync.Mutex, stripes)
	sorted := make([][]uint32, processors())
	eachOf(len(sorted), (len(ends)+block-1)/block, func(worker, i int) {
		if sorted[worker] == nil {
			sorted[worker] = make([]uint32, block)
		}
		to, from := sorted[worker], ends[i*block:min((i+1)*block, len(ends))]
		var at [stripes + 1]int
		for _, x := range from {
			at[x>>shift+1]++
		}
		for s := range stripes {
			at[s+1] += at[s]
		}
		next := at
		for _, x := range from {
			s := x >> shift
			to[next[s]] = x
			next[s]++
		}
		for k := range stripes {
			s := (k + 61*i) % stripes // blocks begin with different stripes
			if at[s] == at[s+1] {
				continue
			}
			locks[s].Lock()
			for _, x := range to[at[s]:at[s+1]] {
				n[x]++
			}
			locks[s].Unlock()
		}
	})
	return n
}

// Reverse turns every edge round. The result shares all memory with e.
func (e *Edges) Reverse() *Edges {
	r := *e
	r.Src, r.Dst = e.Dst, e.Src
	return &r
}

// WithSelfLoops is a copy of the edges with a self loop for every vertex that has none. Loops are
// appended in vertex order, with weight 1, type 0 and data zero. If every vertex
// has one already, the result is e itself. If edges have times, every vertex gets a loop that is always there, beside those
// that it has from some time on.
func (e *Edges) WithSelfLoops() *Edges {
	return e.withLoops(newBitset(e.V))
}

// always tells whether edge k is a self loop that is always there.
func (e *Edges) always(k int) bool {
	return e.Src[k] == e.Dst[k] && (e.Time == nil || math.IsInf(e.Time[k], -1))
}

// WithSelfLoopsOf is WithSelfLoops for the vertices of list alone.
func (e *Edges) WithSelfLoopsOf(list []uint32) *Edges {
	rest := newBitset(e.V)
	for i := range rest {
		rest[i] = ^uint64(0)
	}
	if n := e.V & 63; n != 0 {
		rest[len(rest)-1] = 1<<n - 1
	}
	for _, v := range list {
		rest[v>>6] &^= 1 << (v & 63)
	}
	return e.withLoops(rest)
}

// markLoops adds the vertices with self loops that are always there to has.
func (e *Edges) markLoops(has bitset) {
	Ranges(e.E(), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			if e.always(k) {
				has.addShared(int(e.Src[k]))
			}
		}
	})
}

// withLoops adds self loops to the vertices that are not in has.
func (e *Edges) withLoops(has bitset) *Edges {
	e.markLoops(has)
	missing := e.V
	for _, w := range has {
		missing -= bits.OnesCount64(w)
	}
	if missing == 0 {
		return e
	}
	r := e.grow(missing)
	for v := range e.V {
		if has[v>>6]>>(v&63)&1 == 1 {
			continue
		}
		r.Src, r.Dst = append(r.Src, uint32(v)), append(r.Dst, uint32(v))
		if e.Weight != nil {
			r.Weight = append(r.Weight, 1)
		}
		if e.Type != nil {
			r.Type = append(r.Type, 0)
		}
		if e.Time != nil {
			r.Time = append(r.Time, math.Inf(-1))
		}
		r.Data = r.Data[:len(r.Data)+e.DataCols] // zeros, from grow
	}
	if r.Type != nil {
		r.Types = max(r.Types, 1)
	}
	return r
}

// MeanLoops gives the edges from number first on, which are self loops that WithSelfLoops has added, the mean of the numbers of the
// other in-edges of their vertex, 0 where it has none. It changes e, unless there are none.
func (e *Edges) MeanLoops(first int) *Edges {
	if e.DataCols == 0 || first == e.E() {
		return e
	}
	at := make([]int, e.V) // of the loop of a vertex
	for k := first; k < e.E(); k++ {
		at[e.Dst[k]] = k
	}
	degree, cols := e.InDegrees(), e.DataCols
	for k := range first {
		if v := e.Dst[k]; at[v] >= first {
			sum := e.Data[at[v]*cols : (at[v]+1)*cols]
			for c, x := range e.Data[k*cols : (k+1)*cols] {
				sum[c] += x / float32(degree[v]-1)
			}
		}
	}
	return e
}

// grow copies the edges with room for n more. The room is zero.
func (e *Edges) grow(n int) *Edges {
	r := &Edges{V: e.V, Types: e.Types, DataCols: e.DataCols}
	r.Src, r.Dst = growSlice(e.Src, n), growSlice(e.Dst, n)
	r.Weight, r.Type, r.Time = growSlice(e.Weight, n), growSlice(e.Type, n), growSlice(e.Time, n)
	if e.DataCols > 0 {
		r.Data = make([]float32, len(e.Data), len(e.Data)+n*e.DataCols)
		copyAll(r.Data, e.Data)
	}
	return r
}

func growSlice[T any](s []T, n int) []T {
	if s == nil {
		return nil
	}
	r := make([]T, len(s), len(s)+n)
	copyAll(r, s)
	return r
}

// copyAll is copy on all processors; the lengths are equal.
func copyAll[T any](dst, src []T) {
	Ranges(len(src), func(lo, hi int) { copy(dst[lo:hi], src[lo:hi]) })
}
