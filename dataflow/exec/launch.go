package exec

import (
	"fmt"
	"slices"
	"sync"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// Kernels on GPUs. They are rendered as text and compiled once. The commands of a task are prepared
// once; each step submits them.

// onGPUs is the state of a runner on GPUs.
type onGPUs struct {
	renderer  kernel.Renderer
	programs  []kernel.Rendered // by kernel
	each      []*gpu            // by device
	capturing bool              // tasks are submitted to be captured as a graph
	blocks    bool              // batches are loaded ahead, which needs the kernels of Renderer.Blocks
}

// gpu is the state of a runner on one GPU.
type gpu struct {
	dev     device.GPU
	funcs   [][]device.Function // by kernel
	base    uint64              // address of the arena's memory
	memory  device.Mem          // scratch memory: stepWords numbers of the optimiser, then scratch of kernels
	step    uint64              // address of the numbers of the optimiser
	scratch uint64              // address of the scratch of kernels
	add     device.Function     // Add
	larger  device.Function     // Add with Marks.Max
	blocks  []device.Function   // by kernel.BlockTake and so on
	update  device.Function     // the optimiser's kernel
	average device.Function     // used in place of update for running statistics (UpdateCall.Average)
	batches map[*task]device.Batch
}

// Scratch is the device memory in bytes that runners of programs need on each GPU of a kind besides their plans' memory. The
// runners share it (Arena.Scratch). rows and edges are the most that one launch works on.
func Scratch(kind *backend.Kind, rows, edges int, programs ...[]*kernel.Program) int64 {
	var most int64
	for _, list := range programs {
		for _, p := range list {
			most = max(most, kind.Renderer.Scratch(p, kind.Chip, rows, edges))
		}
	}
	return (most + 4*stepWords + 255) &^ 255
}

// CompileAhead begins compiling the kernels of programs for the GPUs of spec, so that opening them finds it done. It returns at once;
// an error is left to what opens them. end leaves out what has not begun, and waits for what has; it may be called again.
func CompileAhead(spec string, programs ...[]*kernel.Program) (end func()) {
	kind := backend.Of(spec)
	if !kind.GPU() || !device.BuiltForCUDA {
		return func() {}
	}
	var sources []string
	for _, list := range programs {
		for _, p := range list {
			if r, err := kind.Renderer.Render(p, kind.Chip); err == nil { // the text is the same for every chip
				sources = append(sources, r.Text().Source)
			}
		}
	}
	return device.CompileAhead(spec, sources)
}

// render renders the programs for the device's kind of GPU.
func (g *onGPUs) render(dev device.Device, programs []*kernel.Program) error {
	kind := backend.Of(dev.Info().Kind)
	if !kind.GPU() {
		return fmt.Errorf("exec: %v compiles kernels, but nothing renders them for its kind", dev.Info())
	}
	g.renderer = kind.Renderer
	for _, p := range programs {
		if err := p.Check(); err != nil {
			return err
		}
		r, err := kind.Renderer.Render(p, kind.ChipOf(dev.Info()))
		if err != nil {
			return err
		}
		g.programs = append(g.programs, r)
	}
	return nil
}

// scratch is the scratch memory in bytes that launches over at most that many rows and edges need.
func (g *onGPUs) scratch(rows, edges int) int64 {
	var most int64
	for _, p := range g.programs {
		most = max(most, p.Scratch(rows, edges))
	}
	return most + 4*stepWords
}

// open compiles the programs for every GPU of the arena and reserves scratch memory for launches over at most that many rows and
// edges. blocks says that batches are loaded ahead.
func (g *onGPUs) open(a *Arena, programs []*kernel.Program, rows, edges int, blocks bool) error {
	err := g.render(a.devices[0].dev, programs)
	if err != nil {
		return err
	}
	g.blocks = blocks
	need := max(g.scratch(rows, edges), a.Scratch)
	for i := range a.devices {
		p := &a.devices[i]
		dev, ok := p.dev.(device.GPU)
		if !ok {
			return fmt.Errorf("exec: %v is no GPU, but %v is", p.dev.Info(), a.devices[0].dev.Info())
		}
		one := &gpu{dev: dev, batches: map[*task]device.Batch{}}
		if p.scratch.Len() < need {
			m, err := dev.Alloc(need)
			if err != nil {
				return fmt.Errorf("exec: scratch memory of the kernels: %w", err)
			}
			p.held = append(p.held, m)
			p.scratch = m
		}
		if one.base, err = dev.Address(p.mem); err != nil {
			return err
		}
		one.memory = p.scratch
		if one.step, err = dev.Address(one.memory); err != nil {
			return err
		}
		one.scratch = one.step + 4*stepWords
		if err := one.compile(g); err != nil {
			return err
		}
		g.each = append(g.each, one)
	}
	return nil
}

// compile compiles each different source once, up to eight in parallel.
func (g *gpu) compile(on *onGPUs) error {
	type module struct {
		funcs []device.Function
		err   error
	}
	done := map[string]*module{}
	var wg sync.WaitGroup
	limit := make(chan struct{}, 8)
	for _, p := range on.programs {
		text := p.Text()
		if done[text.Source] != nil || len(text.Names) == 0 {
			continue
		}
		m := &module{}
		done[text.Source] = m
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			m.funcs, m.err = g.dev.Compile(text.Source, text.Names)
		})
	}
	wg.Wait()
	for i, p := range on.programs {
		m := done[p.Text().Source]
		if m == nil {
			m = &module{}
		}
		if m.err != nil {
			return fmt.Errorf("exec: kernel %d: %w", i, m.err)
		}
		g.funcs = append(g.funcs, m.funcs)
	}
	join := on.renderer.Join()
	add, err := g.dev.Compile(join.Source, join.Names)
	if err != nil {
		return err
	}
	g.add, g.larger = add[0], add[1]
	if !on.blocks {
		return nil
	}
	text := on.renderer.Blocks()
	if g.blocks, err = g.dev.Compile(text.Source, text.Names); err != nil {
		return err
	}
	return nil
}

// commands is the number of prepared commands of all tasks.
func (g *gpu) commands() int {
	n := 0
	for _, b := range g.batches {
		n += b.Commands()
	}
	return n
}

// Batch returns the task's commands for the GPU. They are prepared once or, over sampled blocks, again for every
// step.
func (k *task) Batch(d device.GPU) (device.Batch, error) {
	g := k.on.gpus.each[k.on.arena.number(k.t.Device)]
	if b := g.batches[k]; b != nil {
		if k.on.now.batch == nil || k.t.Kind == plan.Update {
			return b, nil
		}
		d.Release(b)
		delete(g.batches, k)
	}
	list, err := k.list(g)
	if err != nil {
		return nil, err
	}
	b, err := d.Prepare(list)
	if err == nil {
		g.batches[k] = b
	}
	return b, err
}

func (k *task) list(g *gpu) ([]device.Command, error) {
	x, t := k.on, k.t
	switch t.Kind {
	case plan.Zero:
		at, bytes := x.now.cleared(t)
		return []device.Command{{Clear: &device.Clear{Addr: g.base + uint64(at), Bytes: bytes}}}, nil
	case plan.Take:
		return []device.Command{g.take(x.now, t)}, nil
	case plan.Add:
		f := g.add
		if t.Is.Max {
			f = g.larger
		}
		return []device.Command{{Call: &device.Call{Func: f, Grid: [3]uint32{256, 1, 1}, Block: 256,
			Args: []uint64{g.base + uint64(t.Addr), g.base + uint64(t.FromAddr), uint64(t.Bytes / 4)}}}}, nil
	case plan.Update:
		return x.update.commands(g), nil
	case plan.Run:
	default:
		return nil, fmt.Errorf("a GPU has no kernel for %s", x.plan.DescribeTask(t))
	}
	l := &kernel.GPULaunch{Rows: int(t.Rows), First: t.Is.First, Last: t.Is.Last, Scratch: g.scratch, TF32: x.arena.TF32}
	for _, at := range x.plan.Args[t.Args[0]:t.Args[1]] {
		l.Bufs = append(l.Bufs, g.base+uint64(x.now.at(at)))
	}
	switch {
	case x.now.batch != nil:
		rows, c := x.now.of(t)
		l.Rows, l.Index = rows, g.base+uint64(x.now.ids())
		if c != nil {
			l.Cell = g.blockCell(x.now, t, c)
		}
	case t.Other >= 0:
		side := x.copies.sides[t.Dir]
		l.Cell = cudaCell(x.copies.cell(t), side.View(int(t.Own)*side.P+int(t.Other)).Ptr, g.base+uint64(t.Cell))
	}
	var list []device.Command
	for _, s := range x.gpus.programs[t.Kernel].Steps(l) {
		if s.Func < 0 {
			m := s.Gemm
			list = append(list, device.Command{Gemm: &device.Gemm{A: m.A, B: m.B, C: m.C, M: m.M, N: m.N, K: m.K,
				LDA: m.LDA, LDB: m.LDB, LDC: m.LDC, TransA: m.TransA, TransB: m.TransB, Add: m.Add, TF32: x.arena.TF32}})
			continue
		}
		list = append(list, device.Command{Call: &device.Call{Func: g.funcs[t.Kernel][s.Func],
			Grid: s.Grid, Block: s.Block, Shared: s.Shared, Args: s.Args, Beside: s.Beside}})
	}
	return list, nil
}

// blockCell is the cell of a launch over a block. It gives kernels only counts to choose by, even if the host knows the row
// lengths, so that results do not depend on whether the GPU or the host has sampled the block.
func (g *gpu) blockCell(now *current, t *plan.Task, c *Cell) *kernel.GPUCell {
	x := cudaCell(&c.Cell, nil, g.base+uint64(now.at(t.Cell)))
	x.Rows, x.NNZ, x.Most = c.Rows, int(c.NNZ), int(c.NNZ)
	if most := now.batch.Most; t.Dir == plan.CSC && len(most) > 0 && most[t.Other] > 0 {
		x.Most = most[t.Other]
	}
	return x
}

// cudaCell is cell c, whose arrays begin at device address addr, as kernels take it.
func cudaCell(c *chunk.Cell, ptr []uint32, addr uint64) *kernel.GPUCell {
	part := func(off int64) uint64 {
		if off < 0 {
			return 0
		}
		return addr + uint64(off)
	}
	return &kernel.GPUCell{RowIDs: part(c.RowsOff), PtrAt: part(c.PtrOff), Other: part(c.OtherOff), Rank: part(c.RankOff),
		Type: part(c.TypeOff), Weight: part(c.WeightOff), Data: part(c.DataOff), Bits: c.Bits, Ptr: ptr}
}

// blockCall is a launch of a kernel of kernel.Renderer.Blocks (fn: kernel.BlockTake and so on), with a thread for each of n
// elements.
func (g *gpu) blockCall(fn int, n uint64, args ...uint64) device.Command {
	blocks := min(1<<20, max(1, (n+255)/256))
	return device.Command{Call: &device.Call{Func: g.blocks[fn], Grid: [3]uint32{uint32(blocks), 1, 1}, Block: 256, Args: args}}
}

// take is a Take task as a command: it copies the rows of the batch's vertices out of a table.
func (g *gpu) take(now *current, t *plan.Task) device.Command {
	words := uint64(now.plan.Spec.Values[t.Value].RowBytes) / 16
	n := uint64(now.batch.Rows[t.Own])
	return g.blockCall(kernel.BlockTake, (n*words+3)/4, g.base+uint64(t.Addr), g.base+uint64(t.FromAddr), g.base+uint64(now.ids()), n, words)
}

// indexed returns the programs changed so that operands in tables on the device (plan.Sets.InTable) are read by the list of the batch's
// vertices.
func indexed(p *plan.Plan, programs []*kernel.Program) []*kernel.Program {
	z := p.Places.Sets
	if z == nil || !z.Ahead.On {
		return programs
	}
	out := slices.Clone(programs)
	for q := range p.Spec.Phases {
		for _, st := range p.Spec.Phases[q].Steps {
			for _, c := range st.Calls {
				for k := range c.Operands {
					if z.InTable(&st, &c.Operands[k]) {
						out[c.Kernel] = out[c.Kernel].WithIndex(k)
					}
				}
			}
		}
	}
	return out
}

// once submits commands that are used one time.
type once struct {
	gpu   *gpu
	lists []device.Batch
}

// submit submits commands to a queue. release frees them.
func (o *once) submit(q device.Queue, list ...device.Command) error {
	b, err := o.gpu.dev.Prepare(list)
	if err != nil {
		return err
	}
	o.lists = append(o.lists, b)
	return o.gpu.dev.Launch(q, device.GPUFunc("blocks", func(device.GPU) (device.Batch, error) { return b, nil }))
}

// release frees the commands. They must have been submitted.
func (o *once) release() {
	for _, b := range o.lists {
		o.gpu.dev.Release(b)
	}
	o.lists = o.lists[:0]
}
