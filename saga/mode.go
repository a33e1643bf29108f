package saga

import (
	"context"
	"strconv"

	"sagann/dataflow/plan"
	"sagann/internal/safetensors"
	"sagann/saga/report"
)

// mode is how a program works on its data: whole steps over the full graph, batched over batches, and scoring only
// evaluates, by batches.
type mode interface {
	layout() layout
	started(s *session) error // prepares a session whose runner was made
	step(s *session) (loss float64, err error)
	runEpoch(ctx context.Context, t *trainer) (loss float64, err error) // the steps that are left of an epoch
	evaluate(held []safetensors.Tensor) (Scores, error)                 // scores all splits with the parameters of another program
	facts() facts
	figures() *report.Sampled // of sampled training, for reports; nil over the full graph
	holds() []plan.Tenant     // of host memory, beside what plans hold
}

// layout is how the devices of a rank are shared out to sessions.
type layout struct {
	first, devices int  // the first session's: numbers of Config.Device
	apart          bool // each session computes batches of its own; else one has all devices
	peers          int  // further sessions, of one device each
	number         int  // with apart: number of the first session among those of all ranks
}

// facts are what checkpoints, digests and traces say of how a program works.
type facts struct {
	unit       string            // of steps
	updates    int               // of an epoch
	chunks     int               // intervals that the order of sums depends on; 0: none
	sampling   string            // sampler and batches, and a hash of what is drawn; "" over the full graph
	conditions []condition       // of going on from a checkpoint
	meta       map[string]string // of a checkpoint
}

// whole steps over the full graph.
type whole struct{ *Program }

func (p whole) layout() layout {
	first, n := p.cfg.opens()
	return layout{first: first, devices: n}
}

func (p whole) started(*session) error { return nil }

func (p whole) facts() facts { return facts{unit: "epoch", updates: 1, chunks: p.train.plan.Cells.P} }

func (p whole) figures() *report.Sampled { return nil }

func (p whole) holds() []plan.Tenant { return nil }

// batched steps over batches, each device over its own.
type batched struct{ *Program }

func (p batched) layout() layout {
	first, n := p.cfg.opens()
	number, _ := p.cfg.owned()
	return layout{first: first, devices: 1, apart: true, peers: n - 1, number: number}
}

func (p batched) facts() facts {
	s := p.sampled
	text := s.Sampling.String()
	return facts{unit: "batch", updates: s.draws.Updates(), sampling: text + ", program " + s.draws.Digest(), conditions: []condition{{"sampler", text}},
		meta: map[string]string{batchMeta: strconv.Itoa(p.run.number), batchLossMeta: strconv.FormatFloat(p.run.loss, 'x', -1, 64)}}
}

func (p batched) holds() []plan.Tenant {
	s := p.sampled
	if s.maker == nil { // nothing is planned yet
		return nil
	}
	return s.tenants(p.params, p.cfg.Optimizer.moments())
}

// scoring evaluates by batches, which each rank computes on its first device.
type scoring struct{ batched }

func (p scoring) layout() layout {
	l := p.batched.layout()
	l.peers, l.number = 0, p.cfg.Net.Rank()
	return l
}

func (p scoring) holds() []plan.Tenant { return nil }
