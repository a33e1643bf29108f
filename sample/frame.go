package sample

import (
	"cmp"
	"fmt"
	"slices"
)

// group is a range of samples that are drawn together.
type group struct {
	p        *Program
	key      stream
	of       []uint32   // place.of of each sample; nil: first, first+1, …
	first    uint32     // number of the first sample
	n        int        // number of samples
	steps    [][]uint32 // vertices that each step added, the roots first: n × widths
	widths   []int
	length   []int32 // vertices of each sample so far
	state    []int64 // n × the numbers of all fields
	combined []pool  // Collective: a pool for each sample

	more   func(step, width int) []uint32 // for unbounded steps: memory for one more step, full of NoVertex
	live   []int32                        // for walks in a single strip: the samples that go on
	plain  *plain                         // not nil: addPlain draws the steps,
	strip  *plainStrip                    // with this memory
	lanes  [width]int32                   // of the current strip
	places [width]int64
	rows
}

// rows are the rows of the transits of a strip: where they begin in Graph.Far, and their lengths.
type rows struct {
	begins  [width]int64
	lengths [width]uint32
}

// name is place.of for the draws of sample i.
func (g *group) name(i int) uint32 {
	if g.of != nil {
		return g.of[i]
	}
	return g.first + uint32(i)
}

// frame is one call of a traced function for all draws of a step. Draw i belongs to sample i/per
// of the group, and to transit i/size.
type frame struct {
	*group
	c         *code
	step      int
	per, size int
	transits  []uint32
	redraw    int // how often Unique has repeated the draw
	early     int // 1 in Transits, which has no transit yet; else 0
	err       error
}

// part is i/n. It has no division for n = 1, the usual case.
func part(i, n int) int {
	if n == 1 {
		return i
	}
	return i / n
}

// fail keeps the first error, with the line of the user's function.
func (f *frame) fail(x *instruction, format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("sampler %s: %s: %s", f.p.s.Name, f.c.line(x), fmt.Sprintf(format, args...))
	}
}

// place is the counter of a draw's random words, without site and try.
func (f *frame) place(i int) place {
	sample := part(i, f.per)
	return place{of: f.name(sample), step: uint32(f.step / f.c.pack), slot: uint32(i-sample*f.per) | uint32(f.redraw)<<24}
}

// counter is the last word of the Philox counter for a site at a try. Four sites share one counter,
// as it gives four words. Sites are below 2·maxSites and tries below 2²⁴. Draws without a traced
// function use the upper bytes 0 and, in a race, 255.
func counter(site int64, try int) uint32 { return uint32(site>>2+1)<<24 | uint32(try) }

// maxTries bounds a Reject.
const maxTries = 1 << 20

// word is the random word of a site.
func (f *frame) word(i int, site int64, try int) uint32 {
	at := f.place(i)
	if f.c.pack > 1 {
		site += int64(f.step%f.c.pack) * int64(f.c.sites)
	}
	at.site = counter(site, try)
	return f.key.words(at)[site&3]
}

// uniform is a word as a multiple of 2⁻²⁴ in [0, 1).
func uniform(word uint32) float32 { return float32(word>>8) * (1.0 / (1 << 24)) }

// vertex is an id as a value of a traced function: -1 for NoVertex.
func vertex(v uint32) int64 {
	if v == NoVertex {
		return -1
	}
	return int64(v)
}

// transit is the transit of draw i, or combined if all transits of a sample draw together.
func (f *frame) transit(i int) int64 {
	if f.combined != nil {
		return combined
	}
	return vertex(f.transits[part(i, f.size)])
}

// prev is the vertex k steps before the transit of draw i.
func (f *frame) prev(i int, k int64) int64 {
	s := int64(f.step+f.early) - k
	if s < 0 || s >= int64(len(f.steps)) {
		return -1
	}
	if f.per == 1 && f.widths[s] == 1 {
		return vertex(f.steps[s][i])
	}
	sample := i / f.per
	t := i/f.size - sample*(f.per/f.size) // number of the transit in the sample
	w := f.widths[s]
	return vertex(f.steps[s][sample*w+t*w*f.size/f.per])
}

// numbers is the address of number n of a field of the state of draw i's sample.
func (f *frame) numbers(x *instruction, i int, n int64) *int64 {
	all, at := 0, 0
	for j, field := range f.p.s.State {
		if int64(j) == x.imm {
			at = all
			if n < 0 || n >= int64(field.Len) {
				f.fail(x, "number %d of state %q, which has 0 to %d", n, field.Name, field.Len-1)
				return new(int64)
			}
		}
		all += field.Len
	}
	return &f.state[i/f.per*all+at+int(n)]
}

// read computes an operation on the sample or the graph for draw i.
func (f *frame) read(x *instruction, i int, a, b cell) cell {
	switch x.op {
	case opStep:
		return cell{i: int64(f.step)}
	case opSlot:
		return cell{i: int64(i % f.per)}
	case opLen:
		return cell{i: int64(f.length[i/f.per])}
	case opPrev:
		return cell{i: f.prev(i, x.imm)}
	case opAt:
		return cell{i: f.transit(i)}
	case opRoot:
		if a.i < 0 || a.i >= int64(f.widths[0]) {
			f.fail(x, "root %d of a sample with %d", a.i, f.widths[0])
			return cell{i: -1}
		}
		return cell{i: vertex(f.steps[0][i/f.per*f.widths[0]+int(a.i)])}
	case opGet:
		return cell{i: *f.numbers(x, i, a.i)}
	case opSet:
		*f.numbers(x, i, a.i) = b.i
		return b
	}
	if a.i == combined && f.combined != nil {
		return f.combined[i/f.per].read(f.p, x.op, b.i)
	}
	return f.p.readGraph(x, a.i, b.i)
}

// readGraph computes an operation on the row of a vertex.
func (p *Program) readGraph(x *instruction, v, place int64) cell {
	lo, n := p.span(v)
	there := place >= 0 && place < int64(n)
	switch x.op {
	case opTime, opNumber:
		switch {
		case !there:
			return cell{}
		case x.op == opTime:
			return cell{f: p.g.timeOf(lo + place)}
		}
		return cell{f: p.g.numberOf(lo+place, x.imm)}
	case opDegree:
		return cell{i: int64(n)}
	case opNeighbour:
		if !there {
			return cell{i: -1}
		}
		return cell{i: int64(p.g.Far[lo+place])}
	case opWeight:
		return cell{f: p.weight(lo+place, there)}
	case opMost:
		switch {
		case p.tables.most != nil && n > 0:
			return cell{f: p.tables.most[v]}
		case n > 0:
			return cell{f: 1}
		}
		return cell{}
	case opBefore:
		sum := float32(0)
		for i := range min(max(place, 0), int64(n)) {
			sum += p.weight(lo+i, true)
		}
		return cell{f: sum}
	}
	_, found := slices.BinarySearchFunc(p.g.Far[lo:lo+int64(n)], place, func(far uint32, v int64) int { return cmp.Compare(int64(far), v) }) // opHas
	return truth(found)
}

// weight is the weight of the edge at index i of Graph.Far: 0 if it does not exist, 1 without weights.
func (p *Program) weight(i int64, there bool) float32 {
	switch {
	case !there:
		return 0
	case p.g.Weight == nil:
		return 1
	}
	return p.g.Weight[i]
}
