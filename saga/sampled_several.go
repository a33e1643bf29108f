package saga

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/internal/units"
)

// Several batches per update, on one device or several. Batch r of an update goes to device r modulo the number of
// devices. Each device has a session, which draws and computes its own batches. The gradients are added in host memory,
// in a tree that depends on the number of batches only. Then every device makes the same update. So no bit depends on
// the number of devices.

// parts is how many batches an update has; the last of an epoch may have fewer.
func (s *sampled) parts() int { return max(1, s.Accumulate) }

// partsAt is how many batches update i of an epoch has.
func (s *sampled) partsAt(i int) int { return min(s.parts(), s.drawn()-i*s.parts()) }

// batches is how many updates an epoch has.
func (s *sampled) batches() int { return (s.drawn() + s.parts() - 1) / s.parts() }

// next is the place of the first batch after at that device d of n computes.
func (s *sampled) next(at step, d, n int) step {
	for {
		if at.batch++; at.batch == s.drawn() {
			at.epoch, at.batch = at.epoch+1, 0
		}
		if at.batch%s.parts()%n == d {
			return at
		}
	}
}

// itemsOf are the items of a batch in an epoch's order.
func (s *sampled) itemsOf(order *epochOrder, batch int) []uint32 {
	switch {
	case s.Norms != nil:
		return order.chosen[batch].items
	case s.Clusters == nil:
		return s.seeds(order.items, batch)
	}
	return slices.DeleteFunc(slices.Clone(order.clusters[batch]), func(v uint32) bool { return !s.draw.trains[v] })
}

// updateWeight is the total weight of the items of the update that contains a batch.
func (p *Program) updateWeight(order *epochOrder, batch int) (sum float64) {
	s := p.sampled
	update := batch / s.parts()
	for r := range s.partsAt(update) {
		batch := update*s.parts() + r
		sum += p.batchWeight(batch, s.itemsOf(order, batch))
	}
	return sum
}

// checkAccumulate sets the default of s.Accumulate. It returns an error if the model or the devices do not fit it.
func (p *Program) checkAccumulate(s *Sampling) error {
	n := p.cfg.devices()
	if s.Accumulate == 0 {
		s.Accumulate = n
	}
	switch {
	case s.Accumulate < 1:
		return fmt.Errorf("%d batches an update; at least 1", s.Accumulate)
	case n > s.Accumulate:
		return fmt.Errorf("%d devices (%s) and %s an update: a device has at least one", n, p.cfg.Device, units.Counted(s.Accumulate, "batch", "batches"))
	case s.Accumulate > 1 && p.learnsRows():
		return errors.New("learned rows are updated after every batch: they take one device, and one batch an update")
	}
	return nil
}

func (p *Program) learnsRows() bool {
	return slices.ContainsFunc(p.params, func(q Param) bool { return q.PerVertex })
}

// all lists the sessions of this rank's devices.
func (s *session) all() []*session { return append([]*session{s}, s.peers...) }

// openPeers opens a session for each further device.
func (s *session) openPeers(peak int64) error {
	first, n := s.p.cfg.opens()
	for i := 1; i < n; i++ {
		peer, err := s.p.openOn(first+i, 1, peak)
		if err != nil {
			return err
		}
		s.addPeer(peer)
	}
	return nil
}

func (s *session) addPeer(peer *session) {
	s.peers = append(s.peers, peer)
	peer.main, peer.number = s, s.number+len(s.peers)
	peer.arena.SharePins(s.arena)
}

// of is how many sessions share the batches, with those of other ranks.
func (s *session) of() int {
	if s.main != nil {
		return s.main.of()
	}
	if s.p.output != "" { // a rank evaluates on its first device
		return s.p.cfg.Net.Ranks()
	}
	return (len(s.peers) + 1) * s.p.cfg.Net.Ranks()
}

// part is what a batch contributes to its update.
type part struct {
	grads [][]float32 // by plan.Spec.Updates
	loss  float64
	total float64 // the weight of all items of the update
	seeds []uint32
	rows  map[int][]float32 // by output: rows of the seeds
	err   error

	vertices, edges []int // with err: sizes of a batch that did not fit its plan
}

// stepParts runs the batches of the next update, updates, and returns the loss of the update.
func (p *Program) stepParts(open *session) (loss float64, err error) {
	s := p.sampled
	at := step{epoch: s.epoch, batch: s.batch}
	var parts []part
	s.filling.heard = 0
	for {
		parts = p.runParts(open, at)
		failed, err := p.firstFailed(parts)
		if err != nil {
			return 0, fmt.Errorf("%v: %w", at, err)
		}
		if failed == nil {
			break
		}
		if failed.Vertices == nil {
			return 0, fmt.Errorf("%v, part %d: %w", at, failed.Part+1, cmp.Or(parts[failed.Part].err, errors.New(failed.Text)))
		}
		if open, err = p.refit(open, failed.Vertices, failed.Edges); err != nil { // no parameter has changed yet, so all batches run again
			return 0, fmt.Errorf("%v: %w", at, err)
		}
	}
	if err := p.shareParts(parts); err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	open.grads, s.filling.last, s.filling.rows = nil, s.filling.last[:0], map[int][]float32{}
	for _, x := range parts {
		loss += x.loss
		s.filling.last = append(s.filling.last, x.seeds...)
		for id, rows := range x.rows {
			s.filling.rows[id] = append(s.filling.rows[id], rows...)
		}
	}
	if err := open.apply(p.sumParts(parts)); err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	s.loss += loss * parts[0].total
	s.filling.updates++
	if s.batch++; s.batch == s.batches() {
		s.epoch, s.batch = s.epoch+1, 0
		p.epoch++
	}
	return loss, nil
}

// runParts runs the batches of update at, each on its device.
func (p *Program) runParts(open *session, at step) []part {
	list := make([]part, p.sampled.partsAt(at.batch))
	var wg sync.WaitGroup
	for _, s := range open.all() {
		wg.Go(func() {
			for r := s.number; r < len(list); r += s.of() {
				at := step{epoch: at.epoch, batch: at.batch*p.sampled.parts() + r}
				wrong := chunk.Try(func() error { list[r] = s.runPart(at, r+s.of() < len(list)); return list[r].err })
				if list[r].err = wrong; wrong != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return list
}

// runPart runs the batch at a place. more tells whether the device has further batches of this update: then the gradients
// are copied before the next batch overwrites them.
func (s *session) runPart(at step, more bool) (x part) {
	p := s.p
	b, err := p.batchOf(s, at)
	if err != nil {
		return part{err: err}
	}
	feed := s.feed
	defer feed.giveBack(b)
	if err := s.train.SetBatch(&b.Batch); err != nil {
		return part{err: err, vertices: slices.Clone(b.blocks.Counts), edges: b.edges()} // copies: b's memory is used again soon
	}
	if err := errors.Join(s.setStep(p.train, s.train), s.setGraphs(b), s.setLevels(b)); err != nil {
		return part{err: err}
	}
	next := p.sampled.next(at, s.number, s.of())
	if err := s.train.StepBatch(func() error { return p.stageNext(s, next) }); err != nil {
		return part{err: err}
	}
	x.loss, x.total = float64(s.train.Result(0)[0]), b.blocks.total
	for _, g := range s.train.Gradients() {
		if more {
			g = slices.Clone(g)
		}
		x.grads = append(x.grads, g)
	}
	x.seeds = slices.Clone(p.seedsOf(b))
	for _, id := range p.outputRows() {
		if x.rows == nil {
			x.rows = map[int][]float32{}
		}
		x.rows[id] = slices.Clone(device.View[float32](s.train.OutputRows(id, len(x.seeds))))
	}
	return x
}

// outputRows lists the values of the outputs that a batch computes, in ascending order.
func (p *Program) outputRows() (list []int) {
	for _, id := range p.train.low.Outputs {
		if p.train.low.Spec.Values[id].Kind != plan.Input {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// sumParts adds the gradients of an update's batches in a binary tree, neighbours first. Statistics of batches, towards
// which running averages move (Param.Average), become their mean over the batches.
func (p *Program) sumParts(parts []part) [][]float32 {
	n := len(parts)
	for far := 1; far < n; far *= 2 {
		for r := 0; r+far < n; r += 2 * far {
			for i, to := range parts[r].grads {
				for k, x := range parts[r+far].grads[i] {
					to[k] += x
				}
			}
		}
	}
	sum, low := parts[0].grads, p.train.low
	for i, u := range low.Spec.Updates {
		if q, err := p.param(low.Spec.Globals[u.Param].Name); err == nil && q.Average > 0 {
			for k := range sum[i] {
				sum[i][k] /= float32(n)
			}
		}
	}
	return sum
}

// apply makes the update with the same gradients on every device.
func (s *session) apply(grads [][]float32) error {
	all := s.all()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, x := range all {
		wg.Go(func() { errs[i] = chunk.Try(func() error { return x.train.Apply(grads) }) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
