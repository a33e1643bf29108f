package sample

// Pool is the list of edges that a draw chooses from, with places from 0 to Degree-1. It is
// the row of a vertex (its in-edges). In the Next of a Collective sampler it is the rows of
// all transits of the sample, one after the other; that pool has only Degree, Neighbour,
// Weight and Pick.
type Pool struct {
	t      *tracer
	vertex symbol
}

// Vertex is the vertex whose row the pool is.
func (p Pool) Vertex() Int {
	p.row("Vertex")
	return Int{p.vertex}
}

// Degree is the number of edges, 0 if the vertex is None.
func (p Pool) Degree() Int { return Int{p.t.emit(opDegree, 0, p.vertex)} }

// Neighbour is the far end (source) of the edge at a place, None if there is no such edge.
func (p Pool) Neighbour(place Int) Int {
	return Int{p.t.emit(opNeighbour, 0, p.vertex, place.symbol)}
}

// Weight is the weight of the edge at a place: 1 if the graph has no weights, 0 if there is no
// such edge.
func (p Pool) Weight(place Int) Real { return Real{p.t.emit(opWeight, 0, p.vertex, place.symbol)} }

// Time is the time of the edge at a place, from the earliest of the graph on, rounded to float32: 0 if edges have no
// times, for those that are always there, and if there is no such edge.
func (p Pool) Time(place Int) Real {
	p.row("Time")
	return Real{p.t.emit(opTime, 0, p.vertex, place.symbol)}
}

// Number is column k of the numbers (chunk.Edges.Data) of the edge at a place, 0 if there is no such edge.
func (p Pool) Number(place Int, k int) Real {
	p.row("Number")
	return Real{p.t.emit(opNumber, p.t.column(k), p.vertex, place.symbol)}
}

// MaxWeight is the largest weight in the row, 0 if the row is empty. A sampler that calls it
// takes 4 bytes per vertex for a table, if the graph has weights.
func (p Pool) MaxWeight() Real {
	p.row("MaxWeight")
	return Real{p.t.emit(opMost, 0, p.vertex)}
}

// WeightBefore is the sum of the weights of the edges before a place, in the order of the
// row. It takes time in proportion to their number.
func (p Pool) WeightBefore(place Int) Real {
	p.row("WeightBefore")
	return Real{p.t.emit(opBefore, 0, p.vertex, place.symbol)}
}

// row refuses an operation that a pool of several rows does not have.
func (p Pool) row(what string) {
	if p.vertex.t == nil && p.vertex.lit == combined {
		refuse("%s of a combined neighbourhood: only Degree, Neighbour, Weight and Pick are there", what)
	}
}

// combined, in place of a vertex id, means the rows of all transits of a sample.
const combined = -2

// Sample gives a function access to the sample that it draws for.
type Sample struct{ t *tracer }

// Step is the number of the step, from 0.
func (s Sample) Step() Int { return Int{s.t.emit(opStep, 0)} }

// Draw is the number of the draw within the sample's step, from 0.
func (s Sample) Draw() Int { return Int{s.t.emit(opSlot, 0)} }

// Len is the number of vertices that the sample had before the step, roots included.
func (s Sample) Len() Int { return Int{s.t.emit(opLen, 0)} }

// Prev is the vertex k steps before the transit on the path from the root. It is None before
// the root, and for a step that added nothing. Prev(1) is the vertex from whose row the transit
// was drawn.
//
// In Transits, Prev(1) is the vertex that the last step added, at step 0 the root. In Next,
// Prev(1) is the vertex that the step before the last one added (None at step 0), even if
// Transits chose a vertex off that path.
func (s Sample) Prev(k int) Int {
	if k < 1 {
		refuse("Prev(%d): steps back are 1 or more", k)
	}
	return Int{s.t.emit(opPrev, int64(k))}
}

// Root is root i of the sample, from 0.
func (s Sample) Root(i Int) Int { return Int{s.t.emit(opRoot, 0, i.symbol)} }

// Row is the row of any vertex. It is empty if v is no vertex, such as None.
func (s Sample) Row(v Int) Pool { return Pool{s.t, v.symbol} }

// Has tells whether the row of u has an edge from v, by binary search in the row. It is false if
// u or v is no vertex: None, or a number that no vertex has.
func (s Sample) Has(u, v Int) Bool { return Bool{s.t.emit(opHas, 0, u.symbol, v.symbol)} }

// Get is number i of a field of State: the value that the sample's last Set wrote, in this
// function or at an earlier step, or the initial value that Field gives. An i out of range is an
// error of Compile if i is a literal, else of Run.
func (s Sample) Get(field string, i Int) Int {
	return Int{s.t.emit(opGet, s.field(field, i), i.symbol)}
}

// Set changes number i of a field of State, for the rest of the function and for later steps. A
// Set cannot be conditional, as both sides of an If are computed: set If(c, new, s.Get(…))
// instead. Only samplers that draw once per sample and step may call Set, and not inside a
// Reject.
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

// Rand draws random numbers. A draw depends on the key, its position in the function, the sample
// and the step, and not on the results of other draws.
type Rand struct{ t *tracer }

// Below is a random number from 0 to n-1, or None if n is 0 or less. n must be below 2³². The
// relative error of each probability is below n/2³².
func (r Rand) Below(n Int) Int { return Int{r.t.emit(opBelow, r.t.site(1), n.symbol)} }

// Uniform is a random number in [0, 1), a multiple of 2⁻²⁴.
func (r Rand) Uniform() Real { return Real{r.t.emit(opUniform, r.t.site(1))} }

// Pick is a random place of the pool, each with equal probability, or None if the pool is empty.
func (r Rand) Pick(at Pool) Int { return r.Below(at.Degree()) }

// PickWeighted is a random place of the pool, with probability in proportion to the edge's
// weight, by the sampler's Method. If the graph has no weights, it is Pick. It is None if the pool
// is empty or all its weights are 0.
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

// Reject repeats try until it returns true, and is the value that it returned with true. 2²⁰
// tries without success are an error of Run. Reject is the only loop that a function can have.
// Each repetition makes new draws, also by the Rand of the enclosing function.
func (r Rand) Reject(try func(r Rand) (Int, Bool)) Int {
	return Int{r.t.rejected(func() (symbol, symbol) {
		v, ok := try(r)
		return v.symbol, ok.symbol
	})}
}
