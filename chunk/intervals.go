package chunk

import (
	"fmt"
	"slices"
)

// MaxIntervals bounds P: a grid keeps P×P cells, so a larger P is a mistake.
const MaxIntervals = 4096

// MaxVertices bounds V: ids are uint32 and the last value stays free.
const MaxVertices = 1<<32 - 1

// Intervals cuts the vertices 0..V-1 into P ranges of Width ids each.
// Trailing intervals may be short or empty: with V = 50 and P = 7 the width is 8
// and the last interval holds 2 vertices.
//
// Those of several types of vertices (Uneven) may each be shorter than Width. Interval i still begins with id i·Width, and ids behind
// its last vertex do not exist, so that V is P·Width.
type Intervals struct {
	V, P, Width int
	Lens        []int // by interval: its number of vertices; nil: Width, but for the last ones

	// Whole, by interval a run of intervals of its type that it is one of, says that cells are not divided between these at their other end: the cell
	// of own interval o with the first interval of a run has all edges between o and the run, and other cells have none. A row of the run's k-th
	// interval is k·Run.Width rows further on. nil: cells are divided at both ends.
	Whole   []Run
	Reached int // with Whole: cells of an own interval, at most, whose other ends are of one type
}

// wideRows divides the widths of intervals of which cells reach over several, so that no room is left between rows of any size.
const wideRows = 128

// far is the cell, by its other interval, and the row there of row row of interval x.
func (n Intervals) far(x int, row uint32) (cell int, at uint32) {
	if n.Whole == nil {
		return x, row
	}
	r := &n.Whole[x]
	return r.First, uint32((x-r.First)*r.Width) + row
}

// FarWidth is how many rows the other end of a cell has at most, if its other interval is x.
func (n Intervals) FarWidth(x int) int {
	if n.Whole == nil {
		return n.Width
	}
	return n.Whole[x].N * n.Whole[x].Width
}

// fars is how many cells an own interval has at most with the intervals of one type.
func (n Intervals) fars() int {
	if n.Whole == nil {
		return n.P
	}
	return n.Reached
}

// AllFar, as Want.Wide, has cells reach over all intervals of a type.
const AllFar = MaxIntervals

// reach has the cells of n reach over wide intervals at their other end, which are runs of vertices of one type each.
func (n *Intervals) reach(runs []Run, wide int) {
	for _, r := range runs {
		cells := 0
		for k := 0; k < r.N; k += wide {
			part := Run{First: r.First + k, N: min(wide, r.N-k), Width: r.Width}
			n.Whole = append(n.Whole, slices.Repeat([]Run{part}, part.N)...)
			cells++
		}
		n.Reached = max(n.Reached, cells)
	}
}

// Uneven is intervals that begin at multiples of width; the i-th has lens[i] vertices, at most width.
func Uneven(width int, lens []int) (Intervals, error) {
	if len(lens) > MaxIntervals {
		return Intervals{}, fmt.Errorf("chunk: %d intervals, want 1 to %d", len(lens), MaxIntervals)
	}
	if width > MaxVertices/max(1, len(lens)) {
		return Intervals{}, fmt.Errorf("chunk: %d intervals of %d vertices: ids go up to %d", len(lens), width, MaxVertices)
	}
	return Intervals{V: width * len(lens), P: len(lens), Width: width, Lens: lens}, nil
}

// Run is the intervals of a vertex type: N of Width vertices, beginning with number First. Its vertices are dealt to the first Dealt of them.
type Run struct{ First, N, Dealt, Width int }

// Runs deals p intervals to types of so many vertices, so that the widest is as narrow as possible. There is at least one for each
// type, and each type has intervals of equal width. Intervals that are left over are empty ones of the last type.
func Runs(vertices []int, p int) []Run { return runs(vertices, p, 1) }

// WideRuns is Runs for cells that reach over several intervals (Intervals.Whole): widths are multiples of a number of rows.
func WideRuns(vertices []int, p int) []Run { return runs(vertices, p, wideRows) }

func runs(vertices []int, p, unit int) []Run {
	p = max(p, len(vertices))
	most := 0
	for _, v := range vertices {
		most = max(most, v)
	}
	need := func(width int) (sum int) {
		for _, v := range vertices {
			sum += (v + width - 1) / width
		}
		return sum
	}
	lo, hi := 1, max(1, most)
	for lo < hi {
		if mid := (lo + hi) / 2; need(mid) <= p {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	list, first := make([]Run, len(vertices)), 0
	for t, v := range vertices {
		k := max(1, (v+lo-1)/lo)
		list[t] = Run{First: first, N: k, Width: max(unit, (v+k*unit-1)/(k*unit)*unit)}
		first += k
	}
	list[len(list)-1].N += p - first
	for t, v := range vertices {
		r := &list[t]
		if r.Dealt = r.N; (v+r.N-1)/r.N < r.Width { // empty ones count where one type alone would have them
			r.Dealt = (v + r.Width - 1) / r.Width
		}
	}
	return list
}

// UnevenRuns is the intervals of types of so many vertices, dealt to runs.
func UnevenRuns(vertices []int, runs []Run) (Intervals, error) {
	width := 1
	var lens []int
	for t, r := range runs {
		width = max(width, r.Width)
		for i := range r.N {
			lens = append(lens, max(0, min(vertices[t], (i+1)*r.Width)-i*r.Width))
		}
	}
	return Uneven(width, lens)
}

// WholeRuns is UnevenRuns for cells that reach over wide intervals of a run.
func WholeRuns(vertices []int, runs []Run, wide int) (Intervals, error) {
	in, err := UnevenRuns(vertices, runs)
	in.reach(runs, wide)
	return in, err
}

// NewIntervals cuts v vertices into p intervals of ceil(v/p).
// It is an error when v is negative or above MaxVertices, or p is not in
// 1..MaxIntervals.
func NewIntervals(v, p int) (Intervals, error) {
	if v < 0 || v > MaxVertices {
		return Intervals{}, fmt.Errorf("chunk: %d vertices, want 0 to %d", v, MaxVertices)
	}
	if p < 1 || p > MaxIntervals {
		return Intervals{}, fmt.Errorf("chunk: %d intervals, want 1 to %d", p, MaxIntervals)
	}
	return Intervals{V: v, P: p, Width: (v + p - 1) / p}, nil
}

// WideIntervals is NewIntervals for cells that reach over wide intervals at their other end.
func WideIntervals(v, p, wide int) (Intervals, error) {
	in, err := NewIntervals(v, p)
	if err == nil {
		r := WideRuns([]int{v}, p)[0]
		in.Width = r.Width
		in.reach([]Run{r}, wide)
	}
	return in, err
}

// intervalsFor is p intervals of v vertices for cells that hold what w says.
func intervalsFor(v, p int, w Want) (Intervals, error) {
	if w.Wide > 0 {
		return WideIntervals(v, p, w.Wide)
	}
	return NewIntervals(v, p)
}

// Bounds is the range lo <= id < hi of interval i; lo = hi when it is empty.
func (n Intervals) Bounds(i int) (lo, hi int) {
	if n.Lens != nil {
		return i * n.Width, i*n.Width + n.Lens[i]
	}
	return min(i*n.Width, n.V), min((i+1)*n.Width, n.V)
}

// Rows is the number of vertices in interval i.
func (n Intervals) Rows(i int) int {
	lo, hi := n.Bounds(i)
	return hi - lo
}

// Of is the interval of vertex v, which must be in 0..V-1.
func (n Intervals) Of(v int) int { return v / n.Width }

// Coarsen joins neighbouring intervals into p of them; p must divide P. The
// result may be wider than NewIntervals(V, p) would make it, as the widths of the
// finer intervals were rounded up.
func (n Intervals) Coarsen(p int) (Intervals, error) {
	if p < 1 || n.P%p != 0 {
		return Intervals{}, fmt.Errorf("chunk: %d intervals cannot be joined into %d", n.P, p)
	}
	return Intervals{V: n.V, P: p, Width: n.Width * (n.P / p)}, nil
}
