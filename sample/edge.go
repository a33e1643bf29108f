package sample

import (
	"fmt"
	"math"

	"sagann/chunk"
)

// Edge is the edge that a Score or an EdgeWeight is called for. Its far end is Source().
type Edge struct{ t *tracer }

// Weight is the edge's weight in the graph, 1 if the graph has no weights.
func (e Edge) Weight() Real { return Real{e.t.emit(opEdgeWeight, 0)} }

// Time is the time of the edge, from the earliest of the graph on, rounded to float32; 0 if edges have no times, and for
// those that are always there.
func (e Edge) Time() Real { return Real{e.t.emit(opEdgeTime, 0)} }

// Number is column k of the edge's numbers (chunk.Edges.Data).
func (e Edge) Number(k int) Real { return Real{e.t.emit(opEdgeNumber, e.t.column(k))} }

// Norm is 1/√(d(source)·d(target)) of the in-degrees in the whole graph: the edge's entry in
// GCN's normalised adjacency Â, if the graph has the model's self loops.
func (e Edge) Norm() Real { return Real{e.t.emit(opNorm, 0)} }

// Source is the vertex where the edge begins.
func (e Edge) Source() Int { return Int{e.t.emit(opSource, 0)} }

// Target is the vertex where the edge ends.
func (e Edge) Target() Int { return Int{e.t.emit(opTarget, 0)} }

// Row is the in-edges of a vertex.
func (e Edge) Row(v Int) Pool { return Pool{e.t, v.symbol} }

// Probability is the probability that one draw gives the edge's source. It is for EdgeWeight of
// samplers over Collective or Everywhere with a Score; otherwise it is 0.
func (e Edge) Probability() Real { return e.late(opProbability, "Probability") }

// Draws is the number of draws of the step in samplers over Collective or Everywhere with a
// Score. In others it is the number of edges in the target's row of the block. It is for
// EdgeWeight.
func (e Edge) Draws() Real { return e.late(opDraws, "Draws") }

// Times is how often the step drew the edge's source. It is for EdgeWeight of samplers over
// Collective or Everywhere with a Score; otherwise it is 0.
func (e Edge) Times() Real { return e.late(opTimes, "Times") }

// late is a value that is known only after the draw, and so only in EdgeWeight.
func (e Edge) late(o op, name string) Real {
	if !e.t.after {
		refuse("%s in a Score: it is known after the draw, in EdgeWeight", name)
	}
	return Real{e.t.emit(o, 0)}
}

// drawn is an edge for its Score or EdgeWeight. at is its index in Graph.Far.
type drawn struct {
	at                        int64
	target                    uint32
	probability, draws, times float32
}

// value computes a function of an edge.
func (p *Program) value(c *code, values []cell, e *drawn) float32 {
	for n := range c.list {
		x := &c.list[n]
		a, b := values[x.a], values[x.b]
		switch x.op {
		case opLit:
			values[n] = cell{x.imm, x.real}
		case opEdgeWeight:
			values[n] = cell{f: p.weight(e.at, true)}
		case opEdgeTime:
			values[n] = cell{f: p.g.timeOf(e.at)}
		case opEdgeNumber:
			values[n] = cell{f: p.g.numberOf(e.at, x.imm)}
		case opNorm:
			values[n] = cell{f: p.g.norm(p.g.Far[e.at], e.target)}
		case opSource:
			values[n] = cell{i: int64(p.g.Far[e.at])}
		case opTarget:
			values[n] = cell{i: int64(e.target)}
		case opProbability:
			values[n] = cell{f: e.probability}
		case opDraws:
			values[n] = cell{f: e.draws}
		case opTimes:
			values[n] = cell{f: e.times}
		case opDegree, opNeighbour, opWeight, opMost, opBefore, opHas, opTime, opNumber:
			values[n] = p.readGraph(x, a.i, b.i)
		default:
			values[n] = pure(x.op, a, b, values[x.c])
		}
	}
	return values[c.result].f
}

func (g *Graph) norm(source, target uint32) float32 {
	d := float64(g.Degree(source)) * float64(g.Degree(target))
	if d == 0 {
		return 0
	}
	return float32(1 / math.Sqrt(d))
}

// prepareScores computes the scores of all edges, and the tables and sums that draws by Score read.
func (p *Program) prepareScores() error {
	if p.score == nil {
		return nil
	}
	if err := p.tables.need(p.g, p.score); err != nil {
		return p.errorf("%w", err)
	}
	p.scores = p.g.Weight
	byWeight := len(p.score.list) == 1 && p.score.list[0].op == opEdgeWeight
	if !byWeight || p.scores == nil {
		p.scores = make([]float32, p.g.Edges())
		chunk.Ranges(p.g.Vertices(), func(lo, hi int) {
			values := make([]cell, len(p.score.list))
			for v := lo; v < hi; v++ {
				for at := p.g.Offsets[v]; at < p.g.Offsets[v+1]; at++ {
					p.scores[at] = p.value(p.score, values, &drawn{at: at, target: uint32(v)})
				}
			}
		})
	}
	sum := 0.0
	for at, x := range p.scores {
		switch {
		case x >= 0 && !math.IsInf(float64(x), 0):
		case byWeight:
			return p.errorf("%w", badWeight(p.g.Edge[at], x))
		default:
			return p.errorf("%s: %w", p.score.line(&p.score.list[p.score.result]), &EdgeError{p.g.Edge[at], fmt.Sprintf("the Score %v: scores are 0 or more, and finite", x)})
		}
		sum += float64(x)
	}
	if p.s.Over == Individual {
		return p.tables.needScores(p)
	}
	if sum > 0 {
		p.unit = (1 << 62) / sum
	}
	if p.s.Over == Everywhere {
		p.everyone = make([]uint64, p.g.Vertices())
		for at, x := range p.scores {
			p.everyone[p.g.Far[at]] += p.fixed(x)
		}
		for v := 1; v < len(p.everyone); v++ {
			p.everyone[v] += p.everyone[v-1]
		}
		return nil
	}
	p.rowSums = make([]uint64, p.g.Vertices())
	chunk.Ranges(len(p.rowSums), func(lo, hi int) {
		for v := lo; v < hi; v++ {
			for _, x := range p.scores[p.g.Offsets[v]:p.g.Offsets[v+1]] {
				p.rowSums[v] += p.fixed(x)
			}
		}
	})
	return nil
}

// fixed is a score as a fixed-point number, so that sums do not depend on their order. The
// unit is the sum of the graph's scores over 2⁶², and an edge with a score above 0 has at
// least 1. A graph has fewer than 2³² edges, so no sum overflows 64 bits.
func (p *Program) fixed(score float32) uint64 {
	if score == 0 {
		return 0
	}
	return uint64(max(1, int64(float64(score)*p.unit)))
}
