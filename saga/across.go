package saga

import (
	"sagann/dataflow"
	"sagann/ops"
)

// farBelow is a score that counts nothing beside any other.
const farBelow = 1e30

// softmaxAcross weights the messages of all relations by the softmax of their scores over the in-edges of all relations: each is
// compared with the largest one of all.
func softmaxAcross(t *tracer, in []*messages, of func(*messages) Tensor) Tensor {
	var here, tops, sums []Tensor // by relation: 1 where a vertex has in-edges, else 0; the largest of their scores; Σ exp beside it
	var most, any Tensor
	for _, g := range in {
		t.along(g.rel)
		if g.score == nil {
			panic(refused("Gather", "the field Score is missing: SoftmaxSum weights messages by it"))
		}
		g.unscored = false
		h := g.score.Cols()
		one := ops.Step(t.vertex(dataflow.InDegree, 1))
		s, top := ops.SumExp(g.score)
		top = ops.Add(top, ops.Widen(ops.Scale(ops.Shift(one, -1), farBelow), h))
		here, tops, sums = append(here, one), append(tops, top), append(sums, s)
		if most == nil {
			most, any = top, one
			continue
		}
		most, any = ops.Maximum(most, top), ops.Add(any, one)
	}
	h := most.Cols()
	sum := ops.Widen(ops.Shift(ops.Neg(ops.Step(any)), 1), h) // 1 where a vertex has no in-edges
	for i, x := range tops {
		sum = ops.Add(sum, ops.RowScale(ops.Mul(sums[i], ops.Exp(ops.Sub(x, most))), here[i]))
	}
	total := t.g.Absent()
	for _, g := range in {
		t.along(g.rel)
		m := of(g)
		w := ops.Exp(ops.Sub(g.score, t.edgeSet().ScatterDst(most)))
		total = ops.Add(total, ops.Sum(ops.RowScale(m, w)))
	}
	return ops.RowScale(total, ops.Inverse(sum))
}
