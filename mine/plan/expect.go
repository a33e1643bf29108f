package plan

import (
	"math"

	"sagann/mine/pattern"
)

// Work is how much counting by formulas and in bit matrices does on a graph whose vertices are in
// order of degree.
type Work struct {
	Vertices, Edges float64
	Reads           float64   // Σ over edges (u, v), u before v: neighbours above v
	Wedges          float64   // pairs of neighbours of a vertex: one is above the vertex, the other below the first
	Cliques         []float64 // number of cliques, by number of vertices
	Listed          float64   // walks of two edges from those roots whose walks are so few that their ends are listed
	Five            MapsWork  // of closed walks of five edges
	Host            float64   // bytes of rows that GPUs read from host memory
}

// Rates are the seconds that engines take for one unit of each kind of work.
type Rates struct {
	Start    float64 // launching kernels, once a count
	Vertex   float64 // visiting a vertex
	Row      float64 // reading the row of an edge's end
	Read     float64 // reading an entry of such a row
	Matrix   float64 // added to Read if the entry's place is looked up: for a matrix, or for triangles at edges
	Place    float64 // added to Matrix for each doubling of the vertices from Near on
	Set      float64 // making a set in a matrix: one for each edge, and each clique of 3 to k-2 vertices
	Last     float64 // a clique of k-1 vertices, when cliques of k are counted
	Edge     float64 // counting a triangle at its three edges
	Wedge    float64 // counting a wedge in a graph of at most Near vertices, whose counters are cached
	Doubling float64 // added to Wedge for each doubling of the vertices from Near on
	Near     float64 // number of vertices
	List     float64 // added for a walk of two edges whose end may be listed: the branch is unpredictable
	Element  float64 // reading an element of a set in a loop
	Merge    float64 // added to Element where two sorted lists are merged
	Bind     float64 // binding a vertex in a loop
	Byte     float64 // reading a byte over the link to host memory
	OfMaps   MapRates
	OfWalks  MapRates // for closed walks of five edges
	OfRuns   RunRates
}

// MNIRates are the rates of finding frequent patterns of two edges by domains.
type MNIRates struct {
	Candidate float64 // making a candidate
	Vertex    float64 // a vertex of the domains that a candidate begins with
}

// CoreMNI are the rates of the thread of Core.
var CoreMNI = MNIRates{Candidate: 5.6e-6, Vertex: 8.3e-9}

// Seconds is for so many candidates, whose domains begin with so many vertices together.
func (r MNIRates) Seconds(candidates, vertices float64) float64 {
	return r.Candidate*candidates + r.Vertex*vertices
}

// RunRates are the seconds that a run takes in addition to its work.
type RunRates struct {
	Call   float64 // preparing a kind of kernel and reading its results
	Listed float64 // listing a root, or a task of loops, for the kernels
	Thread float64 // starting a thread
	Fresh  float64 // a byte of memory that the threads take
}

// MapRates are the rates of counting maps.
type MapRates struct {
	Visit  float64 // visiting a vertex that has a number
	Pull   float64 // reading a neighbour's number and adding it up
	Push   float64 // adding to a neighbour's number, in a graph of at most Cached vertices
	Cached float64 // number of vertices
	// Far is added to Push for each doubling of the vertices above Cached. It is small: most entries are
	// vertices of high degree, whose numbers stay in the cache.
	Far float64
}

// Core are the rates of one thread of a server's CPU. They were measured on ca_condmat, twitch_de,
// blogcatalog and R-MAT graphs of 2^13 to 2^17 vertices, and lie between the rates of a faster CPU
// and of a slower one. run.Speed compares a machine with them. A visit costs more for walks
// than for maps: walks read rows from all over the memory, maps mostly rows in the cache.
var Core = Rates{Vertex: 40e-9, Row: 15e-9, Read: 1.2e-9, Matrix: 1e-9, Place: 0.25e-9, Set: 18e-9, Last: 1.6e-9, Edge: 3.5e-9, Wedge: 1.2e-9, Near: 1 << 14, List: 4e-9,
	Element: 1.6e-9, Merge: 1.6e-9, Bind: 80e-9, OfMaps: MapRates{Visit: 11e-9, Pull: 1e-9, Push: 1.3e-9, Cached: 1 << 13, Far: 0.1e-9},
	OfWalks: MapRates{Visit: 22e-9, Pull: 1.1e-9, Push: 1.6e-9, Cached: 1 << 14, Far: 1e-9}, OfRuns: RunRates{Thread: 40e-6, Fresh: 0.15e-9}}

// H200 are the rates of one H200 GPU. They were measured on R-MAT graphs of 2^20 and 2^22 vertices;
// those of loops on 2^14 to 2^18 vertices, of closed walks on 2^14 to 2^20. Wedges are counted by the
// kernel that counts walks of two edges, so Wedge equals OfWalks.Push.
var H200 = Rates{Start: 1e-4, Read: 1.9e-12, Set: 0.1e-9, Last: 12e-12, Edge: 5.7e-12, Wedge: 7e-12, Doubling: 4.5e-12, Near: 1 << 18,
	Element: 5.5e-12, Bind: 0.45e-9, Byte: 1 / 51e9, OfMaps: MapRates{Visit: 0.03e-9, Pull: 5e-12, Push: 9e-12, Cached: 1 << 13, Far: 5.5e-12},
	OfWalks: MapRates{Pull: 3.2e-12, Push: 7e-12, Cached: 1 << 18, Far: 4.5e-12},
	OfRuns:  RunRates{Call: 0.15e-3, Listed: 11e-9}}

// Crowd is the share by which each further thread slows all threads down, since clocks are lower
// and caches are shared. 16 threads of a server take a fifth more time each.
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

// doublings is how often Near must be doubled to reach the number of vertices; 0 if that is less.
func (r Rates) doublings(w Work) float64 { return max(0, math.Log2(w.Vertices/r.Near)) }

// linked is the time of t seconds of work together with the reads over the link. The two overlap,
// but not fully: about four tenths of the shorter one are added to the longer one.
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
	if edges || triangles { // counting triangles at edges counts all triangles, too
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

// Maps is the seconds that counting maps takes in a graph with so many vertices, without counting the
// triangles at edges.
func (r Rates) Maps(w MapsWork, vertices float64) float64 {
	return r.Start + r.OfMaps.time(w, vertices)
}

// time is the seconds that w takes in a graph with so many vertices.
func (r MapRates) time(w MapsWork, vertices float64) float64 {
	far := r.Far * max(0, math.Log2(vertices/r.Cached))
	return r.Visit*w.Visits + r.Pull*w.Pulled + (r.Push+far)*w.Pushed
}

// Threads is the seconds that it takes to start so many more threads after the first one, and to take
// the bytes of memory of all threads. No count is faster than that.
func (r Rates) Threads(more, bytes float64) float64 {
	return r.OfRuns.Thread*more + r.OfRuns.Fresh*bytes
}

// Host is the seconds that a run on GPUs takes in addition to its kernels. kernels is the number of kinds
// of kernels, listed the number of roots or tasks that the host lists for them.
func (r Rates) Host(kernels int, listed float64) float64 {
	return r.OfRuns.Call*float64(kernels) + r.OfRuns.Listed*listed
}
