package layers

import "sagann/saga"

// Activation is applied to the result of a layer: an element-wise function such as
// ops.ReLU, which keeps the shape. Nil means no activation, as in the last layer
// of a model.
type Activation func(saga.Tensor) saga.Tensor

func (f Activation) of(x saga.Tensor) saga.Tensor {
	if f == nil {
		return x
	}
	return f(x)
}

// after is the saga.Layer.After that applies f; nil if f is nil.
func (f Activation) after() func(saga.Vertex, saga.Tensor, saga.Params) saga.Tensor {
	if f == nil {
		return nil
	}
	return func(_ saga.Vertex, x saga.Tensor, _ saga.Params) saga.Tensor { return f(x) }
}
