package saga

import (
	"sagann/dataflow"
	"sagann/ops"
)

// farBelow is a score that counts nothing beside any other.
const farBelow = 1e30

// softmaxAcross weights the messages of all relations by the softmax of their scores over the in-edges of all relations. The logarithm
// of the sum over relations is taken beside their largest one, so that it does not overflow.
func softmaxAcross(t *tracer, in []*messages, of func(*messages) Tensor) Tensor {
	var here, each []Tensor // by relation: 1 where a vertex has in-edges, else 0; log Σ exp of their scores
	var most, any Tensor
	for _, g := range in {
		t.along(g.rel)
		if g.score == nil {
			panic(refused("Gather", "the field Score is missing: SoftmaxSum weights messages by it"))
		}
		g.unscored = false
		h := g.score.Cols()
		one := ops.Step(t.vertex(dataflow.InDegree, 1))
		x := ops.Add(ops.RowScale(ops.LSE(g.score), one), ops.Widen(ops.Scale(ops.Shift(one, -1), farBelow), h))
		here, each = append(here, one), append(each, x)
		if most == nil {
			most, any = x, one
			continue
		}
		most, any = ops.Maximum(most, x), ops.Add(any, one)
	}
	h := most.Cols()
	sum := ops.Widen(ops.Shift(ops.Neg(ops.Step(any)), 1), h) // 1 where a vertex has no in-edges
	for i, x := range each {
		sum = ops.Add(sum, ops.RowScale(ops.Exp(ops.Sub(x, most)), here[i]))
	}
	all := ops.Add(most, ops.Log(sum))
	total := t.g.Absent()
	for _, g := range in {
		t.along(g.rel)
		m := of(g)
		w := ops.Exp(ops.Sub(g.score, t.edgeSet().ScatterDst(all)))
		total = ops.Add(total, ops.Sum(ops.RowScale(m, w)))
	}
	return total
}
