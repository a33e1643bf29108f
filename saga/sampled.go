package saga

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/backend"
	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/saga/batches"
	"sagann/saga/rows"
	"sagann/sample"
)

// sampled is the state of a program that trains on sampled blocks.
type sampled struct {
	Sampling
	asked bool // batches are of vertices that were asked for: if one takes more than there is, fewer are answered at a time
	draws *batches.Draws
	maker *batches.Maker // of the plan's batches
	way   batches.Way    // in which batches come to devices
}

// updates says how far a run has come in its updates. Over the full graph an epoch has one, and only count counts.
type updates struct {
	number    int               // of the next update in its epoch
	loss      float64           // sum over the epoch's batches so far: mean loss times the weight of the items
	count     int               // updates so far
	overflows int               // batches that were run again with more room
	last      []uint32          // seeds of the last update
	rows      map[int][]float32 // by value: outputs of the last update, if it had several batches
	ballot    func() uint64     // what this rank says in the vote of an update; nil: nothing
	heard     uint64            // what any rank has said in the vote of the last update
}

// newSampled makes the state of sampled training, which draws for items (nil: the training split) from graph (nil: that of
// the data). Steps are over blocks from now on.
func (p *definition) newSampled(s Sampling, items []uint32, graph *batches.Graph) (*sampled, error) {
	if s.Sampler.Next == nil && s.Sampler.Over == sample.Individual {
		s.Sampler.KeepLoops = s.Sampler.KeepLoops || p.model.SelfLoops
	}
	x := &sampled{Sampling: s}
	job, err := p.job(items, &s)
	if err != nil {
		return nil, err
	}
	if x.draws, err = batches.New(job, x.setting(), graph); err != nil {
		return nil, err
	}
	d := p.dims
	if d.levels = p.model.gathers(); d.paired() {
		d.levels++
	}
	if d.weighed, d.scaled = batches.Weighs(&s.Sampler), s.Norm == NormFull; d.task == GraphTask {
		d.graphs = x.draws.Full()
	}
	p.stepDims = d
	return x, nil
}

// job is what batches that s draws are made for.
func (p *definition) job(items []uint32, s *Sampling) (batches.Job, error) {
	var k *batches.Kinds
	if p.dims.kinds != nil {
		var err error
		if k, err = p.dims.kinds.of(s, p.model.SelfLoops); err != nil {
			return batches.Job{}, err
		}
	}
	return batches.Job{In: p.in.Inputs, Kinds: k, Task: p.dims.taskName(), Graphs: p.dims.graphs, Items: items, Scores: p.output == outputScores, Moments: p.at, Depth: p.model.gathers(), Seed: p.cfg.Seed,
		Net: p.cfg.Net, GPU: backend.Of(p.cfg.Device).GPU(), Without: p.cfg.without, HostMem: p.cfg.HostMem, Free: device.HostAvailable(), Scratch: p.cfg.Scratch}, nil
}

// setting is s as package batches takes it.
func (s *Sampling) setting() batches.Setting {
	return batches.Setting{Sampler: s.Sampler, Batch: s.Batch, Parts: cmp.Or(s.Accumulate, 1), Scaled: s.Norm == NormFull, Cache: s.Cache,
		Clusters: s.Clusters, Norms: s.Norms, Past: s.Times}
}

// fits returns an error if the sampler makes edge weights that the model does not read, or if the model reads numbers of
// edges that the sampler's edges do not have.
func (s *sampled) fits(model string, want chunk.Want) error {
	switch name := s.Sampler.Name; {
	case batches.Weighs(&s.Sampler) && !want.Weight:
		return fmt.Errorf("saga: the sampler %s weighs edges, and the model %s reads no weights, neither Edge.Weight nor Edge.SymNorm", name, model)
	case s.Sampler.Top > 0 && (want.Rank || want.Type || want.Data):
		return fmt.Errorf("saga: the sampler %s joins vertices that no edge joins, and the model %s reads types, data or ranks of edges", name, model)
	case s.draws.Far() && want.Rank:
		return errRanksOfEdges
	}
	return nil
}

// sees returns an error if edges are drawn by time and the model reads what later edges change: degrees of the whole graph, or the means of
// numbers of edges that self loops get.
func (s *sampled) sees(p *definition, low *dataflow.Lowered) error {
	if s.Times == "" {
		return nil
	}
	if p.model.Name == "pna" {
		return errors.New("saga: the model pna is scaled by the mean degree of the whole graph, in which edges of a seed's future count; edges are drawn by time for models that are not, such as sage, gat and gin")
	}
	for in := range low.Inputs {
		switch name, _ := dataflow.RelationOf(in.Name); name {
		case dataflow.OutDegree, rows.RsqrtDegree, rows.RsqrtOutDegree, rows.RsqrtWeight:
			return fmt.Errorf("saga: the model %s reads degrees of the whole graph (%s), in which edges of a seed's future count; edges are drawn by time for models that do not, such as sage, gat and gin", p.model.Name, name)
		}
	}
	tr, err := trace(p.model, p.stepDims, false)
	if err != nil {
		return err
	}
	if overRows(tr.logits) {
		return fmt.Errorf("saga: the model %s weighs or scales rows by sums over all vertices of a batch, seeds of later times among them; edges are drawn by time for models whose rows depend on in-edges alone, such as sage, gat and rgcn", p.model.Name)
	}
	if p.model.SelfLoops && low.Want.Any().Data {
		return fmt.Errorf("saga: the model %s reads numbers of edges, and its self loops have the means of all edges of a vertex, later ones among them; edges are drawn by time without --edge-data or without self loops", p.model.Name)
	}
	return nil
}

// overRows tells whether x depends on a sum over the rows of vertices.
func overRows(x Tensor) bool {
	seen := map[Tensor]bool{}
	var visit func(n Tensor) bool
	visit = func(n Tensor) bool {
		if seen[n] {
			return false
		}
		seen[n] = true
		for i := range n.NumIn() {
			in := n.In(i)
			if n.Shape().Set.Kind == dataflow.Global && in.Shape().Set.Kind == dataflow.Vertex || visit(in) {
				return true
			}
		}
		return false
	}
	return visit(x)
}

// byTime tells whether edges are drawn up to the times of seeds.
func (s *sampled) byTime() bool { return s != nil && s.Times != "" }

// drawing is the device memory in bytes that drawing on the GPU takes; 0 if the host draws.
func (s *sampled) drawing() int64 {
	if s == nil {
		return 0
	}
	return s.way.Bytes
}

// tenants lists what sampled training of params, each with so many moments, holds in host memory, beside what evaluation holds.
func (s *sampled) tenants(params []Param, moments int) []plan.Tenant {
	list := s.maker.Tenants()
	bytes := int64(0)
	for _, q := range params {
		if q.PerVertex {
			bytes += 4 * int64(q.Rows) * int64(q.Cols) * int64(1+moments)
		}
	}
	if bytes > 0 {
		list = append(list, plan.Tenant{Name: "learned rows and their moments", Bytes: bytes, Stays: true, From: plan.Whole, To: plan.Whole})
	}
	return list
}

// at is the place of the first batch of the next update.
func (p batched) at() batches.Place { return p.sampled.draws.First(p.epoch, p.run.number) }

// updated counts an update.
func (p batched) updated() {
	p.run.count++
	n := p.sampled.draws.Updates()
	if p.run.number++; p.run.number == n {
		p.run.number = 0
		p.epoch++
	}
}

// epochLoss is the mean loss over the items of the epoch that has just ended. It begins the sum of the next.
func (p batched) epochLoss() float64 {
	loss := p.run.loss / p.sampled.draws.Total()
	p.run.loss = 0
	return loss
}

// edgesUpTo is in the text of a sampler by time.
const edgesUpTo = ", edges up to the time of a seed, "

// String is the sampler, its sizes and the batch, as in the digest.
func (s *Sampling) String() string {
	var parts []string
	if s.Sampler.Name != "" || len(s.Relations) == 0 {
		parts = append(parts, samplerText(&s.Sampler))
	}
	if len(s.Relations) > 0 {
		parts = append(parts, s.relationsText())
	}
	text := strings.Join(parts, ", ")
	if s.Norm != "" {
		text += ", sums scaled to " + s.Norm + " rows"
	}
	if s.Eval != nil {
		text += ", evaluated on " + strings.ReplaceAll(strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Eval), " ", ","), "[]"), fmt.Sprint(math.MaxInt32), "all")
	}
	set := s.setting()
	text += set.Text()
	if s.Times != "" {
		text += edgesUpTo + s.Times
	}
	if s.Accumulate > 1 {
		text += fmt.Sprintf(", %d an update", s.Accumulate)
	}
	return text
}

// outputRows lists the values of the outputs that a batch computes, in ascending order.
func (u *unit) outputRows() (list []int) {
	for _, id := range u.low.Outputs {
		if u.low.Spec.Values[id].Kind != plan.Input {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}
