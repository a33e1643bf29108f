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
)

// choice is a layer's options.
type choice struct{ bias, pyg, weights bool }

func choose(opts []Option) (c choice) {
	for _, o := range opts {
		c.bias = c.bias || o == WithBias
		c.pyg = c.pyg || o == PyGInit
		c.weights = c.weights || o == WithWeights
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
