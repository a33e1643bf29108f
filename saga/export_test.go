package saga

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/device"
	"sagann/kernel"
	"sagann/saga/batches"
)

// OpenOn is Open on devices of a test's own. Close, or an error, closes them.
func (p *Program) OpenOn(devices []device.Device) error {
	each := len(devices)
	if p.sampled != nil {
		each = 1
	}
	s, err := p.sessionOn(devices[:each], p.PlannedPeak())
	for i := each; err == nil && i < len(devices); i++ {
		var peer *session
		if peer, err = p.sessionOn(devices[i:i+1], p.PlannedPeak()); err == nil {
			s.addPeer(peer)
			continue
		}
		err = errors.Join(err, s.close())
		for _, d := range devices[i+1:] {
			err = errors.Join(err, d.Close())
		}
	}
	if err != nil {
		return err
	}
	p.closed = false
	return p.begin(s)
}

// DeviceBytes is what OpenOn takes of each device.
func (p *Program) DeviceBytes() int64 { return p.PlannedPeak() + p.chosen.memory.scratch }

// EstimateFrom lets statistics choose from so many edges; the result puts it back.
func EstimateFrom(edges int) (restore func()) {
	was := estimateFrom
	estimateFrom = edges
	return func() { estimateFrom = was }
}

// Measured is for how many numbers of intervals the edges were gone through.
func (p *Program) Measured() int { return len(p.grids.sizes) + len(p.grids.byRelation) }

// Chosen compiles training, or the forward pass that computes output, and tells Measured of it even where no plan fits.
func Chosen(m Model, d *dataset.Data, c Config, output string) (measured int, err error) {
	p, err := newProgram(request{model: m, data: d, cfg: c, output: output})
	if err != nil {
		return 0, err
	}
	err = p.choose()
	return p.Measured(), err
}

// HostHeld is what p holds on the host, by counting it: bytes of memory, and of files.
func (p *Program) HostHeld() (memory, disk int64) {
	for _, d := range p.session.devices {
		memory += d.Counters().HostUsed
	}
	for _, side := range []*chunk.Side{p.grids.built.grids[0].CSC, p.grids.built.grids[0].CSR} {
		if side != nil {
			memory += int64(len(side.Mem))
		}
	}
	for _, rows := range p.session.inputs {
		memory += int64(len(rows))
	}
	for _, f := range p.session.files {
		memory -= int64(len(f.Bytes()))
		disk += int64(len(f.Bytes()))
	}
	for _, name := range p.in.allKept() {
		if bytes := int64(4 * len(p.in.holder(name).Kept(name))); p.host.files[name] != nil {
			disk += bytes
		} else {
			memory += bytes
		}
	}
	for u, run := range map[*unit]*exec.Runner{p.train: p.session.train, p.eval: p.session.eval} {
		for id := range u.plan.Spec.Values {
			if u.plan.OnHost(id) && u.plan.OnDisk(id) {
				disk += int64(len(run.Output(id)))
			}
		}
	}
	return memory, disk
}

// InputOnDisk tells whether input name of training lies in a file.
func (p *Program) InputOnDisk(name string) bool {
	return p.train.plan.OnDisk(p.train.low.Inputs[dataflow.Whole(name)])
}

// ExtraFiles is the bytes of the files that live as long as p, closed or not.
func (p *Program) ExtraFiles() (bytes int64) {
	for _, f := range p.host.files {
		bytes += int64(len(f.Bytes()))
	}
	return bytes
}

// KernelLacks says which launch of training or evaluation takes more scratch memory than its phase has; "": none does.
func (p *Program) KernelLacks() string {
	kind := backend.Of(p.cfg.Device)
	for _, u := range []*unit{p.train, p.eval} {
		for i := range u.plan.Tasks {
			t := &u.plan.Tasks[i]
			if t.Kind != plan.Run {
				continue
			}
			edges := 0
			if t.Other >= 0 {
				edges = int(u.plan.Cells.NNZ[t.Dir][int(t.Own)*u.plan.Cells.P+int(t.Other)])
			}
			need, has := kind.Renderer.Scratch(u.low.Kernels[t.Kernel], kind.Chip, int(t.Rows), edges), u.plan.Places.Work[t.Phase]
			if need > has.Bytes || has.At+has.Bytes > u.plan.Peak {
				return fmt.Sprintf("task %d (%s) takes %d bytes, its phase has %d at %d", i, u.plan.DescribeTask(t), need, has.Bytes, has.At)
			}
		}
	}
	return ""
}

// PlannedTiles calls f for every call of the training plan: the tile that it was planned with and its kernel's.
func (p *Program) PlannedTiles(f func(planned, tile int)) {
	l := p.train.low
	each := func(c *plan.Call) { f(c.Cost.Tile, l.Kernels[c.Kernel].Tile) }
	for i := range p.train.plan.Spec.Phases {
		for _, st := range p.train.plan.Spec.Phases[i].Steps {
			for n := range st.Calls {
				each(&st.Calls[n])
			}
		}
	}
	for _, v := range p.train.plan.Spec.Values {
		if v.Derive != nil {
			each(v.Derive)
		}
	}
}

// Facts is the text that Digest is made of.
func (p *Program) Facts() string {
	var b strings.Builder
	p.writeFacts(&b)
	return b.String()
}

// Fits says why training cannot go on from c.
func (p *Program) Fits(c *Checkpoint) error { return p.fits(c) }

// Arithmetic is the revision of the arithmetic.
const Arithmetic = arithmetic

// Scramble numbers the values, Globals, kernels and registers of the training program from the other end, and takes
// away the names and notes that nothing computes with.
func (p *Program) Scramble() {
	l, pl := p.train.low, p.train.plan
	spec := *l.Spec
	values, globals, kernels := len(spec.Values)-1, len(spec.Globals)-1, len(l.Kernels)-1
	call := func(c *plan.Call) {
		c.Kernel, c.Cost = kernels-c.Kernel, plan.Cost{}
		for i := range c.Operands {
			switch o := &c.Operands[i]; o.Kind {
			case plan.OwnValue, plan.OtherValue:
				o.ID = values - o.ID
			case plan.GlobalRef:
				o.ID = globals - o.ID
			}
		}
	}
	for q := range spec.Phases {
		spec.Phases[q].Label = ""
		for s := range spec.Phases[q].Steps {
			st := &spec.Phases[q].Steps[s]
			st.Label = ""
			for i := range st.Calls {
				call(&st.Calls[i])
			}
		}
	}
	for i := range spec.Values {
		v := &spec.Values[i]
		v.Pos, v.RowBytes = "", 0
		if v.Kind != plan.Input {
			v.Name = ""
		}
		if v.Derive != nil {
			call(v.Derive)
		}
	}
	consts := map[int]float32{}
	for id, x := range l.Consts {
		consts[globals-id] = x
	}
	for i := range spec.Globals {
		if g := &spec.Globals[i]; g.Kind == plan.Made || g.Kind == plan.Sum {
			g.Name = ""
		}
	}
	for i := range spec.Updates {
		spec.Updates[i] = plan.Move{Param: globals - spec.Updates[i].Param, Grad: globals - spec.Updates[i].Grad}
	}
	for i, id := range spec.Results {
		spec.Results[i] = globals - id
	}
	for i := range pl.Tasks {
		pl.Tasks[i].Kernel = int32(kernels) - pl.Tasks[i].Kernel
	}
	slices.Reverse(spec.Values)
	slices.Reverse(spec.Globals)
	slices.Reverse(pl.Globals)
	slices.Reverse(l.Kernels)
	for _, k := range l.Kernels {
		scrambleKernel(k)
	}
	l.Spec, l.Consts = &spec, consts
}

func scrambleKernel(k *kernel.Program) {
	last := len(k.Widths) - 1
	for i := range k.Leaves {
		k.Leaves[i].Reg = last - k.Leaves[i].Reg
	}
	for i := range k.Instrs {
		in := &k.Instrs[i]
		in.Dst, in.In = last-in.Dst, slices.Clone(in.In)
		for j := range in.In {
			in.In[j] = last - in.In[j]
		}
	}
	for i := range k.Outs {
		k.Outs[i].Reg, k.Outs[i].Reg2 = last-k.Outs[i].Reg, last-k.Outs[i].Reg2
	}
	k.Name = ""
	slices.Reverse(k.Widths)
	slices.Reverse(k.Leaves)
}

// Rewind has the next step be the first batch of a run of sampled training.
func (p *Program) Rewind() {
	p.run.number, p.run.loss, p.run.count, p.epoch = 0, 0, 0, 0
}

// ComeAhead has batches come ahead as on GPUs, on any device. The program must not be open.
func (p *Program) ComeAhead() error {
	p.sampled.draws.Forced = true
	if q := p.chosen.scorer; q != nil && q.sampled != nil {
		if err := q.ComeAhead(); err != nil {
			return err
		}
	}
	return p.planSampled()
}

// HostFree says that n bytes of host memory are free. The program must not be open.
func HostFree(p *Program, n int64) { p.sampled.draws.Free = n }

// BatchBytes is what batches that are prepared ahead take of host memory.
func BatchBytes(p *Program) int64 { return p.sampled.maker.HostBytes() }

// Cramp takes away the room that sampled training has for batches, but for so many rows and
// edges of each level, and plans it again. The program must not be open.
func (p *Program) Cramp(n int) error {
	for l := range p.rooms.Most.Vertices[1:] {
		p.rooms.Most.Vertices[l+1], p.rooms.Most.Edges[l] = n, n
	}
	return p.planSampled()
}

// HotRows are n vertices whose rows stay on a GPU.
func (p *Program) HotRows(n int) []uint32 { return p.rooms.Hot(n) }

// LinkBytes is what is expected to come over the link for a batch.
func (p *Program) LinkBytes() float64 { return p.sampled.maker.LinkBytes() }

// Kept is how many batches before one that comes have rows on the device that it copies.
func Kept(p *Program) int { return p.train.plan.Places.Sets.Ahead.Tables[0].Kept }

// SumBytes is what the calls of a training step write and read for sums over rows, an own row each.
func (p *Program) SumBytes() (bytes int64) {
	for _, ph := range p.train.plan.Spec.Phases {
		for _, s := range ph.Steps {
			for _, c := range s.Calls {
				bytes += c.Cost.More.Sums
			}
		}
	}
	return bytes
}

// Chosen are the items of the batches of an epoch that norms choose, and how often each counts.
func (p *Program) Chosen(epoch int) (items [][]uint32, counts [][]float32, err error) {
	order, err := p.sampled.draws.Order(epoch)
	if err != nil {
		return nil, nil, err
	}
	for i := range p.sampled.draws.Count() {
		x, n := order.Items(i)
		items, counts = append(items, x), append(counts, n)
	}
	return items, counts, nil
}

// Arrived compares what lies in the first of the rooms for batches, in the memory of the session's device, with what the host makes of a batch: so
// many lists.
func (p *Program) Arrived(mem []byte, epoch, number int) (lists int, wrong error) {
	b, err := p.sampled.maker.Make(batches.Place{Epoch: epoch, Batch: number})
	if err != nil {
		return 0, err
	}
	compare := func(what string, at int64, want []byte) {
		if lists++; wrong == nil && !slices.Equal(mem[at:at+int64(len(want))], want) {
			wrong = fmt.Errorf("%v: %s is %v, want %v", b.At, what, mem[at:at+int64(len(want))], want)
		}
	}
	for i := range p.train.plan.Tasks {
		t := &p.train.plan.Tasks[i]
		switch {
		case t.Kind != plan.Load:
		case t.Value >= 0:
			compare(p.train.low.Spec.Values[t.Value].Name, t.Addr, b.Inputs[int(t.Value)])
		case t.Own < 0:
			compare("the list of vertices", t.Addr, device.Bytes(b.IDs))
		default:
			c := &b.Cells[t.Own][t.Dir]
			for name, off := range map[string]int64{"rows": c.PtrOff, "ends": c.OtherOff, "weights": c.WeightOff, "ranks": c.RankOff, "types": c.TypeOff} {
				n := c.NNZ
				if name == "rows" {
					n = int64(c.Rows) + 1
				}
				if off >= 0 {
					compare(fmt.Sprintf("block %d, direction %d: %s", t.Own, t.Dir, name), t.Addr+off, c.Mem[off:off+4*n])
				}
			}
		}
	}
	return lists, wrong
}

// TakenSets are the sets whose rows a step takes of each table to a place of their own; 0: of none.
func (p *Program) TakenSets() (sets []int) {
	for _, t := range p.train.plan.Places.Sets.Ahead.Tables {
		sets = append(sets, t.Taken)
	}
	return sets
}

// RoomOf is the device memory of a batch for what is named so.
func (p *Program) RoomOf(name string) (bytes int64) {
	for _, b := range p.train.plan.Places.Memory {
		if b.Name == name {
			bytes += b.Bytes
		}
	}
	return bytes
}

// PlanForward plans a forward pass as Predict and Embed do.
func PlanForward(m Model, d *dataset.Data, c Config, what string) error {
	_, err := compile(request{model: m, data: d, cfg: c.forForward(), output: what})
	return err
}

// Looked is how many edges s has looked at; Reached are the vertices whose features its last request reads.
func Looked(s *Some) int64     { return s.looked }
func Reached(s *Some) []uint32 { return s.last.vertices }
