package cuda

// Visits makes rows of the vertices that walks from the row's vertex visit most. A weight is the share of
// the visits.
type Visits struct {
	Functions string // the CUDA text of next, which must read only the transit
	Walks     []int  // walks per row at each hop
	Length    int    // steps per walk
}

// MostSeen is the largest number of steps of all walks of a row together: the vertices that they visit
// are in shared memory.
const MostSeen = 512

// shared is the bytes of shared memory of a block: sums, counts and places of rows, and the vertices that
// their walks visit.
func (v *Visits) shared(hop int, s shape) int { return 4 * (32 + s.rows*(2+3*v.Walks[hop]*v.Length)) }

// shapeAt is shapeOf for a hop. With Visits a row has a lane per walk, or more if the rows of a block, which
// hold all vertices that their walks visit, need more than an eighth of shared memory.
func (f *Fanouts) shapeAt(hop int, rows int64, processors int) shape {
	v, k := f.Visits, f.Sizes[hop]
	if v == nil {
		return f.shapeOf(k, rows, processors)
	}
	s := shape{draws: k, lanes: 1, rows: threads, each: 1}
	for s.lanes < 32 && (s.lanes < v.Walks[hop] || v.shared(hop, s) > mostShared/8) {
		s.lanes, s.rows = 2*s.lanes, s.rows/2
	}
	return s
}
