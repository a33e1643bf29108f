package sample

// width is the number of draws in a strip. An instruction runs for a whole strip: the values fit in
// cache, and the cache misses of its reads overlap.
const width = 1024

// strips runs functions over strips of draws. One goroutine uses it.
type strips struct {
	regs  map[*code]*registers
	words [4][width]uint32 // random words of each draw,
	of    *code            // of this function,
	block int64            // of the sites 4·block to 4·block+3 (-1: there are no words yet),
	try   int              // of this try
	base  int              // and of the strip that begins with this draw
}

// registers hold the values of a strip, by instruction.
type registers struct {
	ints  [][]int64
	reals [][]float32
}

func newStrips() *strips { return &strips{regs: map[*code]*registers{}, block: -1} }

// isReal tells whether an instruction's value is a real.
func isReal(o op) bool {
	switch o {
	case opToReal, opWeight, opTime, opNumber, opEdgeTime, opEdgeNumber, opMost, opBefore, opUniform, opEdgeWeight, opNorm, opProbability, opDraws, opTimes:
		return true
	case opLess + realOps, opEqual + realOps:
		return false
	}
	return o >= realOps
}

func (s *strips) registersOf(c *code) *registers {
	r := s.regs[c]
	if r != nil {
		return r
	}
	r = &registers{make([][]int64, len(c.list)), make([][]float32, len(c.list))}
	for n, x := range c.list {
		if !isReal(x.op) {
			r.ints[n] = make([]int64, width)
		}
		if isReal(x.op) || x.op == opLit {
			r.reals[n] = make([]float32, width)
		}
		if x.op == opLit {
			for j := range width {
				r.ints[n][j], r.reals[n][j] = x.imm, x.real
			}
		}
	}
	s.regs[c] = r
	return r
}

// run is a run (see reference.go) over a strip.
func (s *strips) run(f *frame, base int, lanes []int32, out []int64) {
	if f.c.pack == 1 || s.of != f.c || f.step%f.c.pack == 0 {
		s.of, s.block = f.c, -1
	}
	r := s.registersOf(f.c)
	s.exec(f, r, base, lanes, 0, len(f.c.list), 0)
	result := r.ints[f.c.result]
	for _, j := range lanes {
		out[j] = result[j]
	}
}

// exec runs instructions from to end-1 for the draws in lanes.
func (s *strips) exec(f *frame, r *registers, base int, lanes []int32, from, end, try int) {
	for n := from; n < end; n++ {
		x := &f.c.list[n]
		switch {
		case x.op == opLit:
		case x.op == opReject:
			s.reject(f, r, base, lanes, n)
			n = int(x.imm)
		case x.op >= opBelow && x.op <= opInverse:
			s.draw(f, r, base, lanes, n, try)
		case x.op >= opStep && x.op <= opSet:
			s.sample(f, r, base, lanes, n)
		case x.op >= opDegree && x.op <= opHas || x.op == opTime || x.op == opNumber:
			s.graph(f, r, base, lanes, n)
		case x.op >= realOps:
			realOp(r, x, lanes, n)
		default:
			intOp(r, x, lanes, n)
		}
	}
}

// reject repeats the body of a Reject for the draws whose value is not accepted yet.
func (s *strips) reject(f *frame, r *registers, base int, lanes []int32, n int) {
	x := &f.c.list[n]
	accept := &f.c.list[x.imm]
	value, taken, got := r.ints[accept.a], r.ints[accept.b], r.ints[n]
	left := append(make([]int32, 0, width), lanes...)
	for try := 0; len(left) > 0; try++ {
		if try == maxTries {
			f.fail(x, "%d tries of a Reject, and none is accepted", maxTries)
			return
		}
		s.exec(f, r, base, left, n+1, int(x.imm), try)
		k := 0
		for _, j := range left {
			if taken[j] != 0 {
				got[j] = value[j]
			} else {
				left[k] = j
				k++
			}
		}
		left = left[:k]
	}
}

// word returns the random words of a site for lanes. It computes the words of the site's counter,
// unless it did so in the last call.
func (s *strips) word(f *frame, base int, lanes []int32, site int64, try int) *[width]uint32 {
	if f.c.pack > 1 {
		site += int64(f.step%f.c.pack) * int64(f.c.sites)
	}
	if s.block != site>>2 || s.try != try || s.base != base {
		s.block, s.try, s.base = site>>2, try, base
		c := counter(site, try)
		for _, j := range lanes {
			at := f.place(base + int(j))
			at.site = c
			w := f.key.words(at)
			s.words[0][j], s.words[1][j], s.words[2][j], s.words[3][j] = w[0], w[1], w[2], w[3]
		}
	}
	return &s.words[site&3]
}

// draw runs an instruction that draws a random number.
func (s *strips) draw(f *frame, r *registers, base int, lanes []int32, n, try int) {
	x := &f.c.list[n]
	switch x.op {
	case opBelow:
		w, top, to := s.word(f, base, lanes, x.imm, try), r.ints[x.a], r.ints[n]
		for _, j := range lanes {
			to[j] = -1
			if top[j] > 0 {
				to[j] = int64(below(w[j], int(top[j])))
			}
		}
	case opUniform:
		w, to := s.word(f, base, lanes, x.imm, try), r.reals[n]
		for _, j := range lanes {
			to[j] = uniform(w[j])
		}
	case opInverse:
		w, v, to := s.word(f, base, lanes, x.imm, try), r.ints[x.a], r.ints[n]
		for _, j := range lanes {
			to[j] = f.p.inversePlace(v[j], w[j])
		}
	case opAlias:
		v, to := r.ints[x.a], r.ints[n]
		first := *s.word(f, base, lanes, x.imm, try) // the second site may be of other words
		w := s.word(f, base, lanes, x.imm+1, try)
		for _, j := range lanes {
			to[j] = f.p.aliasPlace(v[j], first[j], w[j])
		}
	}
}

// sample runs an instruction that reads the sample.
func (s *strips) sample(f *frame, r *registers, base int, lanes []int32, n int) {
	x := &f.c.list[n]
	a, b, to := r.ints[x.a], r.ints[x.b], r.ints[n]
	switch x.op {
	case opAt:
		for _, j := range lanes {
			to[j] = f.transit(base + int(j))
		}
	case opPrev:
		for _, j := range lanes {
			to[j] = f.prev(base+int(j), x.imm)
		}
	default:
		for _, j := range lanes {
			var p, q cell
			if x.op >= opRoot {
				p.i = a[j]
			}
			if x.op == opSet {
				q.i = b[j]
			}
			to[j] = f.read(x, base+int(j), p, q).i
		}
	}
}

// graph runs an instruction that reads the graph.
func (s *strips) graph(f *frame, r *registers, base int, lanes []int32, n int) {
	x := &f.c.list[n]
	v := r.ints[x.a]
	at := f.c.list[x.a].op == opAt // find has set the rows of transits
	switch {
	case x.op == opDegree && at && f.combined == nil:
		to := r.ints[n]
		for _, j := range lanes {
			to[j] = int64(f.lengths[j])
		}
	case x.op == opNeighbour && at && f.combined == nil:
		far, place, to := f.p.g.Far, r.ints[x.b], r.ints[n]
		for _, j := range lanes {
			to[j] = -1
			if uint64(place[j]) < uint64(f.lengths[j]) {
				to[j] = int64(far[f.begins[j]+place[j]])
			}
		}
	case x.op == opHas && f.combined == nil:
		u, to := r.ints[x.b], r.ints[n]
		for _, j := range lanes {
			lo, d := f.p.span(v[j])
			to[j] = holds(f.p.g.Far[lo:lo+int64(d)], u[j])
		}
	default:
		place := r.ints[x.b]
		if x.op == opDegree || x.op == opMost {
			place = v // not read
		}
		for _, j := range lanes {
			got := f.read(x, base+int(j), cell{i: v[j]}, cell{i: place[j]})
			if isReal(x.op) {
				r.reals[n][j] = got.f
			} else {
				r.ints[n][j] = got.i
			}
		}
	}
}

// holds is 1 if a sorted row has v, else 0. The binary search has no branch on what it reads, as a
// processor could not predict it.
func holds(row []uint32, v int64) int64 {
	n := len(row)
	if n == 0 || v < 0 || v >= int64(NoVertex) {
		return 0
	}
	at, want := 0, uint32(v)
	for n > 1 {
		half := n >> 1
		next := at
		if row[at+half-1] < want {
			next = at + half
		}
		at, n = next, n-half
	}
	if row[at] == want {
		return 1
	}
	return 0
}
