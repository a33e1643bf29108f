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

// Ways of Between.Jump to join the rows of layers.
const (
	JumpCat = "cat" // side by side
	JumpMax = "max" // the largest, column by column
	JumpSum = "sum"
)

// Between says what is done with the result of all layers but the last, and before the first.
type Between struct {
	Activation string // one of Activations; default: ReLU, for gat and gatv2 ELU
	Norm       string // before the activation: one of Norms; default: none
	Residual   bool   // the input of a layer is added to its result
	// Jump joins the rows behind all layers (jumping knowledge, Xu et al., 2018): one of Jumps. All layers are then hidden ones, and a
	// linear layer makes logits of what was joined. Default: none, the last layer's rows are the logits.
	Jump string
	// Project begins the model with a linear layer to as many columns as hidden layers have, and their activation; over several vertex
	// types with one for each, so that all have as many columns. Models that begin with one of their own (Reading) ignore it.
	Project bool
}

// jumping is the name of the layer of Between.Jump.
const jumping = "jk"

// jumps are the ways of Between.Jump.
var jumps = map[string]func(x, y saga.Tensor) saga.Tensor{
	JumpCat: func(x, y saga.Tensor) saga.Tensor { return ops.Concat(x, y) }, JumpMax: ops.Maximum, JumpSum: ops.Add,
}

// Jumps lists the ways of Between.Jump, in alphabetical order.
func Jumps() []string { return slices.Sorted(maps.Keys(jumps)) }

// jump is the layer that joins the rows behind the layers of ends. Dropout acts on what was joined.
func (o *Options) jump(ends []int) saga.Layer {
	join, classes, drop, c := jumps[o.Between.Jump], o.Classes, o.Dropout, choose(o.start())
	return saga.Layer{Name: jumping, Scope: jumping, ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
		x := v.Rows(ends[0])
		for _, k := range ends[1:] {
			x = join(x, v.Rows(k))
		}
		return c.linear(v.Dropout(x, drop), p, "", classes)
	}}
}

var (
	_ = pyg(jumping, row{"W", "weight", transposed}, row{"b", "bias", vector})
	_ = pyg("norm", row{"norm.g", "weight", vector}, row{"norm.b", "bias", vector},
		row{"norm.mean", "running_mean", vector}, row{"norm.var", "running_var", vector})
	_ = pyg("residual", row{"R", "weight", transposed})
)

// normEps is added to variances. It is the default of torch.nn.LayerNorm and BatchNorm1d.
const normEps = 1e-5

// activations are those of Between.Activation.
var activations = map[string]Activation{
	"relu": ops.ReLU, "elu": ops.ELU, "gelu": ops.GELU, "gelu-exact": ops.GELUExact, "tanh": ops.Tanh, "sigmoid": ops.Sigmoid,
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

// around has a hidden layer l, which makes rows y from rows x, go on with
//
//	x' = act(norm(y)) + x
//
// with those parts that b asks for. If y and x differ in width, x·R takes the place of x. If from is not below 0, x are the rows
// behind layer from of the model. Over several relations y is their sum, and parameters are of the vertex type. Parameters: norm.g, norm.b
// [1×c], R [in×c].
func (b *Between) around(l saga.Layer, act Activation, from int) saga.Layer {
	norm, residual := norms[b.Norm], b.Residual
	l.After = func(v saga.Vertex, y saga.Tensor, p saga.Params) saga.Tensor {
		if norm != nil {
			y = norm(v, y, p)
		}
		if y = act.of(y); !residual {
			return y
		}
		x := v.Self
		if from >= 0 {
			x = v.Rows(from)
		}
		if x.Cols() != y.Cols() {
			x = ops.MatMul(x, p.Weight("R", x.Cols(), y.Cols()))
		}
		return ops.Add(y, x)
	}
	return l
}

// plain reports whether hidden layers are unchanged.
func (b *Between) plain() bool { return b.Activation == "" && b.Norm == "" && !b.Residual }

// between is a hidden layer of one or several layers, behind at others: layer with the model's own activation or, if the options say
// something else, wrapped as they say.
func (o *Options) between(layer func(act Activation) []saga.Layer, own Activation, at int) []saga.Layer {
	if o.Between.plain() {
		return layer(own)
	}
	if act, ok := activations[o.Between.Activation]; ok {
		own = act
	}
	l := layer(nil)
	last, from := len(l)-1, -1
	if last > 0 {
		if from = at; l[0].Name == dropping {
			from++
		}
	}
	l[last] = o.Between.around(l[last], own, from)
	return l
}

// check lists the errors in the options of hidden layers.
func (b *Between) check() (errs []error) {
	if _, ok := activations[b.Activation]; !ok && b.Activation != "" {
		errs = append(errs, fmt.Errorf("unknown activation %q; there are %s", b.Activation, strings.Join(Activations(), ", ")))
	}
	if jumps[b.Jump] == nil && b.Jump != "" {
		errs = append(errs, fmt.Errorf("unknown jump %q; there are %s", b.Jump, strings.Join(Jumps(), ", ")))
	}
	if norms[b.Norm] == nil && b.Norm != "" {
		errs = append(errs, fmt.Errorf("unknown norm %q; there are %s", b.Norm, strings.Join(Norms(), ", ")))
	}
	return errs
}
