package plan

import (
	"math"

	"sagann/mine/pattern"
)

// Work is what counting by formulas and in matrices does on a graph, in order of degree.
type Work struct {
	Vertices, Edges float64
	Reads           float64   // neighbours above a vertex, once for each vertex that names it
	Wedges          float64   // pairs of a vertex's neighbours of which one is above it and the other below that one
	Cliques         []float64 // how many there are, by number of vertices
	Listed          float64   // walks of two edges from roots of so few that their ends are listed
	Five            MapsWork  // of closed walks of five edges, as those of maps
	Host            float64   // bytes of rows that GPUs read from host memory
}

// Rates are the seconds that engines take for units of their work.
type Rates struct {
	Start    float64 // launches
	Vertex   float64 // that is visited
	Row      float64 // an edge whose row is looked through
	Read     float64 // a member of such a row
	Matrix   float64 // more for a member where its place is looked up: for a matrix, or for triangles at edges
	Place    float64 // and more for each doubling of the vertices from Near on
	Set      float64 // a set that is made in a matrix, one for each clique that is not the last but one
	Last     float64 // a clique of one vertex less than those that are counted
	Edge     float64 // a triangle counted at its edges
	Wedge    float64 // a wedge of a graph whose counters are near
	Doubling float64 // more for each doubling of the vertices from Near on
	Near     float64 // vertices
	List     float64 // more for a walk of two edges whose end may be listed: whether it is cannot be predicted
	Element  float64 // an element of a set that loops read
	Merge    float64 // more for an element of lists that are gone through side by side
	Bind     float64 // a vertex that loops bind
	Byte     float64 // of the link to host memory
	OfMaps   MapRates
	OfWalks  MapRates // closed walks of five edges
	OfRuns   RunRates
}

// RunRates are what a run takes beside its work.
type RunRates struct {
	Call   float64 // before and after a kernel, by the clock
	Listed float64 // a vertex, or a task of loops, that is listed
	Thread float64 // each thread that is started
	Fresh  float64 // a byte of memory that threads take
}

// MapRates are the rates of counting maps.
type MapRates struct {
	Visit  float64 // a vertex where a map has a number
	Pull   float64 // an entry whose number is added up
	Push   float64 // an entry that is added to, where there are at most Cached vertices
	Cached float64
	Far    float64 // more for each doubling above it: most entries are of vertices of many neighbours, which stay near
}

// Core are the rates of one thread of a server's CPU; measured on ca_condmat, twitch_de,
// blogcatalog and R-MAT graphs of 2^13 to 2^17 vertices, between those of a faster CPU
// and of a slower one; run.Speed is where a machine lies. A visit of walks reads a row that lies
// anywhere, one of maps mostly one that lies near.
var Core = Rates{Vertex: 40e-9, Row: 15e-9, Read: 1.2e-9, Matrix: 1e-9, Place: 0.25e-9, Set: 18e-9, Last: 1.6e-9, Edge: 3.5e-9, Wedge: 1.2e-9, Near: 1 << 14, List: 4e-9,
	Element: 1.6e-9, Merge: 1.6e-9, Bind: 80e-9, OfMaps: MapRates{Visit: 11e-9, Pull: 1e-9, Push: 1.3e-9, Cached: 1 << 13, Far: 0.1e-9},
	OfWalks: MapRates{Visit: 22e-9, Pull: 1.1e-9, Push: 1.6e-9, Cached: 1 << 14, Far: 1e-9}, OfRuns: RunRates{Thread: 40e-6, Fresh: 0.15e-9}}

// H200 are the rates of one such GPU; measured on R-MAT graphs of 2^20 and 2^22 vertices,
// loops on those of 2^14 to 2^18, closed walks on those of 2^14 to 2^20; a wedge is counted by the
// kernel that counts a walk of two edges, and takes what OfWalks says of one.
var H200 = Rates{Start: 1e-4, Read: 1.9e-12, Set: 0.1e-9, Last: 12e-12, Edge: 5.7e-12, Wedge: 7e-12, Doubling: 4.5e-12, Near: 1 << 18,
	Element: 5.5e-12, Bind: 0.45e-9, Byte: 1 / 51e9, OfMaps: MapRates{Visit: 0.03e-9, Pull: 5e-12, Push: 9e-12, Cached: 1 << 13, Far: 5.5e-12},
	OfWalks: MapRates{Pull: 3.2e-12, Push: 7e-12, Cached: 1 << 18, Far: 4.5e-12},
	OfRuns:  RunRates{Call: 0.15e-3, Listed: 11e-9}}

// Crowd is what each thread more adds to the time of all, as a share: clocks are lower and
// caches are shared. 16 threads of a server take a fifth more.
const Crowd = 0.2 / 15

// H200Processors is the number of multiprocessors of an H200.
const H200Processors = 132

// Clique is the seconds that counting cliques of k vertices takes, 3 or more.
func (r Rates) Clique(w Work, k int) float64 {
	t := r.Start + r.Vertex*w.Vertices + r.Row*w.Edges + r.Read*w.Reads
	if k > 3 {
		t += r.Set*w.Edges + r.Last*w.Cliques[k-1] + w.Reads*(r.Matrix+r.Place*r.doublings(w))
	}
	for j := 3; j < k-1; j++ {
		t += r.Set * w.Cliques[j]
	}
	return r.linked(t, w)
}

// doublings is how often the vertices are doubled from Near on.
func (r Rates) doublings(w Work) float64 { return max(0, math.Log2(w.Vertices/r.Near)) }

// linked is the time of work beside the link's. They overlap, the shorter one mostly: about
// four tenths of it come on top.
func (r Rates) linked(t float64, w Work) float64 {
	link := r.Byte * w.Host
	return max(t, link) + 0.4*min(t, link)
}

// Formula is the seconds that computing the quantities of a formula takes.
func (r Rates) Formula(f pattern.Formula, w Work) float64 {
	t, edges, triangles := r.Vertex*w.Vertices, false, false
	for _, term := range f {
		switch term.Of {
		case pattern.EdgePairs, pattern.Tails:
			edges = true
		case pattern.Triangles:
			triangles = true
		case pattern.FourCycles:
			t += r.Start + r.Row*w.Edges + w.Wedges*(r.Wedge+r.Doubling*r.doublings(w)) + r.List*w.Listed
		case pattern.FourCliques:
			t += r.Clique(w, 4)
		case pattern.FiveWalks:
			t += r.Start + r.OfWalks.time(w.Five, w.Vertices) + r.List*w.Listed
		}
	}
	if edges || triangles { // those at edges give all of them
		t += r.Clique(w, 3)
	}
	if edges {
		t += r.Edge*w.Cliques[3] + r.Matrix*w.Reads
	}
	return t
}

// Loops is the seconds that the loops of a plan take.
func (r Rates) Loops(e Estimate, w Work) float64 {
	t := r.Start + r.Element*e.Work + r.Merge*e.Merged
	for _, n := range e.Nodes[:e.Loops] {
		t += r.Bind * n
	}
	return r.linked(t, w)
}

// Maps is the seconds that counting maps in a graph of so many vertices takes, without the
// triangles at edges.
func (r Rates) Maps(w MapsWork, vertices float64) float64 {
	return r.Start + r.OfMaps.time(w, vertices)
}

// time is the seconds that work takes in a graph of so many vertices.
func (r MapRates) time(w MapsWork, vertices float64) float64 {
	far := r.Far * max(0, math.Log2(vertices/r.Cached))
	return r.Visit*w.Visits + r.Pull*w.Pulled + (r.Push+far)*w.Pushed
}

// Threads is the seconds that so many threads beside the first, and the bytes of memory that all
// take, add to a count: short ones take no less than that.
func (r Rates) Threads(more, bytes float64) float64 {
	return r.OfRuns.Thread*more + r.OfRuns.Fresh*bytes
}

// Host is the seconds that a run of so many kinds of kernels takes beside them, in which so many
// vertices or tasks are listed.
func (r Rates) Host(kernels int, listed float64) float64 {
	return r.OfRuns.Call*float64(kernels) + r.OfRuns.Listed*listed
}
