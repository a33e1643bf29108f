package saga

import (
	"errors"
	"math"
	"slices"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/sim"
	"sagann/kernel"
)

// memory says how the budget of a device is divided, in bytes.
type memory struct {
	context int64 // what a GPU takes for itself: context and libraries, and maps of pinned host memory
	bound   int64 // what is left for plans and kernels; 0: no bound
	scratch int64 // the part of bound that kernels take in addition to the plans, on GPUs
}

// plans is how many bytes plans may use; 0: no bound.
func (m *memory) plans() int64 {
	if m.bound == 0 {
		return 0
	}
	return max(1, m.bound-m.scratch)
}

// divide divides mem for programs that run in one session, of which s has the most values. It also
// sets how many rows their kernels work on at a time.
func (p *planTarget) divide(s *plan.Spec, want chunk.Want, programs ...*dataflow.Lowered) (memory, error) {
	m := memory{bound: p.mem()}
	model := p.machine
	if kind := backend.Of(p.cfg.Device); model == nil && kind.GPU() && p.mem() > 0 {
		var err error
		if model, err = sim.LoadMachine(kind.Model); err != nil {
			return m, err
		}
	}
	if model != nil {
		maps := p.pinMaps(s, want)
		m.context = int64(model.Kind(0).Memory.Value) - model.Budget(0) + maps
		if p.mem() > 0 { // if nothing is left, planning fails, and its error names the smallest budget
			m.bound = max(1, p.mem()-m.context)
		}
		if left := model.Budget(0) - maps; p.machine != nil && (m.bound == 0 || m.bound > left) {
			m.bound = left
		}
	}
	m.scratch = m.share(p, programs)
	return m, nil
}

// share is the scratch memory of programs of p beside their plans. A kernel may take, of Config.Mem or of what a machine model has, about one part in
// scratchShare. If the bound is what is free on a GPU, it is that part of the whole GPU, so that no bit depends on what
// else runs there; only if that leaves too little to plans, it is half of that, or a quarter, and so on, and digests differ.
func (m *memory) share(p *planTarget, programs []*dataflow.Lowered) int64 {
	if p.cfg.Mem > 0 || p.cards.free == 0 {
		apart, _ := p.scratch(programs, m.bound)
		return apart
	}
	whole := max(1, p.cards.whole-m.context)
	if p.machine != nil {
		whole = min(whole, max(1, p.machine.Budget(0)))
	}
	for ; ; whole /= 2 {
		apart, most := p.scratch(programs, max(1, whole))
		if most <= m.bound/freeShare || whole <= m.bound {
			return apart
		}
	}
}

// freeShare: kernels may take one part in freeShare of what is free on a GPU.
const freeShare = 4

// scratchShare: a kernel may take one part in scratchShare of the bound for values between its
// steps. A smaller part leaves more memory to chunks, but products then work on few rows at a time.
const scratchShare = 16

// scratch sets how many rows kernels of these programs work on at a time, so that a kernel takes about its share of
// bound. Outcome.Tiles, if set, decides for training. The results are the memory in bytes that kernels take on a GPU in addition to their plans, and what the
// one takes that takes most over all rows: plans have it in the phases that need it, but over batches.
func (p *planTarget) scratch(programs []*dataflow.Lowered, bound int64) (apart, most int64) {
	kind := backend.Of(p.cfg.Device)
	if !kind.GPU() {
		return 0, 0
	}
	if bound > 0 {
		bound = max(1, bound/scratchShare)
	}
	rows, edges := p.totals()
	if r := p.rooms; r != nil { // a batch may have a vertex more than once
		rows, edges = max(rows, slices.Max(r.Most.Vertices)), max(edges, int64(slices.Max(r.Most.Edges)))
	}
	var kernels [][]*kernel.Program
	for n, l := range programs {
		for _, g := range l.Spec.Globals {
			rows = max(rows, g.Rows)
		}
		for i, k := range l.Kernels {
			tile := kernel.TileWithin(k, kind.Chip, bound)
			if n == 0 && p.stepDims.levels > 0 { // no bit of a step over a batch may depend on memory
				tile = kernel.TileWithin(k, kind.Chip, 0)
			}
			if n == 0 && len(p.cfg.Outcome.Tiles) == len(l.Kernels) {
				tile = p.cfg.Outcome.Tiles[i]
			}
			l.SetTile(i, tile)
		}
		kernels = append(kernels, l.Kernels)
	}
	if p.rooms != nil { // over batches
		apart = exec.Scratch(kind, rows, int(edges), kernels...)
		return apart, apart
	}
	room := bound &^ 255
	if bound == 0 {
		room = math.MaxInt64
	}
	for _, l := range programs {
		var need []kernel.Need
		for _, k := range l.Kernels {
			f := kind.Renderer.Need(k, kind.Chip, room)
			need, most = append(need, f), max(most, f.Bytes(rows, int(edges), rows))
		}
		l.SetScratch(room, need)
	}
	return exec.Scratch(kind, rows, int(edges)), most
}

// pinnedPerByte is how many bytes of pinned host memory take one byte of a GPU's memory for page
// tables: eight bytes per page of 4 KiB. 128 GiB took 249 MiB in addition to the GPU's context.
const pinnedPerByte = 512

// pinMaps is about how many bytes of a GPU's memory page tables of pinned host memory take, as if all
// values of s and all cells were there.
func (p *planTarget) pinMaps(s *plan.Spec, want chunk.Want) int64 {
	if !backend.Of(p.cfg.Device).GPU() {
		return 0
	}
	v, e := p.totals()
	var pinned int64
	for _, x := range s.Values {
		pinned += int64(v) * x.RowBytes
	}
	edge := int64(4)
	for _, has := range []bool{want.Rank, want.Type, want.Weight} {
		if has {
			edge += 4
		}
	}
	for _, has := range []bool{want.CSC, want.CSR} {
		if has {
			pinned += e * edge
		}
	}
	if p.cfg.HostMem > 0 {
		pinned = min(pinned, p.cfg.HostMem)
	}
	return pinned / pinnedPerByte
}

// asked is a program and the options for planning it.
type asked struct {
	spec    *plan.Spec
	options plan.Options
}

// smallest is the least Config.Mem with which all programs of list fit.
func (p *planTarget) smallest(s *plan.Spec, want chunk.Want, programs []*dataflow.Lowered, cells func(int) (*plan.Cells, error), list ...asked) (*plan.BudgetError, error) {
	least := &plan.BudgetError{Budget: p.mem()}
	plans := func() { // with the tiles that kernels have now
		least.Smallest = 0
		for _, a := range list {
			var e *plan.BudgetError
			if _, err := planner.New(a.spec, cells, a.options); errors.As(err, &e) && e.Smallest > least.Smallest {
				least.Smallest, least.P = e.Smallest, e.P
			}
		}
	}
	plans()
	return least, p.withKernels(least, s, want, programs, plans)
}

// withKernels turns least.Smallest from the least memory of plans into the least Config.Mem, by adding
// what kernels and the GPU's context take. plans sets it anew after tiles have changed.
func (p *planTarget) withKernels(least *plan.BudgetError, s *plan.Spec, want chunk.Want, programs []*dataflow.Lowered, plans func()) error {
	for bound := least.Smallest; ; { // what kernels take grows with bound: repeat until all fits
		apart, _ := p.scratch(programs, bound)
		plans()
		if bound >= least.Smallest+apart {
			least.Smallest = bound
			break
		}
		bound = least.Smallest + apart
	}
	m, err := p.divide(s, want, programs...)
	least.Smallest += m.context
	return err
}
