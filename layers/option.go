package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// Option is a variation of a layer. Without options a layer is the formula
// in its comment; weights start as saga.Glorot says, biases as zero.
type Option int

const (
	// WithBias adds a bias to the sums of GCN, GAT and GATv2, and to both products of GATv2. PyTorch
	// Geometric has these biases, the papers do not.
	WithBias Option = iota
	// PyGInit initialises parameters from the same ranges as PyTorch Geometric. Layers that PyTorch
	// Geometric does not have ignore it.
	PyGInit
	// WithWeights has SGC and APPNP normalise the weights of edges (saga.Edge.WeightNorm); otherwise each counts as 1.
	WithWeights
	// WithEdges has GAT and GATv2 read the numbers of edges, which are an error where the graph has none.
	WithEdges
	// WithoutEdges has layers that read the numbers of edges where the graph has them leave them out.
	WithoutEdges
)

// choice is a layer's options.
type choice struct{ bias, pyg, weights, edges, noEdges bool }

func choose(opts []Option) (c choice) {
	for _, o := range opts {
		c.bias = c.bias || o == WithBias
		c.pyg = c.pyg || o == PyGInit
		c.weights = c.weights || o == WithWeights
		c.edges = c.edges || o == WithEdges
		c.noEdges = c.noEdges || o == WithoutEdges
	}
	return c
}

// scale is the factor of edges in SGC and APPNP.
func (c choice) scale() EdgeScale {
	if c.weights {
		return saga.Edge.WeightNorm
	}
	return saga.Edge.SymNorm
}

// biased is x plus the bias called name, if the layer has one. Without init it starts as zero.
func (c choice) biased(x saga.Tensor, p saga.Params, name string, init saga.Init) saga.Tensor {
	if !c.bias {
		return x
	}
	return ops.Bias(x, p.Bias(name, x.Cols(), init))
}

// fanIn is the initialisation of weights and biases of a product with n inputs: with PyGInit torch's
// ±1/√n, otherwise nil, the default.
func (c choice) fanIn(n int) saga.Init {
	if !c.pyg {
		return nil
	}
	return saga.FanIn(n)
}

// product is x·W with out columns, the parameter being W with suffix behind it.
func (c choice) product(x saga.Tensor, p saga.Params, suffix string, out int) saga.Tensor {
	return ops.MatMul(x, p.Weight("W"+suffix, x.Cols(), out, c.fanIn(x.Cols())))
}

// linear is x·W + b with out columns, the parameters being W and b with suffix behind them.
func (c choice) linear(x saga.Tensor, p saga.Params, suffix string, out int) saga.Tensor {
	return ops.Bias(c.product(x, p, suffix, out), p.Bias("b"+suffix, out, c.fanIn(x.Cols())))
}

// data are the numbers of edges that a layer reads, nil for none. unasked layers read them without WithEdges. Of several relations some may
// have none.
func (c choice) data(e saga.Edge, unasked bool) saga.Tensor {
	switch {
	case c.noEdges || !c.edges && !unasked:
		return nil
	case c.edges && e.Data == nil && e.Relation.Name == "":
		saga.Refuse("the edges have no numbers, which layers.WithEdges reads")
	}
	return e.Data
}

// tiled is x [·×c] n times side by side: [·×n·c].
func tiled(x saga.Tensor, n int) saga.Tensor {
	switch {
	case n == 1:
		return x
	case n%2 == 1:
		return ops.Concat(x, tiled(x, n-1))
	}
	half := tiled(x, n/2)
	return ops.Concat(half, half)
}
