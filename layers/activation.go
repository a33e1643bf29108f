package layers

import "sagann/saga"

// Activation is applied to what a layer returns: an element-wise function such as
// ops.ReLU, shape to same shape. Nil returns the rows as they are, as the last layer
// of a model must.
type Activation func(saga.Tensor) saga.Tensor

func (f Activation) of(x saga.Tensor) saga.Tensor {
	if f == nil {
		return x
	}
	return f(x)
}
