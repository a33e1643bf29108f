package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/chunk"
)

// Metapath is a relation that is made of others: an edge from u to v where a path along Steps leads from u to v. A step is the name
// of a relation, or ~ and its name to go against its direction.
type Metapath struct {
	Name  string
	Steps []string
}

// ParseMetapath reads NAME=STEP,STEP,…, such as pap=~writes,writes.
func ParseMetapath(text string) (m Metapath, err error) {
	name, steps, ok := strings.Cut(text, "=")
	if m = (Metapath{name, strings.Split(steps, ",")}); !ok || name == "" || slices.Contains(m.Steps, "") || slices.Contains(m.Steps, "~") {
		return m, fmt.Errorf("%.80q: want NAME=RELATION,RELATION, with ~RELATION to go against its direction", text)
	}
	return m, nil
}

// maxPathEdges bounds the edges that a metapath may have.
const maxPathEdges = 1 << 31

// AddMetapaths adds a relation for each metapath, from relations that h has already. Its edges are different, ascend by source and then by
// target, and have no weights; they have times if edges of steps do. It takes time for all paths, and memory for the edges.
func (h *Hetero) AddMetapaths(list []Metapath) error {
	own := len(h.Relations) // those of the graph, by which paths go
	for _, m := range list {
		r, err := h.path(m, own)
		if err != nil {
			return fmt.Errorf("metapath %.40q: %w", m.Name, err)
		}
		h.Relations = append(h.Relations, *r)
	}
	return h.sorted()
}

// pathStep is a relation as lists of the far ends of each vertex.
type pathStep struct {
	from, to int // types
	ptr      []int
	far      []uint32
	time     []float64 // of far; nil: without times
}

// path makes one relation of the first own.
func (h *Hetero) path(m Metapath, own int) (*Relation, error) {
	graph := &Hetero{Name: h.Name, Types: h.Types, Relations: h.Relations[:own]}
	var steps []pathStep
	for i, name := range m.Steps {
		name, against := strings.CutPrefix(name, "~")
		r, err := graph.Relation(name)
		if err != nil {
			return nil, err
		}
		s := graph.step(r, against)
		if i > 0 && steps[i-1].to != s.from {
			return nil, fmt.Errorf("step %d, %s, begins at vertices of type %.40q, and the step before ends at %.40q", i, m.Steps[i], h.Types[s.from].Name, h.Types[steps[i-1].to].Name)
		}
		steps = append(steps, s)
	}
	e, err := h.alongAll(steps)
	if err != nil {
		return nil, err
	}
	d := &Data{Edges: e}
	d.Report.Changes = []string{"made of paths along " + strings.Join(m.Steps, ", ")}
	return &Relation{steps[0].from, m.Name, steps[len(steps)-1].to, d}, nil
}

// alongAll is an edge for each two vertices that a path along steps joins. If edges have times, a path is there from its latest edge on, and
// its edge from the first path on; paths whose steps have no times are always there.
func (h *Hetero) alongAll(steps []pathStep) (*chunk.Edges, error) {
	n := h.Types[steps[0].from].Rows.Edges.V
	e := &chunk.Edges{V: max(n, h.Types[steps[len(steps)-1].to].Rows.Edges.V)}
	timed := slices.ContainsFunc(steps, func(s pathStep) bool { return s.time != nil })
	marks := make([][]int, len(steps)) // by step: the source, plus one, from which a vertex was reached last
	since := make([][]float64, len(steps)+1)
	for i, s := range steps {
		marks[i] = make([]int, h.Types[s.to].Rows.Edges.V)
		if timed {
			since[i+1] = make([]float64, len(marks[i]))
		}
	}
	if timed {
		since[0] = slices.Repeat([]float64{math.Inf(-1)}, n)
	}
	var at, next []uint32
	for u := range n {
		at = append(at[:0], uint32(u))
		for i, s := range steps {
			next = next[:0]
			for _, v := range at {
				for k := s.ptr[v]; k < s.ptr[v+1]; k++ {
					w := s.far[k]
					again := marks[i][w] == u+1
					if !again {
						marks[i][w], next = u+1, append(next, w)
					}
					if !timed {
						continue
					}
					x := since[i][v]
					if s.time != nil {
						x = max(x, s.time[k])
					}
					if again {
						x = min(x, since[i+1][w])
					}
					since[i+1][w] = x
				}
			}
			at, next = next, at
		}
		slices.Sort(at)
		if e.E()+len(at) > maxPathEdges {
			return nil, fmt.Errorf("more than %d edges", maxPathEdges)
		}
		for _, v := range at {
			e.Src, e.Dst = append(e.Src, uint32(u)), append(e.Dst, v)
			if timed {
				e.Time = append(e.Time, since[len(steps)][v])
			}
		}
	}
	if timed && e.Time == nil {
		e.Time = []float64{}
	}
	return e, nil
}

// step lists the far ends of each vertex along a relation.
func (h *Hetero) step(r int, against bool) pathStep {
	x := h.Relations[r]
	s, e := pathStep{from: x.Source, to: x.Target}, x.Links.Edges
	if against {
		s.from, s.to, e = s.to, s.from, e.Reverse()
	}
	s.ptr = make([]int, h.Types[s.from].Rows.Edges.V+1)
	for _, u := range e.Src {
		s.ptr[u+1]++
	}
	for u := range len(s.ptr) - 1 {
		s.ptr[u+1] += s.ptr[u]
	}
	s.far = make([]uint32, e.E())
	fill := slices.Clone(s.ptr)
	if e.Time != nil {
		s.time = make([]float64, e.E())
	}
	for k, u := range e.Src {
		s.far[fill[u]] = e.Dst[k]
		if e.Time != nil {
			s.time[fill[u]] = e.Time[k]
		}
		fill[u]++
	}
	return s
}
