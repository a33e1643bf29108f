package batches

import (
	"math"
	"math/bits"
	"slices"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/sample"
)

// Rooms are the sizes of batches: those that were drawn for planning, and those that plans have room for.
type Rooms struct {
	Expected dataflow.Sizes // mean of the batches that were drawn for planning
	Spread   dataflow.Sizes // six standard deviations of their sizes
	Most     dataflow.Sizes // the largest batch that the plan has room for

	d       *Draws
	largest dataflow.Sizes // the largest batch that can come, or Most
	came    arrivals       // on GPUs: how often the row of a vertex came over the link
}

// roomStep is the multiple that room is rounded up to: the sizes of strips and tiles of rows divide it.
const roomStep = 256

func roundRoom(x float64) int { return (int(math.Ceil(x)) + roomStep - 1) / roomStep * roomStep }

// vertices is the number of vertices of a type.
func (d *Draws) vertices(typ int) int {
	if d.Kinds == nil {
		return d.graph.Rows.Vertices()
	}
	return d.Kinds.Types[typ].Edges.V
}

// repeats tells whether a vertex can be in a level several times: once for each seed that it was drawn for, or for each time.
func (d *Draws) repeats() bool { return d.Sampler.Output == sample.Apart || d.Past != "" }

// mostVertices is the most vertices that a vertex set can have. With separate subgraphs (sample.Apart) and with times a vertex can be in
// that of every seed, so there is no bound.
func (d *Draws) mostVertices(set int) int {
	if d.repeats() {
		return math.MaxInt
	}
	_, typ := d.Numbers().Level(set)
	return d.vertices(typ)
}

// mostEdges is the most edges that an edge set can have.
func (d *Draws) mostEdges(set int) int {
	_, r := d.Numbers().Block(set)
	s := &d.each[r].sampler
	if s.Replace || s.Top > 0 || s.Over != sample.Individual || d.repeats() {
		return math.MaxInt
	}
	if d.far != nil {
		return d.In.EdgeCount()
	}
	return d.each[r].graph.Edges()
}

// Hot lists the n vertices whose rows come over the link most often. Among equals, vertices with more out-edges precede,
// and then those of lower number.
func (r *Rooms) Hot(n int) []uint32 { return mostOften(n, r.came.times, r.d.In.Edges.OutDegrees()) }

// mostPairs is the number of pairs of a full batch; 0 if items are no pairs.
func (d *Draws) mostPairs() int {
	switch n := d.Full(); d.Task {
	case dataset.EdgeLabels:
		return n
	case dataset.LinkLabels:
		return 2 * n
	}
	return 0
}

// Sets is the sizes of sets and cells that plans of l provide memory for.
func (r *Rooms) Sets(l *dataflow.Lowered) *plan.Sets {
	z := &plan.Sets{Rows: append([]int{0}, r.Most.Vertices...), Edges: append([]int{0}, r.Most.Edges...), Cells: make([][2]int64, len(r.Most.Edges)+1), Types: r.d.types()}
	for e, dirs := range walks(l) {
		for d, used := range dirs {
			if !used {
				continue
			}
			src, dst := r.d.ends(e)
			own := z.Rows[dst]
			if plan.Dir(d) == plan.CSR {
				own = z.Rows[src]
			}
			_, of := r.d.Numbers().Block(e)
			z.Cells[e][d] = chunk.CellSize(own, own, int64(z.Edges[e]), l.Want.Of(of), r.d.dataCols(of), 0)
		}
	}
	return z
}

// walks tells which cells l reads, by edge set and direction.
func walks(l *dataflow.Lowered) [][2]bool {
	var list [][2]bool
	for _, ph := range l.Spec.Phases {
		for _, st := range ph.Steps {
			if st.Kind == plan.Stream {
				for len(list) <= int(st.Set) {
					list = append(list, [2]bool{})
				}
				list[st.Set][st.Dir.Way()] = true
			}
		}
	}
	return list
}

// Widen makes room for a batch with these numbers of vertices and edges, and a sixteenth more: a later batch may
// be larger still.
func (r *Rooms) Widen(vertices, edges []int) {
	grow := func(room *int, n, most int) {
		if n > *room {
			*room = min(most, roundRoom(float64(n)*17/16))
		}
	}
	for l, n := range vertices {
		grow(&r.Most.Vertices[l], n, r.d.mostVertices(l+1))
	}
	for l, n := range edges {
		grow(&r.Most.Edges[l], n, r.d.mostEdges(l+1))
	}
}

// Largest makes room for the largest batch that can be drawn, where that is not much more than what was expected.
func (r *Rooms) Largest() {
	larger := func(a, b []int) (list []int) {
		for i := range a {
			list = append(list, max(a[i], b[i]))
		}
		return list
	}
	r.Most = dataflow.Sizes{Numbers: r.Most.Numbers, Vertices: larger(r.largest.Vertices, r.Most.Vertices), Edges: larger(r.largest.Edges, r.Most.Edges)}
}

// fewRows is a number of rows or edges that planning need not spare.
const fewRows = 4096

// findLargest sets r.largest to the sizes of the largest batch that can be drawn, where these are not much more than what was
// expected, or where few batches were drawn to expect it; elsewhere the sizes are r.Most. With memory for it no later batch needs more.
func (r *Rooms) findLargest() {
	d := r.d
	x := dataflow.Sizes{Numbers: r.Most.Numbers, Vertices: slices.Clone(r.Most.Vertices), Edges: slices.Clone(r.Most.Edges)}
	defer func() { r.largest = x }()
	if d.far != nil { // a rank does not know the rows of others
		return
	}
	widen := func(room *int, most int) {
		if most <= fewRows || most <= 2*(*room) || d.Tries() < presampled && most < math.MaxInt32 {
			*room = max(*room, most)
		}
	}
	n, types := d.Numbers(), d.types()
	rows := make([]int, types) // by type: the most vertices of the level
	switch {
	case d.paired():
		d.endsOfPairs(rows)
		_, dst := d.ends(d.pairs())
		_, t := n.Level(dst)
		widen(&x.Vertices[dst-1], rows[t])
	case d.Task == dataset.VertexLabels && d.kind.exact():
		rows[d.target()] = min(d.mostVertices(d.target()+1), d.Full())
	default:
		rows[d.target()] = d.mostVertices(d.target() + 1)
	}
	for l := d.base(); l < len(x.Vertices)/types; l++ {
		more := make([]int, types)
		for t := range rows {
			widen(&x.Vertices[n.Vertex(l, t)-1], rows[t])
		}
		for r := range d.each {
			e := n.Edge(l, r)
			if e > len(x.Edges) {
				break
			}
			of := &d.each[r]
			edges := d.mostEdges(e)
			if list := of.most(); l-d.base() < len(list) {
				edges = min(edges, saturated(rows[of.Dst], list[l-d.base()]))
			}
			widen(&x.Edges[e-1], edges)
			more[of.Src] = added(more[of.Src], min(edges, d.mostVertices(n.Vertex(l, of.Src))-rows[of.Src]))
		}
		for t := range rows {
			rows[t] = min(d.mostVertices(n.Vertex(l, t)), added(rows[t], more[t]))
		}
	}
}

// added is a plus b, or the largest number; none is negative.
func added(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// saturated is a times b, or the largest number; none is negative.
func saturated(a, b int) int {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo <= math.MaxInt {
		return int(lo)
	}
	return math.MaxInt
}

// endsOfPairs sets the most vertices, by type, at the ends of the pairs of a batch.
func (d *Draws) endsOfPairs(rows []int) {
	n := d.mostPairs()
	if d.Kinds == nil {
		rows[0] = min(d.mostVertices(1), 2*n)
		return
	}
	x := &d.Kinds.Relations[d.Kinds.Links]
	for _, t := range []int{x.Src, x.Dst} {
		if rows[t] += n; !d.repeats() {
			rows[t] = min(d.vertices(t), rows[t])
		}
	}
}
