package layers

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sagann/dataflow"
	"sagann/dataset"
	"sagann/ops"
	"sagann/saga"
)

// A panic of a layer's function and a result that is no tensor are errors of Compile that
// name the layer and the line of this file.
func TestPanics(t *testing.T) {
	var none *saga.Layer
	var old saga.Tensor
	var widths []int
	cause := errors.New("a cause")
	for _, c := range []struct {
		name  string
		want  string // the marked line stands before it
		layer saga.Layer
	}{
		{"index", "panic: runtime error: index out of range [1]", edgeOnly(func(e saga.Edge, p saga.Params) saga.Tensor {
			mark()
			return ops.MatMul(e.Src, p.Weight("W", 34, widths[1]))
		})},
		{"nil pointer", "panic: runtime error: invalid memory address", vertexOnly(func(v saga.Vertex, p saga.Params) saga.Tensor {
			mark()
			return none.ApplyVertex(v, p)
		})},
		{"in a package of Go's", "panic: strings: negative Repeat count", vertexOnly(func(v saga.Vertex, p saga.Params) saga.Tensor {
			mark()
			return ops.MatMul(v.Self, p.Weight(strings.Repeat("W", len(widths)-1), 34, 2))
		})},
		{"called back by one", "panic: 7", vertexOnly(func(v saga.Vertex, _ saga.Params) saga.Tensor {
			slices.SortFunc([]int{2, 1}, func(a, b int) int {
				mark()
				panic(a*0 + 7)
			})
			return v.Self
		})},
		{"an error", "panic: a cause", edgeOnly(func(saga.Edge, saga.Params) saga.Tensor {
			mark()
			panic(cause)
		})},
		{"a refusal", ": not so: a cause", edgeOnly(func(saga.Edge, saga.Params) saga.Tensor {
			mark()
			saga.Refuse("not so: %w", cause)
			return nil
		})},
		{"within an op", "panic: runtime error: invalid memory address", vertexOnly(func(v saga.Vertex, _ saga.Params) saga.Tensor {
			mark()
			return ops.Slice(v.Accum.In(0), 0, 1)
		})},
		{"nil message", "ApplyEdge(): returned nil", edgeOnly(func(saga.Edge, saga.Params) saga.Tensor { mark1(); return nil })},
		{"empty message", "ApplyEdge(): returned nil", edgeOnly(func(saga.Edge, saga.Params) saga.Tensor { mark1(); return new(dataflow.Node) })},
		{"nil row", "ApplyVertex(): returned nil", vertexOnly(func(saga.Vertex, saga.Params) saga.Tensor { mark1(); return nil })},
		{"empty operand", "operand 0 is missing", vertexOnly(func(saga.Vertex, saga.Params) saga.Tensor { mark1(); return ops.ReLU(new(dataflow.Node)) })},
		{"old tensor", "ApplyVertex(): returned a tensor of another program", vertexOnly(func(saga.Vertex, saga.Params) saga.Tensor { mark1(); return old })},
		{"nil score", "Score(): returned nil", saga.Layer{Name: "wrong", Gather: saga.SoftmaxSum,
			ApplyEdge: func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
			Score:     func(saga.Edge, saga.Params) saga.Tensor { mark1(); return nil }}},
		{"nil data", "UpdateEdge(): returned nil", saga.Layer{Name: "wrong",
			ApplyEdge:  func(e saga.Edge, _ saga.Params) saga.Tensor { return e.Src },
			UpdateEdge: func(saga.Edge, saga.Params) saga.Tensor { mark1(); return nil }}},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := saga.Layer{Name: "first", ApplyVertex: func(v saga.Vertex, _ saga.Params) saga.Tensor {
				if old == nil {
					old = v.Self
				}
				return v.Self
			}}
			_, err := saga.Compile(saga.Model{Layers: []saga.Layer{first, c.layer}}, dataset.Karate(), saga.Config{})
			var at *saga.LayerError
			if !errors.As(err, &at) || at.Layer != 2 || at.Name != "wrong" {
				t.Fatalf("error %v, want a *saga.LayerError of layer 2 (wrong)", err)
			}
			if want := fmt.Sprintf("panic_test.go:%d: ", marked); !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q and %q", err, want, c.want)
			}
			if (c.name == "an error" || c.name == "a refusal") && !errors.Is(err, cause) {
				t.Errorf("error %v does not wrap the panic's", err)
			}
			if c.name == "a refusal" && strings.Contains(err.Error(), "panic: ") {
				t.Errorf("error %q is one of a panic", err)
			}
		})
	}
}

// mark1 marks the line that calls it.
func mark1() {
	_, _, line, _ := runtime.Caller(1)
	marked = line
}
