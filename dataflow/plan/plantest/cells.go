package plantest

import (
	"sagann/dataflow/plan"
)

// FullCells is a grid whose cells all have the same number of edges and, unless needs is
// 0, read that many rows of the far interval.
func FullCells(v, p int, nnz, needs int64) *plan.Cells {
	c := plan.NewCells(v, p, (v+p-1)/p, 2)
	for range p * p {
		for d := range 2 {
			c.NNZ[d], c.Bytes[d] = append(c.NNZ[d], nnz), append(c.Bytes[d], 64*(1+nnz/8))
			if needs > 0 {
				c.Needs[d] = append(c.Needs[d], needs)
			}
		}
	}
	return c
}
