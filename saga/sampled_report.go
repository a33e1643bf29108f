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
	Vertices  []int                  // by level, the seeds first: vertices that the plan has room for
	Edges     []int                  // by block, the block into the seeds first: edges that the plan has room for
	Expected  []int                  // by level: mean number of vertices of the batches drawn for planning
	Overflows int                    // batches so far that did not fit and were run again with more room
	Device    int64                  // bytes of device memory for training and evaluation: plans, kernels, drawing on the GPU
	Peak      int64                  // bytes of device memory that the plan of a batch takes
	Intervals int                    // intervals of exact evaluation; 0: evaluation is by sampling
	Ahead     bool                   // the next batch is copied to the device while one is computed
	Drawn     bool                   // the GPU draws the batches
	Host      string                 // why the host draws batches for a GPU; "" if the GPU draws or there is none
	Tables    int64                  // bytes of device memory for rows that never change, such as features
	FarRows   [plan.FarCounts]uint64 // rows so far: read over the link; hot; found in one of the two previous batches
	Drawing   time.Duration          // sum over goroutines of the time to draw and fill batches, so far
	Waiting   time.Duration          // time that steps waited for their batch, so far
}

// SampledPlan returns the plan of sampled training; nil without sampling.
func (p *Program) SampledPlan() *SampledPlan {
	s := p.sampled
	if s == nil {
		return nil
	}
	var tables int64
	var far [plan.FarCounts]uint64
	if p.session != nil {
		far, _ = p.session.train.FarRows()
	}
	for _, t := range p.train.plan.Places.Sets.Ahead.Tables {
		rows := t.Rows
		if t.Host {
			rows = t.Hot
		}
		tables += int64(rows) * p.train.low.Spec.Values[t.Value].RowBytes
	}
	device, intervals := p.PlannedPeak()+p.chosen.memory.scratch+p.drawing(), 0
	if q := p.chosen.scorer; q != nil {
		if device = max(device, q.PlannedPeak()+q.chosen.memory.scratch); q.sampled == nil {
			intervals = q.train.plan.Cells.P
		}
	} else {
		intervals = p.eval.plan.Cells.P
	}
	return &SampledPlan{Device: device, Ahead: s.filling.ahead.two, Drawn: s.filling.ahead.drawn, Host: s.filling.host, Tables: tables, FarRows: far, Drawing: time.Duration(s.filling.drawing.Load()), Waiting: time.Duration(s.filling.waiting.Load()), Sampler: s.Sampling.String(), Batches: s.batches(), Vertices: s.most.Vertices, Edges: s.most.Edges, Expected: s.expected.Vertices,
		Overflows: s.filling.overflows, Peak: p.train.plan.Peak, Intervals: intervals}
}

// PredictedEpoch is the predicted time of an epoch of sampled training on Config.Machine; 0 without a machine.
func (p *Program) PredictedEpoch() time.Duration { return p.sampled.report(p).Epoch() }

// report returns the numbers of sampled training that reports show.
func (s *sampled) report(p *Program) *report.Sampled {
	r := &report.Sampled{Text: s.Sampling.String(), Batches: s.batches(), Parts: s.parts(), Drawn: s.tries(), Expected: s.expected, Spread: s.spread,
		Overflows: s.filling.overflows, Graph: s.draw.graph.Bytes(), Ahead: s.aheadBytes(p), Drawing: p.drawing(), Host: s.filling.host}
	if p.eval != nil {
		r.Eval = p.eval.plan
	} else if p.chosen.scorer != nil {
		r.Eval = p.chosen.scorer.train.plan
	}
	if m, err := p.cfg.machine(); p.cfg.Machine != "" && err == nil {
		r.Machine = p.cfg.Machine
		r.Link = p.linkBytes()
		r.Bring = p.bringing(m.Kind(0))
		r.LinkTime = time.Duration(r.Link / m.ReadRate())
		r.Turns = (s.parts() + p.cfg.devices() - 1) / p.cfg.devices()
		rows := append([]int{0}, s.expected.Vertices...)
		r.Tasks = m.Kind(0).Batch(p.train.plan, rows, append([]int{0}, s.expected.Edges...), p.rowWork(rows))
		for _, t := range r.Tasks {
			r.Step += t
		}
		if s.filling.ahead.drawn {
			r.Draw = m.Kind(0).Draw(s.expected.Vertices, s.expected.Edges, s.moves())
		}
	}
	return r
}

// moves lists, by step, how many moves the walks from a vertex make; nil if the sampler makes no walks.
func (s *Sampling) moves() (list []int) {
	for step := 0; s.Sampler.Top > 0 && step < s.Sampler.Steps; step++ {
		list = append(list, s.Sampler.Size(step)*s.Sampler.Length)
	}
	return list
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
			list[i] = append(list[i], sim.Work{Bytes: x.Bytes, Flops: x.Flops, Product: x.Func < 0})
		}
	}
	return list
}

// aheadBytes is how many bytes of host memory the batches that are prepared ahead take at most: rows of inputs, cells
// and drawn blocks, each up to an eighth larger than needed.
func (s *sampled) aheadBytes(p *Program) int64 {
	z, spec := p.train.plan.Places.Sets, p.train.low.Spec
	var n int64
	for id, v := range spec.Values {
		if v.Kind == plan.Input {
			n += int64(z.Room(spec, id)) * v.RowBytes
		}
	}
	for e := range z.Cells {
		n += z.Cells[e][plan.CSC] + z.Cells[e][plan.CSR] + 8*int64(z.Edges[e]) + 8*int64(z.Rows[e]) // sample.Block
	}
	if s.filling.ahead.drawn { // the host fills the inputs of seeds only
		return n + n/8
	}
	return int64(p.ahead()+1) * (n + n/8)
}

// tenants lists what sampled training holds in host memory, beside what evaluation holds.
func (s *sampled) tenants(p *Program) []plan.Tenant {
	list := []plan.Tenant{
		{Name: "rows to draw from", Bytes: s.draw.graph.Bytes(), Stays: true, From: plan.Whole, To: plan.Whole},
		{Name: "batches prepared ahead", Bytes: s.aheadBytes(p), Stays: true, From: plan.Whole, To: plan.Whole},
	}
	if k := p.in.shards; k != nil {
		list = append(list, k.tenants()...)
	}
	for _, t := range p.train.plan.Places.Sets.Ahead.Tables {
		if v := &p.train.low.Spec.Values[t.Value]; t.Host {
			list = append(list, plan.Tenant{Name: "rows of " + v.Name + " that a GPU reads", Bytes: int64(t.Rows) * v.RowBytes, Stays: true, From: plan.Whole, To: plan.Whole})
		}
	}
	if p.train.low.Want.Rank {
		list = append(list, plan.Tenant{Name: "ranks of edges", Bytes: 4 * int64(p.in.Edges.E()), Stays: true, From: plan.Whole, To: plan.Whole})
	}
	rows := int64(0)
	for _, q := range p.params {
		if q.PerVertex {
			rows += 4 * int64(q.Rows) * int64(q.Cols) * int64(1+p.cfg.Optimizer.moments())
		}
	}
	if rows > 0 {
		list = append(list, plan.Tenant{Name: "learned rows and their moments", Bytes: rows, Stays: true, From: plan.Whole, To: plan.Whole})
	}
	return list
}
