package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan/sim"
	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/cuda"
	"sagann/layers"
	"sagann/saga"
)

// degreeSizes are the rows of both ends of a cell, the columns and the edges for each row.
var degreeSizes = []struct {
	rows, columns int
	edges         []int
}{
	{157_000, 128, []int{4, 8, 16, 32, 64, 128}},
	{157_000, 300, []int{18, 64}},
	{157_000, 50, []int{18, 64}},
	{314_000, 50, []int{37, 128}},
	{314_000, 128, []int{37}},
	{440_000, 128, []int{2, 8, 32}},
	{11_000_000, 128, []int{1, 2, 5}},
}

// degreeTable prints, for one cell of uniform edges, the times of every way to gather, and
// the times that the machine file of the H200 predicts. The cell is one of several in a sum,
// or the only one.
func degreeTable() error {
	d, err := device.OpenCUDA(0, 40<<30)
	if err != nil {
		return err
	}
	defer d.Close()
	m, err := sim.LoadMachine("h200")
	if err != nil {
		return err
	}
	fmt.Println("| program | F | rows | edges a row | cell | model, ms | a warp, slices | a warp, whole | a group, slices | a group, whole | chosen | its ms | packed | model's | ns a row | GB/s gathered |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	benches := map[int]*degreeBench{}
	for _, s := range degreeSizes {
		b := benches[s.columns]
		if b == nil {
			b = &degreeBench{gpu: d.(device.GPU), kind: m.Kind(0), f: s.columns}
			if err := b.compile(); err != nil {
				return err
			}
			benches[s.columns] = b
		}
		for _, each := range s.edges {
			if err := b.cell(drawCell(s.rows, each)); err != nil {
				return fmt.Errorf("%d rows of %d edges, F=%d: %w", s.rows, each, s.columns, err)
			}
		}
	}
	return nil
}

// drawCell draws the ends of edges uniformly, each edges for each row on average.
func drawCell(rows, each int) *csr {
	r := rand.New(rand.NewPCG(1, 2))
	g := &csr{name: "uniform", ptr: make([]uint32, rows+1), other: make([]uint32, rows*each)}
	for i := range g.other {
		g.other[i] = r.Uint32N(uint32(rows))
		g.ptr[r.IntN(rows)+1]++
	}
	for v := range rows {
		g.ptr[v+1] += g.ptr[v]
	}
	return g
}

// A degreeBench has the programs of one width on the device.
type degreeBench struct {
	gpu      device.GPU
	kind     *sim.DeviceKind
	f        int
	ld       int // leading dimension of the widest operand, in floats
	programs []*degreeProgram
}

type degreeProgram struct {
	p     *kernel.Program
	name  string
	cuda  *cuda.Program
	funcs []device.Function

	packed      *cuda.Program // for cells that hold far ends packed
	packedFuncs []device.Function
}

// compile makes a plain and a weighted sum and the gathers of two models.
func (b *degreeBench) compile() error {
	programs := []*degreeProgram{{p: sumProgram(b.f, columns(b.f)), name: "sum"}, {p: weightedSum(b.f, columns(b.f)), name: "weighted"}}
	for _, model := range []string{"resgated", "ggcn"} {
		list, err := gatherPrograms(model, b.f)
		if err != nil {
			return err
		}
		for _, p := range list {
			programs = append(programs, &degreeProgram{p: p, name: model + ", " + p.Name})
		}
	}
	seen := map[string]bool{}
	for _, p := range programs {
		var err error
		if p.cuda, err = cuda.Render(p.p, cuda.H200); err != nil {
			return err
		}
		if seen[p.cuda.Source] {
			continue
		}
		seen[p.cuda.Source] = true
		if p.funcs, err = b.gpu.Compile(p.cuda.Source, p.cuda.Names); err != nil {
			return err
		}
		q := *p.p
		q.Packed = true
		if p.packed, err = cuda.Render(&q, cuda.H200); err != nil {
			return err
		}
		if p.packedFuncs, err = b.gpu.Compile(p.packed.Source, p.packed.Names); err != nil {
			return err
		}
		for _, l := range p.p.Leaves {
			b.ld = max(b.ld, l.LD)
		}
		for _, o := range p.p.Outs {
			b.ld = max(b.ld, o.LD)
		}
		b.programs = append(b.programs, p)
	}
	return nil
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

// cell prints the lines of one cell.
func (b *degreeBench) cell(g *csr) error {
	e, err := newEdgeBench(b.gpu, g)
	if err != nil {
		return err
	}
	defer e.close()
	if e.cell.Weight, err = e.fill(len(g.other)); err != nil {
		return err
	}
	stream := chunk.View{Other: g.other}.Pack(len(g.ptr) - 1)
	packed := e.cell
	packed.Bits = stream.Bits
	if packed.Other, err = e.put(raw(stream.Packed), int64(4*len(stream.Packed))); err != nil {
		return err
	}
	var bufs []uint64 // by operand: a buffer that is large enough for all programs
	for _, p := range b.programs {
		for len(bufs) < p.p.Operands {
			at, err := e.fill((len(g.ptr) - 1) * b.ld)
			if err != nil {
				return err
			}
			bufs = append(bufs, at)
		}
		for _, only := range []bool{false, true} {
			if only && len(g.ptr) > 1_000_000 { // they take long
				continue
			}
			if err := b.line(e, p, bufs, &packed, only); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}

// line prints the times of a program over the cell, which is the only one (only) or one of several, and
// the time of the chosen way over the same cell with packed ids.
func (b *degreeBench) line(e *edgeBench, p *degreeProgram, bufs []uint64, packed *kernel.GPUCell, only bool) error {
	rows, edges := len(e.g.ptr)-1, len(e.g.other)
	l := kernel.GPULaunch{Rows: rows, Bufs: bufs[:p.p.Operands], First: only, Last: only, Cell: &e.cell}
	steps := func(w kernel.GatherWay) []kernel.GPUStep {
		l.Gather = w
		return p.cuda.Steps(&l)
	}
	last := func(s []kernel.GPUStep) string { return p.cuda.Names[s[len(s)-1].Func] }
	chosen, chosenTime := last(steps(kernel.ByCell)), 0.0
	launches := max(3, min(10, 5_000_000/rows))
	times, done := [4]string{}, map[string]bool{}
	for i := range times {
		s := steps(kernel.WarpSlice + kernel.GatherWay(i))
		if done[last(s)] {
			continue
		}
		done[last(s)] = true
		t, err := e.median(p.p.Name, p.funcs, s, launches)
		if err != nil {
			return err
		}
		times[i] = fmt.Sprintf("%.4f", t)
		if last(s) == chosen {
			chosenTime = t
		}
	}
	l.Gather, l.Cell = kernel.ByCell, packed
	packedTime, err := e.median(p.p.Name, p.packedFuncs, p.packed.Steps(&l), launches)
	if err != nil {
		return err
	}
	far := int64(0)
	for _, f := range p.p.Leaves {
		if f.From == kernel.Other {
			far += 4 * int64(f.Cols)
		}
	}
	cost := dataflow.CostOf(p.p)
	model := b.kind.KernelTime(&cost, rows, edges, rows) / 1e6
	fmt.Printf("| %s | %d | %d | %d | %s | %.4f | %s | %s | %.4f | %.2f× | %.2f× | %.3f | %.0f |\n", p.name, b.f, rows, edges/rows,
		map[bool]string{false: "in between", true: "only"}[only], model, strings.Join(times[:], " | "), chosen, chosenTime,
		packedTime/chosenTime, chosenTime/model, chosenTime*1e6/float64(rows), float64(int64(edges)*far)/chosenTime/1e6)
	return nil
}

// fill takes n floats of device memory and copies small numbers all over them.
func (e *edgeBench) fill(n int) (uint64, error) {
	const block = 1 << 20
	x := raw(noise(min(n, block)))
	bytes := int64(4 * n)
	at, err := e.put(x, bytes)
	m := e.held[len(e.held)-1]
	for done := int64(len(x)); err == nil && done < bytes; done *= 2 {
		err = e.dev.CopyD2D(e.q, m, done, e.dev, m, 0, min(done, bytes-done))
	}
	return at, err
}
