package layers

import (
	"sagann/ops"
	"sagann/saga"
)

// Option is something that a layer has beside its formula. Without any a layer is the formula
// that its comment prints: weights by saga.Glorot, biases zero.
type Option int

const (
	// WithBias adds a bias to the sums of GCN, GAT and GATv2, and to both products of GATv2,
	// where the papers have none and PyTorch Geometric has one.
	WithBias Option = iota
	// PyGInit draws the first parameters from the ranges that PyTorch Geometric draws them from.
	// Layers that it has not ignore it.
	PyGInit
)

// choice is a layer's options.
type choice struct{ bias, pyg bool }

func choose(opts []Option) (c choice) {
	for _, o := range opts {
		c.bias = c.bias || o == WithBias
		c.pyg = c.pyg || o == PyGInit
	}
	return c
}

// biased is x plus the bias NAME, zero at first, of a layer that has one.
func (c choice) biased(x saga.Tensor, p saga.Params, name string, init saga.Init) saga.Tensor {
	if !c.bias {
		return x
	}
	return ops.Bias(x, p.Bias(name, x.Cols(), init))
}

// fanIn is the start of weights and biases of a product with n inputs: torch's ±1/√n with PyGInit,
// nil for the default otherwise.
func (c choice) fanIn(n int) saga.Init {
	if !c.pyg {
		return nil
	}
	return saga.FanIn(n)
}
