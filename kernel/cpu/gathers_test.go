package cpu_test

import (
	"math/rand/v2"
	"testing"

	"sagann/chunk"
	"sagann/internal/simd"
	"sagann/kernel"
	"sagann/kernel/cpu"
)

// BenchmarkGathers sums, or takes maxima of, the rows of 64 columns at the other ends of the 40 edges of each of 20,000
// vertices. Several in one program share the rows of a strip.
func BenchmarkGathers(b *testing.B) {
	const vertices, degree, cols = 20000, 40, 64
	r := rand.New(rand.NewPCG(1, 2))
	cell := &chunk.View{}
	for i := range vertices * degree {
		if i%degree == 0 {
			cell.Ptr = append(cell.Ptr, uint32(i))
		}
		cell.Other, cell.Rank = append(cell.Other, uint32(r.IntN(vertices))), append(cell.Rank, float32(i%degree))
	}
	cell.Ptr = append(cell.Ptr, vertices*degree)
	rows := func() []float32 { return make([]float32, vertices*cols) }
	square := func(a *kernel.Args) { simd.Square(a.Out, a.In[0]) }
	negate := func(a *kernel.Args) { simd.Neg(a.Out, a.In[0]) }
	type gather struct {
		acc  kernel.Acc
		of   kernel.StripFunc // of the rows; nil: the rows as they are
		rank bool             // with the ranks of maxima, as training needs them
		role kernel.Role
	}
	sum, squares, top := gather{acc: kernel.Sum}, gather{acc: kernel.Sum, of: square, role: kernel.Square}, gather{acc: kernel.Max, rank: true}
	low := gather{kernel.Max, negate, true, kernel.Neg}
	for _, bench := range []struct {
		name string
		of   []gather
	}{
		{"sum", []gather{sum}},
		{"max", []gather{top}},
		{"max without ranks", []gather{{acc: kernel.Max}}},
		{"sum and max", []gather{sum, top}},
		{"std", []gather{sum, squares}},
		{"max and min", []gather{top, low}},
		{"std and max", []gather{sum, squares, top}},
		{"mean, min, max and std", []gather{sum, squares, top, low}},
	} {
		p := &kernel.Program{Name: "gathers", Edges: true, Ascend: true, Widths: []int{cols}, Leaves: []kernel.Leaf{{From: kernel.Other, Cols: cols, LD: cols}}}
		bufs := [][]float32{rows()}
		for i := range bufs[0] {
			bufs[0][i] = r.Float32()
		}
		for _, g := range bench.of {
			o := kernel.Out{Acc: g.acc, LD: cols, Aux: -1, Operand: len(bufs)}
			bufs = append(bufs, rows())
			if g.rank {
				o.Aux, o.AuxLD = len(bufs), cols
				bufs = append(bufs, rows())
			}
			if g.of != nil {
				o.Reg = len(p.Widths)
				p.Widths = append(p.Widths, cols)
				p.Instrs = append(p.Instrs, kernel.Instr{Fn: g.of, Role: g.role, In: []int{0}, Dst: o.Reg})
			}
			p.Outs = append(p.Outs, o)
		}
		p.Operands = len(bufs)
		c, err := cpu.Compile(p)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				c.Run(&cpu.Launch{Rows: vertices, Bufs: bufs, Cell: cell, First: true, Last: true})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(cell.Other)), "ns/edge")
		})
	}
}
