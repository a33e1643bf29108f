package cuda

import (
	"unsafe"

	"sagann/device"
	"sagann/kernel"
	"sagann/layers"
	"sagann/saga"
)

// edgeBench is memory and a queue of a GPU.
type edgeBench struct {
	dev  device.GPU
	q    device.Queue
	held []device.Mem
}

func (e *edgeBench) close() {
	for _, m := range e.held {
		e.dev.Free(m)
	}
}

// put allocates bytes of device memory and copies b to its beginning. It begins at a multiple of
// 256, as the buffers of plans do, so that a slice of a row is one cache line.
func (e *edgeBench) put(b []byte, bytes int64) (uint64, error) {
	m, err := e.dev.Alloc((bytes + 255) &^ 255)
	if err != nil {
		return 0, err
	}
	e.held = append(e.held, m)
	if len(b) > 0 {
		if err := e.dev.CopyH2D(e.q, m, 0, b); err != nil {
			return 0, err
		}
	}
	return e.dev.Address(m)
}

// columns is the leading dimension of rows of width f, in floats.
func columns(f int) int {
	if f < 32 {
		return (f + 7) &^ 7
	}
	return (f + 31) &^ 31
}

func noise(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32((i*7+i/31)%1000)/1000 - 0.5
	}
	return x
}

func sumProgram(f, ld int) *kernel.Program {
	return &kernel.Program{Name: "gather-sum", Edges: true, Operands: 2, Widths: []int{f},
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}},
		Outs:   []kernel.Out{{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: ld}}}
}

// weightedSum is the sum of rows times the edges' weights.
func weightedSum(f, ld int) *kernel.Program {
	p := sumProgram(f, ld)
	p.Name, p.Widths, p.Outs[0].Reg = "weighted", []int{f, 1, f, f}, 3
	p.Leaves = append(p.Leaves, kernel.Leaf{From: kernel.Cell, Array: kernel.Weight, Cols: 1, LD: 1, Reg: 1})
	p.Instrs = []kernel.Instr{
		{Op: "widen", Role: kernel.Widen, Fn: widen, Dst: 2, In: []int{1}},
		{Op: "mul", Role: kernel.Mul, Fn: mul, CUDA: "$0 * $1", Dst: 3, In: []int{0, 2}}}
	return p
}

// widen and mul are the CPU code of the ops.
func widen(a *kernel.Args) {
	for i := range a.Out {
		a.Out[i] = a.In[0][i/a.OutCols]
	}
}

func mul(a *kernel.Args) {
	for i := range a.Out {
		a.Out[i] = a.In[0][i] * a.In[1][i]
	}
}

// gatherPrograms are the programs of a model's two layers, in training and evaluation, that gather
// rows of f columns.
func gatherPrograms(model string, f int) ([]*kernel.Program, error) {
	m, err := layers.New(model, layers.Options{Features: f, Hidden: f, Classes: f, Layers: 2})
	if err != nil {
		return nil, err
	}
	p, err := saga.Plan(m, saga.Shape{Vertices: 100_000, Edges: 1_000_000, Features: f, Classes: f}, saga.Config{Without: []string{"invariant"}})
	if err != nil {
		return nil, err
	}
	var out []*kernel.Program
	for _, k := range p.Kernels() {
		for _, l := range k.Leaves {
			if l.From == kernel.Other && l.Cols == f {
				out = append(out, k)
				break
			}
		}
	}
	return out, nil
}

func raw[T uint32 | float32](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
