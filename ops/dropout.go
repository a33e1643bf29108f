package ops

import (
	"fmt"
	"math"

	"sagann/dataflow"
)

// Dropout keeps every number of x [S×c], vertices or edges, with probability 1-p,
// scaled by 1/(1-p), and sets the others to 0. Which numbers it keeps is a function of
//
//   - step [1×4], Global: seed (low word, high word), epoch, and a word that is not read;
//   - site, which differs between the dropouts of one program;
//   - id [S×1], the identity of the row: that of the vertex, or of the edge's destination;
//   - rank [S×1], the position of the edge among the in-edges of its destination; nil for
//     vertices;
//   - the column. If the compiler applies the op to a slice of columns, attribute J is the first column.
//
// Of step, id and rank the bit patterns are used, so they can be math.Float32frombits of any word.
// The gradient is masked and scaled in the same way. A p outside [0, 1) is an error.
func Dropout(x *Node, p float32, site int, id, rank, step *Node) *Node {
	a := attr{F: p, I: int32(site)}
	if rank == nil {
		return dataflow.Apply(dropout, a, x, step, id)
	}
	return dataflow.Apply(edgeDropout, a, x, step, id, rank)
}

const (
	dropout        = dataflow.DropoutOp // x, step, id
	edgeDropout Op = "edge_dropout"     // x, step, id, rank
	dropOwn        = dataflow.DropOwnOp // step, id: the result of Dropout for a row of ones, in column id
)

// If the features are the identity matrix, only the entry in the vertex's own column matters. The
// compiler uses this op to drop only that one (dataflow/identity.go).
var _ = define(dropOwn, Def{Class: dataflow.Elem, Effect: true,
	Shape: func(a attr, in []shape) (shape, error) { return dropoutShape(a, []shape{in[1], in[0], in[1]}) },
	CPU: func(a *Args) {
		if a.Rows == 0 {
			return
		}
		strip, drop, keep := dropping(a, a.In[0])
		for r := range a.Rows {
			id := a.In[1][r]
			a.Out[r] = 1
			dropRow(a.Out[r:r+1], a.Out[r:r+1], strip.absorbBits(id).absorb(0), math.Float32bits(id), drop, keep)
		}
	},
	CUDA: "saga_dropout(1.f, $0[0], $0[1], $0[2], $1[0], 0.f, $I, $F, __float_as_uint($1[0]))"})

// The CUDA expressions call a function of the kernels' prelude, which draws the same numbers as
// counter. $k[j] is column j of operand k in the current row, and $C the result's column.

var _ = define(dropout, Def{Class: dataflow.Elem, Effect: true, Shape: dropoutShape,
	VJP: dropAlike, CPU: dropStrip,
	CUDA: "saga_dropout($0, $1[0], $1[1], $1[2], $2[0], 0.f, $I, $F, $J + $C)"})

var _ = define(edgeDropout, Def{Class: dataflow.Elem, Effect: true, Shape: dropoutShape,
	VJP: dropAlike, CPU: dropStrip,
	CUDA: "saga_dropout($0, $1[0], $1[1], $1[2], $2[0], $3[0], $I, $F, $J + $C)"})

func dropoutShape(a attr, in []shape) (shape, error) {
	x, step, id := in[0], in[1], in[2]
	if !(a.F >= 0 && a.F < 1) {
		return x, fmt.Errorf("dropout probability %v is not in [0, 1)", a.F)
	}
	if x.Set.Kind == dataflow.Global {
		return x, fmt.Errorf("drops from vertices or edges, not from %s", rows(x))
	}
	if step.Set.Kind != dataflow.Global || step.Rows != 1 || step.Cols != 4 {
		return x, fmt.Errorf("the step is %v, not [1×4]", step)
	}
	for _, k := range in[2:] {
		if err := column("an identity", k); err != nil {
			return x, err
		}
		if err := alike([]shape{x, id, k}); err != nil {
			return x, err
		}
	}
	return x, nil
}

// dropAlike applies the mask of dropout n to its gradient dy: same site, same row, same step.
func dropAlike(n, dy *Node) []*Node {
	in := []*Node{dy}
	for i := 1; i < n.NumIn(); i++ {
		in = append(in, n.In(i))
	}
	grads := make([]*Node, n.NumIn())
	grads[0] = dataflow.Apply(n.Op(), n.Attr(), in...)
	return grads
}

func dropStrip(a *Args) {
	if a.Rows == 0 {
		return
	}
	strip, drop, keep := dropping(a, a.In[1])
	for r := range a.Rows {
		row, rank := strip.absorbBits(a.In[2][r]), float32(0)
		if len(a.In) > 3 {
			rank = a.In[3][r]
		}
		dropRow(outRow(a, r), inRow(a, 0, r), row.absorbBits(rank), uint32(a.J), drop, keep)
	}
}

// dropping returns the hash state of a strip, whose step is one row, repeated; how many of 2^24 equally
// likely draws drop an entry; and the factor of entries that are kept.
func dropping(a *Args, step []float32) (strip counter, drop uint32, keep float32) {
	strip = newCounter()
	for _, w := range step[:3] {
		strip = strip.absorbBits(w)
	}
	return strip.absorb(uint32(a.I)), uint32(a.F * (1 << 24)), 1 / (1 - a.F)
}

// dropRow keeps x[c] if the draw of column first+c is not below drop. Both are below
// 2^31, so the sign of their difference decides, without a branch that would
// often be mispredicted.
func dropRow(dst, x []float32, row counter, first, drop uint32, keep float32) {
	x = x[:len(dst)]
	for c, v := range x {
		if v == 0 { // 0 either way; most entries of bag-of-words features are
			dst[c] = v
			continue
		}
		dropped := uint32(int32(row.draw(first+uint32(c))>>8-drop) >> 31) // all ones or zero
		dst[c] = math.Float32frombits(math.Float32bits(v*keep) &^ dropped)
	}
}
