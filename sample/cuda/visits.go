package cuda

// Visits says that rows are of the vertices that walks from theirs visit most, each with its share of their visits as weight.
type Visits struct {
	Functions string // the text of next, which reads no sample but the transit
	Walks     []int  // of a row at each hop,
	Length    int    // of so many moves
}

// MostSeen is how many moves the walks of a row may make together: all that they see lies in shared memory.
const MostSeen = 512

// shared is the bytes of shared memory of a block: sums, counts and places of rows, and what their walks saw.
func (v *Visits) shared(hop int, s shape) int { return 4 * (32 + s.rows*(2+3*v.Walks[hop]*v.Length)) }

// shapeAt is shapeOf a hop. Of visits a row has a lane for each walk, and more where rows that see much would not find room beside each other.
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
