package exec

import (
	"fmt"
	"slices"
	"sync"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/device/launch"
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
	funcs   [][]*launch.Kernel // by kernel
	base    uint64             // address of the arena's memory
	memory  device.Mem         // scratch memory: stepWords numbers of the optimiser, then scratch of kernels
	step    uint64             // address of the numbers of the optimiser
	scratch uint64             // address of the scratch of kernels
	room    int64              // its bytes
	add     *launch.Kernel     // Add
	larger  *launch.Kernel     // Add with Marks.Max
	blocks  []*launch.Kernel   // by kernel.BlockTake and so on
	update  *launch.Kernel     // the optimiser's kernel
	average *launch.Kernel     // used in place of update for running statistics (UpdateCall.Average)
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

// scratch is the scratch memory in bytes that launches of p over at most that many rows and edges need beside what the plan has for them: nothing, unless the
// GPU is of another kind than the plan is for.
func (g *onGPUs) scratch(p *plan.Plan, rows, edges int) (most int64) {
	if p.Places.Work == nil {
		for _, k := range g.programs {
			most = max(most, k.Scratch(rows, edges))
		}
		return most + 4*stepWords
	}
	for i := range p.Tasks {
		if t := &p.Tasks[i]; t.Kind == plan.Run {
			if n := g.needs(p, t); n > p.Places.Work[t.Phase].Bytes {
				most = max(most, n)
			}
		}
	}
	return most + 4*stepWords
}

// needs is the scratch memory in bytes of launch t of p, which is over a full graph.
func (g *onGPUs) needs(p *plan.Plan, t *plan.Task) int64 {
	edges := 0
	if t.Other >= 0 {
		edges = int(p.Cells.NNZ[t.Dir][int(t.Own)*p.Cells.P+int(t.Other)])
	}
	return g.programs[t.Kernel].Scratch(int(t.Rows), edges)
}

// open compiles the programs for every GPU of the arena and reserves scratch memory for launches of pl over at most that many rows and
// edges. blocks says that batches are loaded ahead.
func (g *onGPUs) open(a *Arena, pl *plan.Plan, programs []*kernel.Program, rows, edges int, blocks bool) error {
	err := g.render(a.devices[0].dev, programs)
	if err != nil {
		return err
	}
	g.blocks = blocks
	need := max(g.scratch(pl, rows, edges), a.Scratch)
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
		one.scratch, one.room = one.step+4*stepWords, one.memory.Len()-4*stepWords
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
		funcs []*launch.Kernel
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
			m.funcs, m.err = backend.Compile(g.dev, text)
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
	add, err := backend.Compile(g.dev, on.renderer.Join())
	if err != nil {
		return err
	}
	g.add, g.larger = add[0], add[1]
	if !on.blocks {
		return nil
	}
	g.blocks, err = backend.Compile(g.dev, on.renderer.Blocks())
	return err
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
	c := &commands{gpu: g}
	switch t.Kind {
	case plan.Zero:
		at, bytes := x.now.cleared(t)
		c.clear(g.base+uint64(at), bytes)
	case plan.Take: // the rows of the batch's vertices out of a table
		words, n := uint64(x.plan.Spec.Values[t.Value].RowBytes)/16, uint64(x.now.batch.Rows[t.Own])
		c.block(kernel.BlockTake, (n*words+3)/4, at("to", g.base+uint64(t.Addr)), at("table", g.base+uint64(t.FromAddr)), at("ids", g.base+uint64(x.now.ids(x.plan.Places.Sets.TypeOf(int(t.Own))))), num("n", n), num("words", words))
	case plan.Add:
		f := g.add
		if t.Is.Max {
			f = g.larger
		}
		c.call(f, 256, kernel.GPUArgs{at("a", g.base+uint64(t.Addr)), at("b", g.base+uint64(t.FromAddr)), num("n", uint64(t.Bytes/4))})
	case plan.Update:
		x.update.commands(c)
	case plan.Run:
		return k.launches(g)
	default:
		return nil, fmt.Errorf("a GPU has no kernel for %s", x.plan.DescribeTask(t))
	}
	return c.list, c.err
}

// launches are the commands of a Run task.
func (k *task) launches(g *gpu) ([]device.Command, error) {
	x, t := k.on, k.t
	l := &kernel.GPULaunch{Rows: int(t.Rows), First: t.Is.First, Last: t.Is.Last, Scratch: g.scratch, Room: g.room, TF32: x.arena.TF32}
	if w := x.plan.Places.Work; w != nil && w[t.Phase].Bytes >= x.gpus.needs(x.plan, t) {
		l.Scratch, l.Room = g.base+uint64(w[t.Phase].At), w[t.Phase].Bytes
	}
	for _, at := range x.plan.Args[t.Args[0]:t.Args[1]] {
		l.Bufs = append(l.Bufs, g.base+uint64(x.now.at(at)))
	}
	switch {
	case x.now.batch != nil:
		rows, c := x.now.of(t)
		l.Rows, l.Index, l.Live = rows, g.base+uint64(x.now.ids(x.now.index(t))), x.live(t)
		if c != nil {
			l.Cell = g.blockCell(x.now, t, c)
		}
	case t.Other >= 0:
		side := x.copies.sides[t.Dir]
		l.Far = x.plan.Cells.Reach(int(t.Other))
		l.Cell = cudaCell(x.copies.cell(t), side.View(int(t.Own)*side.P+int(t.Other)).Ptr, g.base+uint64(t.Cell))
	}
	return backend.Commands(x.gpus.programs[t.Kernel].Steps(l), g.funcs[t.Kernel], x.arena.TF32)
}

// blockCell is the cell of a launch over a block. It gives kernels only counts to choose by, even if the host knows the row
// lengths, so that results do not depend on whether the GPU or the host has sampled the block.
func (g *gpu) blockCell(now *current, t *plan.Task, c *Cell) *kernel.GPUCell {
	x := cudaCell(&c.Cell, nil, g.base+uint64(now.at(t.Cell)))
	x.Rows, x.NNZ, x.Most, x.Far = c.Rows, int(c.NNZ), int(c.NNZ), now.batch.Rows[now.plan.Spec.Phases[t.Phase].Steps[t.Step].Far()]
	if most := now.batch.Most; t.Dir.Way() == plan.CSC && len(most) > 0 && most[t.Other] > 0 {
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

// short is an operand of a program that has only the rows of a set (plan.Spec.Padded).
type short struct {
	operand int
	set     uint16
}

// padded returns the programs changed so that operands are read up to the rows that are there, and these operands, by program.
func padded(p *plan.Plan, programs []*kernel.Program) (out []*kernel.Program, of map[int][]short) {
	out, of = slices.Clone(programs), map[int][]short{}
	p.Spec.Padded(func(c *plan.Call, k int, from uint16) {
		out[c.Kernel] = out[c.Kernel].WithPadding(k)
		of[c.Kernel] = append(of[c.Kernel], short{k, from})
	})
	return out, of
}

// live is the numbers of rows of operands that have fewer than the launch of t; nil: none has.
func (x *kernels) live(t *plan.Task) []int {
	list := x.short[int(t.Kernel)]
	if list == nil {
		return nil
	}
	n := make([]int, t.Args[1]-t.Args[0])
	for _, s := range list {
		n[s.operand] = x.now.batch.Rows[s.set]
	}
	return n
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
