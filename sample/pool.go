package sample

// Pool is the edges that a draw chooses from: the row of a vertex, its in-edges. Edges
// have places, from 0 to Degree-1. Of a Collective sampler it is the rows of all transits
// of the sample, one after the other.
type Pool struct {
	t      *tracer
	vertex symbol
}

// Vertex is the vertex whose row it is.
func (p Pool) Vertex() Int {
	p.row("Vertex")
	return Int{p.vertex}
}

// Degree is the number of edges; 0 where the vertex is None.
func (p Pool) Degree() Int { return Int{p.t.emit(opDegree, 0, p.vertex)} }

// Neighbour is the far end of the edge at a place; None where there is no such edge.
func (p Pool) Neighbour(place Int) Int {
	return Int{p.t.emit(opNeighbour, 0, p.vertex, place.symbol)}
}

// Weight is the weight of the edge at a place: 1 where edges have none, 0 where there is
// no such edge.
func (p Pool) Weight(place Int) Real { return Real{p.t.emit(opWeight, 0, p.vertex, place.symbol)} }

// MaxWeight is the largest weight in the row, 0 in an empty one. A sampler that asks for
// it takes 4 bytes a vertex for a table of them.
func (p Pool) MaxWeight() Real {
	p.row("MaxWeight")
	return Real{p.t.emit(opMost, 0, p.vertex)}
}

// WeightBefore is the sum of the weights of the edges before a place, in the order of
// the row. It takes the time of a walk over them.
func (p Pool) WeightBefore(place Int) Real {
	p.row("WeightBefore")
	return Real{p.t.emit(opBefore, 0, p.vertex, place.symbol)}
}

// row refuses what a combined neighbourhood does not have.
func (p Pool) row(what string) {
	if p.vertex.t == nil && p.vertex.lit == combined {
		refuse("%s of a combined neighbourhood: only Degree, Neighbour, Weight and Pick are there", what)
	}
}

// combined stands in place of a vertex for the rows of all transits of a sample.
const combined = -2

// Sample is what a function can read of the sample it draws for.
type Sample struct{ t *tracer }

// Step is the number of the step, from 0.
func (s Sample) Step() Int { return Int{s.t.emit(opStep, 0)} }

// Draw is the number of the draw among those of the sample's step, from 0.
func (s Sample) Draw() Int { return Int{s.t.emit(opSlot, 0)} }

// Len is the number of vertices that the sample had before the step, roots included.
func (s Sample) Len() Int { return Int{s.t.emit(opLen, 0)} }

// Prev is the vertex on the way to the transit, k steps before it; None before the root, and where a step added nothing.
// Prev(1) is the vertex that the sample had before the transit, from which that was drawn.
//
// Where Transits is given: in Transits, Prev(1) is what the last step added, at step 0 the root; in Next, what the step
// before that added (None at step 0), also if Transits chose another vertex.
func (s Sample) Prev(k int) Int {
	if k < 1 {
		refuse("Prev(%d): steps back are 1 or more", k)
	}
	return Int{s.t.emit(opPrev, int64(k))}
}

// Root is root i of the sample, from 0.
func (s Sample) Root(i Int) Int { return Int{s.t.emit(opRoot, 0, i.symbol)} }

// Row is the row of any vertex; an empty one where v is no vertex, such as None.
func (s Sample) Row(v Int) Pool { return Pool{s.t, v.symbol} }

// Has tells whether the row of u has an edge from v. It takes the time of a search in
// the sorted row. It is false where u or v is no vertex: None, or a number that no vertex has.
func (s Sample) Has(u, v Int) Bool { return Bool{s.t.emit(opHas, 0, u.symbol, v.symbol)} }

// Get is number i of a field of State: what the sample's last Set wrote, in this function or at an earlier step, and before any
// what Field says. Every sample has numbers of its own. An i out of range, known only when it is drawn, is an error of Run.
func (s Sample) Get(field string, i Int) Int {
	return Int{s.t.emit(opGet, s.field(field, i), i.symbol)}
}

// Set changes number i of a field of State, for all that stands below it and for later steps. It always does: both sides of If
// are computed, so write If(c, new, s.Get(…)) as its value. Only samplers that draw once a sample and
// step may do so, and not inside a Reject.
func (s Sample) Set(field string, i, v Int) {
	if s.t.reject >= 0 {
		refuse("Set inside a Reject: state would depend on tries")
	}
	x := s.t.emit(opSet, s.field(field, i), i.symbol, v.symbol)
	s.t.sets = s.t.list[x.n].at
}

func (s Sample) field(name string, i Int) int64 {
	for n, f := range s.t.s.State {
		if f.Name != name {
			continue
		}
		if i.t == nil && (i.lit < 0 || i.lit >= int64(f.Len)) {
			refuse("number %d of state %q, which has 0 to %d", i.lit, name, f.Len-1)
		}
		return int64(n)
	}
	refuse("no state is called %q", name)
	return 0
}

// Rand draws random numbers. A draw is named by its place in the function and by that of
// the sample, so it does not depend on what other draws gave.
type Rand struct{ t *tracer }

// Below is one of 0 to n-1; None where n is 0. The share of each is off by less than
// n/2³² of it.
func (r Rand) Below(n Int) Int { return Int{r.t.emit(opBelow, r.t.site(1), n.symbol)} }

// Uniform is in [0, 1), a multiple of 2⁻²⁴.
func (r Rand) Uniform() Real { return Real{r.t.emit(opUniform, r.t.site(1))} }

// Pick is a place of the pool, each with equal probability; None of an empty pool.
func (r Rand) Pick(at Pool) Int { return r.Below(at.Degree()) }

// PickWeighted is a place of the pool with probability in proportion to the edge's weight,
// by the sampler's Method; as Pick where edges have no weights. It is None of an empty
// pool, and of one whose weights are all 0.
func (r Rand) PickWeighted(at Pool) Int {
	if r.t.g.Weight == nil {
		return r.Pick(at)
	}
	at.row("PickWeighted")
	switch r.t.method {
	case Inverse:
		return Int{r.t.emit(opInverse, r.t.site(1), at.vertex)}
	case Rejection:
		if r.t.reject >= 0 {
			refuse("PickWeighted by rejection inside a Reject: take the method Alias or Inverse")
		}
		return r.Reject(func(r Rand) (Int, Bool) {
			most := at.MaxWeight()
			i := If(Less(Const(0), most), r.Pick(at), None)
			return i, Or(Equal(i, None), Less(Mul(r.Uniform(), most), at.Weight(i)))
		})
	}
	return Int{r.t.emit(opAlias, r.t.site(2), at.vertex)}
}

// Reject calls the function until it gives a value with true, and is that value. It is
// the only loop. Each try draws anew, by the r of the function around it, too.
func (r Rand) Reject(try func(r Rand) (Int, Bool)) Int {
	return Int{r.t.rejected(func() (symbol, symbol) {
		v, ok := try(r)
		return v.symbol, ok.symbol
	})}
}
