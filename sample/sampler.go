package sample

import "fmt"

// Sampler says how samples are drawn.
type Sampler struct {
	Name  string
	Steps int                // how often vertices draw
	Size  func(step int) int // draws of each vertex at a step, from 0

	// Replace draws with replacement. Without it a draw takes another edge than those
	// before it; parallel edges are edges of their own. A vertex that has no more than Size
	// edges then takes its whole row, in order.
	Replace bool

	// KeepLoops takes the edges from a vertex to itself always, beside Size others.
	KeepLoops bool
}

// Neighbours draws as many in-edges of each vertex as the fan-outs say, the first for the
// seeds, each edge with equal probability and without replacement (GraphSAGE: Hamilton,
// Ying and Leskovec, 2017). At every step all vertices so far draw.
func Neighbours(fanouts ...int) Sampler {
	return Sampler{Name: "neighbours", Steps: len(fanouts), Size: func(step int) int { return fanouts[step] }}
}

// Program is a sampler made ready for a graph. Any number of goroutines may use it.
type Program struct {
	g     *Graph
	s     Sampler
	sizes []int
	tools tools
}

// Compile checks a sampler and makes it ready for a graph.
func Compile(g *Graph, s Sampler) (*Program, error) {
	p := &Program{g: g, s: s}
	if s.Steps < 1 || s.Size == nil {
		return nil, fmt.Errorf("sampler %s: it needs one step or more, and a Size for each", s.Name)
	}
	for step := range s.Steps {
		n := s.Size(step)
		if n < 1 {
			return nil, fmt.Errorf("sampler %s: %d draws at step %d: a fan-out is at least 1", s.Name, n, step+1)
		}
		p.sizes = append(p.sizes, n)
	}
	return p, nil
}
