package chunk

// Edges is a directed multigraph as the user gave it: vertex ids 0..V-1, E edges
// in stored order. Optional values of edges are in the same order. Self loops
// and repeated edges are allowed.
type Edges struct {
	V        int       // number of vertices
	Src, Dst []uint32  // E each: edge e goes from Src[e] to Dst[e]
	Weight   []float32 // nil, or one scalar an edge
	Type     []uint32  // nil, or the edge type, 0..Types-1
	Types    int       // number of edge types; 0 when Type is nil
	Data     []float32 // nil, or E×DataCols row-major: a vector an edge
	DataCols int       // width of Data
	Time     []float64 // nil, or a time an edge; -Inf: it is always there, as a self loop that a model adds
}

// E is the number of edges.
func (e *Edges) E() int { return len(e.Src) }
