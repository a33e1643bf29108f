package dataset

import "sagann/chunk"

// Across is the first edge of d that joins vertices of two graphs, or -1. Such edges come of ends that count within their graph,
// where those of each graph should follow those of the one before.
func Across(d *Data) int {
	e := d.Edges
	if d.GraphOf == nil {
		return -1
	}
	return chunk.First(e.E(), func(lo, hi int) int {
		for i := lo; i < hi; i++ {
			if d.GraphOf[e.Src[i]] != d.GraphOf[e.Dst[i]] {
				return i
			}
		}
		return -1
	})
}
