package saga

import (
	"time"

	"sagann/dataflow/plan"
	"sagann/saga/report"
)

// SampledPlan says what sampled training has room for.
type SampledPlan struct {
	Sampler   string        // with its sizes and the batch
	Batches   int           // of an epoch
	Vertices  []int         // room by level: the seeds first
	Edges     []int         // room by block: the edges into the seeds first
	Expected  []int         // vertices by level: the mean of the batches that were drawn to plan
	Overflows int           // batches that were run again with more room, so far
	Peak      int64         // device memory of a batch in bytes
	Intervals int           // of evaluation
	Ahead     bool          // the next batch comes to the device while one is at work
	Tables    int64         // bytes of rows that stay on the device, from which batches take theirs
	Drawing   time.Duration // of all goroutines that draw batches and fill what comes with them, so far
	Waiting   time.Duration // of steps for the next batch, so far
}

// SampledPlan is what sampled training has room for; nil without sampling.
func (p *Program) SampledPlan() *SampledPlan {
	s := p.sampled
	if s == nil {
		return nil
	}
	var tables int64
	for _, t := range p.train.plan.Places.Sets.Ahead.Tables {
		tables += int64(t.Rows) * p.train.low.Spec.Values[t.Value].RowBytes
	}
	return &SampledPlan{Ahead: s.ahead.two, Tables: tables, Drawing: time.Duration(s.filling.drawing.Load()), Waiting: s.filling.waiting, Sampler: s.Sampling.String(), Batches: s.batches(), Vertices: s.most.Vertices, Edges: s.most.Edges, Expected: s.expected.Vertices,
		Overflows: s.overflows, Peak: p.train.plan.Peak, Intervals: p.eval.plan.Cells.P}
}

// report is what reports say of sampled training.
func (s *sampled) report(p *Program) *report.Sampled {
	return &report.Sampled{Text: s.Sampling.String(), Batches: s.batches(), Drawn: s.tries(), Expected: s.expected, Spread: s.spread,
		Overflows: s.overflows, Graph: s.draw.graph.Bytes(), Ahead: s.aheadBytes(p), Eval: p.eval.plan}
}

// aheadBytes is what the batches that are prepared ahead take in host memory, at most: rows
// of inputs and cells, each an eighth larger than it need be, and what was drawn.
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
	return int64(p.ahead()+1) * (n + n/8)
}

// tenants are what sampled training takes in host memory beside what evaluation does.
func (s *sampled) tenants(p *Program) []plan.Tenant {
	list := []plan.Tenant{
		{Name: "rows to draw from", Bytes: s.draw.graph.Bytes(), Stays: true, From: plan.Whole, To: plan.Whole},
		{Name: "batches prepared ahead", Bytes: s.aheadBytes(p), Stays: true, From: plan.Whole, To: plan.Whole},
	}
	if p.train.low.Want.Rank {
		list = append(list, plan.Tenant{Name: "ranks of edges", Bytes: 4 * int64(p.in.edges.E()), Stays: true, From: plan.Whole, To: plan.Whole})
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
