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
