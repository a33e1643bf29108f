package saga

import (
	"math"

	"sagann/chunk"
	"sagann/dataflow/plan"
)

// Shape is what planning needs to know of a graph whose data is not at hand.
type Shape struct {
	Vertices, Features, Classes int
	Edges                       int64
	// Skew is the exponent a of the degrees, 0 to 2: the vertex with the r-th largest degree has a
	// degree proportional to r^-a. 0: all are equal. It decides how many rows of a cell are empty.
	Skew float64

	in, out *spread      // distributions of the degrees; nil: by Skew
	kinds   *kindsSpread // of several vertex types; nil: there is one
}

// sizes are the expected sizes of the p×p grid, with what cells of each relation must carry.
func (s *Shape) sizes(p int, want chunk.Wants) *plan.Cells {
	if s.kinds != nil {
		return s.kinds.cells(p, want)
	}
	return s.cells(p, want.Of(0))
}

// cells are the expected sizes of the p×p grid. All cells are taken to be equal, since the vertex
// order deals vertices of high degree evenly over the intervals.
func (s *Shape) cells(p int, want chunk.Want) *plan.Cells {
	width, fars, far, owns := (s.Vertices+p-1)/p, p, 0, p // owns: intervals that have rows
	if far = width; want.Wide > 0 {
		width = chunk.WideRuns([]int{s.Vertices}, p)[0].Width
		owns = max(1, (s.Vertices+width-1)/width)
		reach := min(want.Wide, p)
		fars, far = (owns+reach-1)/reach, reach*width
	}
	c := plan.NewCells(s.Vertices, p, width, 2)
	c.Wide = want.Wide
	nnz := s.Edges / int64(owns) / int64(fars)
	into, from := s.nonEmpty(width, owns, fars), 0
	if from = into; s.in != nil {
		into, from = s.in.nonEmpty(width, owns, fars), s.out.nonEmpty(width, owns, fars)
	}
	for d, on := range [2]bool{plan.CSC: want.CSC, plan.CSR: want.CSR} {
		if !on {
			continue
		}
		rows, needs := into, from
		if d == int(plan.CSR) {
			rows, needs = from, into
		}
		bytes := chunk.CellSize(width, rows, nnz, want, 0, far)
		c.Bytes[d], c.NNZ[d], c.Needs[d] = make([]int64, p*p), make([]int64, p*p), make([]int64, p*p)
		for i := range p * p {
			if c.Begins(c.Span(0), i%p) && i%p < owns && i/p < owns || c.Wide == 0 {
				c.Bytes[d][i], c.NNZ[d][i], c.Needs[d][i] = bytes, nnz, int64(needs)
			}
		}
	}
	return c
}

// nonEmpty is the expected number of the rows of one of own intervals that have an edge in a given one of far cells. A
// vertex of degree d has none of its edges in a given one of them with probability
// e^(-d/far). Ranks are sampled on a logarithmic scale.
func (s *Shape) nonEmpty(width, own, far int) int {
	v := float64(s.Vertices)
	var weight, sum float64
	const samples = 4096
	step := math.Log(v+1) / samples
	each := func(f func(rank, vertices float64)) {
		for i := range samples {
			lo, hi := math.Exp(float64(i)*step), math.Exp(float64(i+1)*step)
			f(math.Sqrt(lo*hi), hi-lo)
		}
	}
	each(func(r, n float64) { weight += n * math.Pow(r, -s.Skew) })
	each(func(r, n float64) {
		degree := float64(s.Edges) * math.Pow(r, -s.Skew) / weight
		sum += n * -math.Expm1(-degree/float64(far))
	})
	return min(width, int(math.Round(sum/float64(own))))
}
