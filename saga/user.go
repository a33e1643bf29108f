package saga

import (
	"errors"
	"fmt"

	"sagann/dataflow"
)

// user calls f, one of the model's functions, by run; what is its name. The result must be a tensor of
// this program: anything else, and any panic of f, becomes an error of trace (see failed).
func (t *tracer) user(what dataflow.Op, f any, run func() Tensor) Tensor {
	t.running = true
	y := run()
	t.running = false
	var err error
	switch {
	case y == nil || y.Graph() == nil:
		err = errors.New("returned nil instead of a tensor")
	case y.Graph() != t.g:
		err = errors.New("returned a tensor of another program; use what its arguments and Params give")
	default:
		return y
	}
	panic(&dataflow.ShapeError{Op: what, Pos: dataflow.FuncPos(f), Err: err})
}

// Refuse ends one of a model's functions: the error of Compile names the layer and the line of the call and says why, as
// fmt.Errorf does of format and a.
func Refuse(format string, a ...any) { panic(&refusal{fmt.Errorf(format, a...)}) }

// refusal is the error of Refuse.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// failed turns r, what a trace panicked with, into an error: a wrong shape, or a panic in one of the
// model's functions, with its line. Any other panic is a bug of the engine and is not caught.
func (t *tracer) failed(r any) error {
	e, _ := r.(error)
	var shape *dataflow.ShapeError
	switch {
	case errors.As(e, &shape):
		return shape
	case !t.running:
		panic(r)
	case errors.As(e, new(*refusal)):
		return fmt.Errorf("%s: %w", dataflow.Panicked(), e)
	case e != nil:
		return fmt.Errorf("%s: panic: %w", dataflow.Panicked(), e)
	}
	return fmt.Errorf("%s: panic: %v", dataflow.Panicked(), r)
}
