package saga

import (
	"time"

	"sagann/backend"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/kernel"
	"sagann/saga/report"
)

// SampledPlan describes the plan of sampled training, and what has happened in the run so far.
type SampledPlan struct {
	Sampler   string                 // sampler with its sizes, and the size of a batch (Sampling.String)
	Batches   int                    // updates per epoch
	Types     int                    // vertex types; a level has as many entries of Vertices, and a block one of Edges for each relation
	Vertices  []int                  // by level, the seeds first, and type: vertices that the plan has room for
	Edges     []int                  // by block, the block into the seeds first, and relation: edges that the plan has room for
	Expected  []int                  // by level and type: mean number of vertices of the batches drawn for planning
	Overflows int                    // batches so far that did not fit and were run again with more room
	Device    int64                  // bytes of device memory for training and evaluation: plans, kernels, drawing on the GPU
	Peak      int64                  // bytes of device memory that the plan of a batch takes
	Intervals int                    // intervals of exact evaluation; 0: evaluation is by sampling
	Ahead     bool                   // the next batch is copied to the device while one is computed
	Drawn     bool                   // the GPU draws the batches
	Host      string                 // why the host draws batches for a GPU; "" if the GPU draws or there is none
	Tables    int64                  // bytes of device memory for rows that never change, such as features
	FarRows   [plan.FarCounts]uint64 // rows so far: read over the link; hot; found in one of the batches before
	Drawing   time.Duration          // sum over goroutines of the time to draw and fill batches, so far
	Waiting   time.Duration          // time that steps waited for their batch, so far
}

// Largest is how many vertices of all types a batch can have.
func (z *SampledPlan) Largest() (n int) {
	for _, rows := range z.Vertices[len(z.Vertices)-z.Types:] {
		n += rows
	}
	return n
}

// SampledPlan returns the plan of sampled training; nil without sampling.
func (p *Program) SampledPlan() *SampledPlan {
	s := p.sampled
	if s == nil {
		return nil
	}
	var far [plan.FarCounts]uint64
	if p.session != nil {
		far, _ = p.session.train.FarRows()
	}
	device, intervals := p.PlannedPeak()+p.chosen.memory.scratch+s.drawing(), 0
	if q := p.chosen.scorer; q != nil {
		device, intervals = max(device, q.PlannedPeak()+q.chosen.memory.scratch), q.mode.facts().chunks
	} else {
		intervals = p.eval.plan.Cells.P
	}
	drawing, waiting := s.draws.Times()
	return &SampledPlan{Types: max(1, s.draws.Numbers().Types), Device: device, Ahead: s.way.Two, Drawn: s.way.Drawn, Host: s.maker.HostDraws(), Tables: s.maker.TableBytes(), FarRows: far, Drawing: drawing, Waiting: waiting,
		Sampler: s.Sampling.String(), Batches: s.draws.Updates(), Vertices: p.rooms.Most.Vertices, Edges: p.rooms.Most.Edges, Expected: p.rooms.Expected.Vertices,
		Overflows: p.run.overflows, Peak: p.train.plan.Peak, Intervals: intervals}
}

// PredictedEpoch is the predicted time of an epoch of sampled training on Config.Machine; 0 without a machine, or over the full graph.
func (p *Program) PredictedEpoch() time.Duration { return p.mode.figures().Epoch() }

// figures returns the numbers of sampled training that reports show.
func (p batched) figures() *report.Sampled {
	s := p.sampled
	r := &report.Sampled{Text: s.Sampling.String(), Batches: s.draws.Updates(), Parts: s.draws.Parts, Drawn: s.draws.Tries(), Sizes: report.SampledSizes{Expected: p.rooms.Expected, Spread: p.rooms.Spread},
		Overflows: p.run.overflows, Graph: s.draws.Graph().Bytes(), Ahead: s.maker.HostBytes(), Drawing: s.drawing(), Host: s.maker.HostDraws()}
	if k := p.dims.kinds; k != nil {
		r.Sizes.Types = k.typeNames()
		for i := range k.relations {
			r.Sizes.Relations = append(r.Sizes.Relations, k.relations[i].full())
		}
	}
	if p.eval != nil {
		r.Eval = p.eval.plan
	} else if p.chosen.scorer != nil {
		r.Eval = p.chosen.scorer.train.plan
	}
	if m, err := p.cfg.machine(); p.cfg.Machine != "" && err == nil {
		r.Machine = p.cfg.Machine
		r.Link = s.maker.LinkBytes()
		r.Bring = s.maker.Bringing(m.Kind(0))
		r.LinkTime = time.Duration(r.Link / m.ReadRate())
		r.Turns = (s.draws.Parts + p.cfg.devices() - 1) / p.cfg.devices()
		rows := append([]int{0}, p.rooms.Expected.Vertices...)
		r.Tasks = m.Kind(0).Batch(p.train.plan, rows, append([]int{0}, p.rooms.Expected.Edges...), p.rowWork(rows))
		for _, t := range r.Tasks {
			r.Step += t
		}
		r.Draw = s.maker.Drawing(m.Kind(0))
	}
	return r
}

// rowWork lists, by task, the work of the kernels of a task over rows, in a batch with rows[i] rows of set i. It is nil on a
// CPU.
func (p *Program) rowWork(rows []int) [][]sim.Work {
	kind, programs, tasks := backend.Of(p.cfg.Device), p.train.low.Kernels, p.train.plan.Tasks
	if !kind.GPU() {
		return nil
	}
	list := make([][]sim.Work, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		if t.Kind != plan.Run || t.Own < 0 || programs[t.Kernel].Edges {
			continue
		}
		k, err := kind.Renderer.Render(programs[t.Kernel], kind.Chip)
		if err != nil { // opening the session returns this error
			return nil
		}
		for _, x := range k.Steps(&kernel.GPULaunch{Rows: rows[t.Own], First: t.Is.First, Last: t.Is.Last, Bufs: make([]uint64, programs[t.Kernel].Operands), TF32: p.cfg.TF32}) {
			list[i] = append(list[i], sim.Work{Bytes: x.Bytes, Flops: x.Flops, Elem: x.Elem, Product: x.Func < 0 || x.Dense, Tiles: x.Tiles, Halves: x.Halves})
		}
	}
	return list
}
