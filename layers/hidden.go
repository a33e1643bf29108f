package layers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sagann/ops"
	"sagann/saga"
)

// Norms of Between.Norm.
const (
	NormLayer = "layer" // every row to mean 0 and variance 1: LayerNorm
	NormBatch = "batch" // every column, over all vertices: saga.Vertex.BatchNorm
)

// Between says what is done with the result of all layers but the last.
type Between struct {
	Activation string // one of Activations; default: ReLU, for gat and gatv2 ELU
	Norm       string // before the activation: one of Norms; default: none
	Residual   bool   // the input of a layer is added to its result
}

// normEps is added to variances. It is the default of torch.nn.LayerNorm and BatchNorm1d.
const normEps = 1e-5

// activations are those of Between.Activation.
var activations = map[string]Activation{
	"relu": ops.ReLU, "elu": ops.ELU, "gelu": ops.GELU, "tanh": ops.Tanh, "sigmoid": ops.Sigmoid,
	"leaky-relu": func(x saga.Tensor) saga.Tensor { return ops.LeakyReLU(x, 0.01) }, "none": nil,
}

// Activations lists the names that Between.Activation takes, in alphabetical order.
func Activations() []string { return slices.Sorted(maps.Keys(activations)) }

// LayerNorm brings every row of x [V×c] to mean 0 and variance 1, and learns scale and shift (Ba et al.,
// 2016), like torch.nn.LayerNorm. Parameters: norm.g, norm.b [1×c].
func LayerNorm(x saga.Tensor, p saga.Params) saga.Tensor {
	return affine(ops.LayerNorm(x, normEps), p)
}

// affine is x·g + b, column by column.
func affine(x saga.Tensor, p saga.Params) saga.Tensor {
	g, b := p.Bias("norm.g", x.Cols(), saga.One), p.Bias("norm.b", x.Cols())
	return ops.Bias(ops.Mul(x, g), b)
}

// norms are those of Between.Norm.
var norms = map[string]func(v saga.Vertex, x saga.Tensor, p saga.Params) saga.Tensor{
	NormLayer: func(_ saga.Vertex, x saga.Tensor, p saga.Params) saga.Tensor { return LayerNorm(x, p) },
	NormBatch: saga.Vertex.BatchNorm,
}

// Norms lists the names that Between.Norm takes, in alphabetical order.
func Norms() []string { return slices.Sorted(maps.Keys(norms)) }

// around wraps a hidden layer l, which makes rows y from rows x:
//
//	x' = act(norm(y)) + x
//
// with those parts that b asks for. If y and x differ in width, x·R takes the place of x.
// Parameters: norm.g, norm.b [1×c], R [in×c].
func (b *Between) around(l saga.Layer, act Activation) saga.Layer {
	norm, residual := norms[b.Norm], b.Residual
	apply := l.ApplyVertex
	l.ApplyVertex = func(v saga.Vertex, p saga.Params) saga.Tensor {
		y := v.Accum
		if apply != nil {
			y = apply(v, p)
		}
		if norm != nil {
			y = norm(v, y, p)
		}
		if y = act.of(y); !residual {
			return y
		}
		x := v.Self
		if x.Cols() != y.Cols() {
			x = ops.MatMul(x, p.Weight("R", x.Cols(), y.Cols()))
		}
		return ops.Add(y, x)
	}
	return l
}

// plain reports whether hidden layers are unchanged.
func (b *Between) plain() bool { return *b == Between{} }

// between is a hidden layer: layer with the model's own activation or, if the options say something
// else, wrapped as they say.
func (o *Options) between(layer func(act Activation) saga.Layer, own Activation) saga.Layer {
	if o.Between.plain() {
		return layer(own)
	}
	if act, ok := activations[o.Between.Activation]; ok {
		own = act
	}
	return o.Between.around(layer(nil), own)
}

// check lists the errors in the options of hidden layers.
func (b *Between) check() (errs []error) {
	if _, ok := activations[b.Activation]; !ok && b.Activation != "" {
		errs = append(errs, fmt.Errorf("unknown activation %q; there are %s", b.Activation, strings.Join(Activations(), ", ")))
	}
	if norms[b.Norm] == nil && b.Norm != "" {
		errs = append(errs, fmt.Errorf("unknown norm %q; there are %s", b.Norm, strings.Join(Norms(), ", ")))
	}
	return errs
}
