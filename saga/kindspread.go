package saga

import (
	"runtime"
	"sync"

	"sagann/chunk"
	"sagann/dataflow/plan"
)

// kindsSpread is what the sizes of cells of a graph of several vertex types are estimated from: counting them means to number all edges anew
// for every number of intervals.
type kindsSpread struct {
	vertices  []int // by type
	relations []relationSpread
	pairs     [][2]int // by relation: the types at its ends
}

// relationSpread is the edges of a relation, and how many each vertex has at either end.
type relationSpread struct {
	edges, dataCols int
	in, out         *spread
}

// spread counts the degrees in all relations. It also returns those of the types.
func (k *kinds) spread() (*kindsSpread, []typeDegrees) {
	s := &kindsSpread{pairs: k.pairs(), relations: make([]relationSpread, len(k.relations))}
	for i := range k.types {
		s.vertices = append(s.vertices, k.types[i].in.Edges.V)
	}
	types := k.degrees(func(r int, in, out []uint32) {
		e := k.relations[r].in.Edges
		s.relations[r] = relationSpread{e.E(), e.DataCols, spreadOf(in), spreadOf(out)}
	})
	return s, types
}

// typeDegrees are the degrees of the vertices of a type, over all relations, and how many edges these have.
type typeDegrees struct {
	in, out []uint32
	edges   int
}

// degrees counts the degrees of the vertices of every type. Unless of is nil, degrees calls it for every relation, side by side, with the degrees in
// it, which are gone afterwards.
func (k *kinds) degrees(of func(r int, in, out []uint32)) []typeDegrees {
	types, locks := make([]typeDegrees, len(k.types)), make([]sync.Mutex, len(k.types))
	for t := range types {
		v := k.types[t].in.Edges.V
		types[t] = typeDegrees{in: make([]uint32, v), out: make([]uint32, v)}
	}
	add := func(t int, sums, n []uint32, edges int) {
		locks[t].Lock()
		defer locks[t].Unlock()
		for v, n := range n[:min(len(n), len(sums))] {
			sums[v] += n
		}
		types[t].edges += edges
	}
	var scratch sync.Pool
	k.eachRelation(func(r int, alone bool) {
		x, e := &k.relations[r], k.relations[r].in.Edges
		var in, out []uint32
		if alone {
			both, _ := scratch.Get().(*[]uint32)
			if both == nil || len(*both) < 2*e.V {
				both = &[]uint32{}
				*both = make([]uint32, 2*e.V)
			}
			defer scratch.Put(both)
			in, out = (*both)[:e.V], (*both)[e.V:2*e.V]
			clear(in)
			clear(out)
			e.AddDegrees(in, out)
		} else {
			in, out = e.InDegrees(), e.OutDegrees()
		}
		if add(x.dst, types[x.dst].in, in, e.E()); x.src == x.dst {
			add(x.src, types[x.src].out, out, 0)
		} else {
			add(x.src, types[x.src].out, out, e.E())
		}
		if of != nil {
			of(r, in, out)
		}
	})
	return types
}

// eachRelation calls f for every relation. If alone is true, calls are made side by side, and each should use one processor.
func (k *kinds) eachRelation(f func(r int, alone bool)) {
	most, all, processors := 0, 0, runtime.GOMAXPROCS(0)
	for r := range k.relations {
		n := k.relations[r].in.Edges.E()
		most, all = max(most, n), all+n
	}
	if len(k.relations) >= 2*processors && most*processors <= 2*all {
		chunk.Each(len(k.relations), func(r int) { f(r, true) })
		return
	}
	for r := range k.relations {
		f(r, false)
	}
}

// cells are the expected sizes of the grid for n intervals. All cells of a relation are taken to be equal, as the order of vertices deals those of
// high degree evenly over the intervals of their type.
func (s *kindsSpread) cells(n int, want chunk.Wants) *plan.Cells {
	is := gridOf{n, want.Any().Wide}
	types, v, width := spansOf(s.vertices, runsOf(s.vertices, is)), 0, 1
	for t := range types {
		v, width = v+types[t].V, max(width, types[t].Width)
	}
	last := &types[len(types)-1]
	c := plan.NewCells(v, last.First+last.N, width, 2*len(s.relations))
	c.Types, c.Ends, c.Wide = types, s.pairs, is.wide
	for r := range s.relations {
		w, x := want.Of(r), &s.relations[r]
		for _, d := range []plan.Dir{plan.CSC, plan.CSR} {
			if d == plan.CSC && !w.CSC || d == plan.CSR && !w.CSR {
				continue
			}
			own, far := c.Side(d.Of(r))
			sums, others := x.in, x.out
			if d == plan.CSR {
				sums, others = x.out, x.in
			}
			owns, fars, wide := full(own), full(far), width // intervals that have rows
			step := max(1, c.Wide)
			if c.Wide > 0 {
				fars, wide = (fars+step-1)/step, min(step, far.N)*far.Width
			}
			nnz := int64(x.edges / owns / fars)
			rows, needs := sums.nonEmpty(own.Width, owns, fars), others.nonEmpty(far.Width, fars, owns)
			bytes := chunk.CellSize(own.Width, rows, nnz, w, x.dataCols, wide)
			b, edges, need := make([]int64, c.P*c.P), make([]int64, c.P*c.P), make([]int64, c.P*c.P)
			for j := own.First; j < own.First+owns; j++ {
				for i := far.First; i < far.First+fars*step; i += step {
					b[j*c.P+i], edges[j*c.P+i], need[j*c.P+i] = bytes, nnz, int64(needs)
				}
			}
			c.Bytes[d.Of(r)], c.NNZ[d.Of(r)], c.Needs[d.Of(r)] = b, edges, need
		}
	}
	return c
}

// full is how many intervals of s have rows, at least one.
func full(s plan.Span) int { return max(1, (s.V+s.Width-1)/s.Width) }

// runsOf deals the intervals of a grid to types of so many vertices.
func runsOf(vertices []int, is gridOf) []chunk.Run {
	if is.wide > 0 {
		return chunk.WideRuns(vertices, is.n)
	}
	return chunk.Runs(vertices, is.n)
}

// spansOf are the intervals of types of so many vertices that are dealt to runs.
func spansOf(vertices []int, runs []chunk.Run) (list []plan.Span) {
	for t, r := range runs {
		list = append(list, plan.Span{First: r.First, N: r.N, V: vertices[t], Width: r.Width})
	}
	return list
}
