package saga

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"sagann/chunk"
	"sagann/dataflow/exec"
)

// feed prepares batches in the order of a run, ahead of their steps, on goroutines.
type feed struct {
	ready, free chan *batch
	next        *batch // was taken from ready before its turn
	stop        context.CancelFunc
	done        chan struct{}
}

// newFeed begins to prepare batches from a place on.
func (p *Program) newFeed(open *session, at step) (*feed, error) {
	ctx, stop := context.WithCancel(context.Background())
	n := p.ahead() + 1
	f := &feed{ready: make(chan *batch, n), free: make(chan *batch, n), stop: stop, done: make(chan struct{})}
	for range n {
		b, err := open.newBatch()
		if err != nil {
			stop()
			return nil, err
		}
		f.free <- b
	}
	fillers := make(chan struct{}, max(1, n-2))
	go func() {
		defer close(f.done)
		var filling sync.WaitGroup
		defer filling.Wait()
		var order *epochOrder
		var wrong error // with the clusters, which were looked at before
		for ; ; at = p.sampled.after(at) {
			if order == nil || at.batch == 0 {
				order, wrong = p.sampled.order(p.cfg.Seed, at.epoch)
			}
			select {
			case <-ctx.Done():
				return
			case b := <-f.free:
				b.at, b.filled = at, make(chan struct{})
				order, wrong := order, wrong
				f.ready <- b
				fillers <- struct{}{}
				filling.Go(func() {
					start := time.Now()
					if b.err = wrong; wrong == nil {
						b.err = p.fill(b, order)
					}
					p.sampled.filling.drawing.Add(int64(time.Since(start)))
					close(b.filled)
					<-fillers
				})
			}
		}
	}()
	return f, nil
}

// peek is the batch whose turn is next, filled.
func (f *feed) peek() *batch {
	if f.next == nil {
		f.next = <-f.ready
		<-f.next.filled
	}
	return f.next
}

// take is peek; the batch is the caller's.
func (f *feed) take() *batch {
	b := f.peek()
	f.next = nil
	return b
}

// close waits for the goroutines.
func (f *feed) close() {
	f.stop()
	<-f.done
}

// after is the place behind at.
func (s *sampled) after(at step) step {
	if at.batch++; at.batch == s.batches() {
		at.epoch, at.batch = at.epoch+1, 0
	}
	return at
}

// stopFeed ends the goroutine that prepares batches.
func (s *sampled) stopFeed() {
	if s != nil && s.feed != nil {
		s.feed.close()
		s.feed = nil
	}
}

// stepSampled runs the next batch and returns its loss.
func (p *Program) stepSampled(open *session) (loss float64, err error) {
	s := p.sampled
	at := step{epoch: s.epoch, batch: s.batch}
	b, err := p.batchOf(open, at)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	if open, b, err = p.fit(open, b); err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	defer s.giveBack(s.feed, b)
	if err := open.setStep(p.train, open.train); err != nil {
		return 0, err
	}
	if err := errors.Join(open.setGraphs(b), open.setLevels(b)); err != nil {
		return 0, err
	}
	open.takeRows(b)
	open.grads = nil
	next := s.after(at)
	if err := open.train.StepBatch(func() error { return p.stageNext(open, next) }); err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	open.updateRows(b)
	loss = float64(open.train.Result(0)[0])
	s.loss += loss * b.weight
	s.steps++
	s.filling.last = append(s.filling.last[:0], b.blocks.seeds...)
	if p.dims.taskName() == VertexTask {
		s.filling.last = s.filling.last[:b.blocks.Counts[0]]
	}
	if s.batch = next.batch; next.batch == 0 {
		p.epoch++
	}
	s.epoch = next.epoch
	return loss, nil
}

// batchOf is the batch of a place, drawn by the session's GPU or by the feed.
func (p *Program) batchOf(open *session, at step) (b *batch, err error) {
	s := p.sampled
	start := time.Now()
	defer func() { s.filling.waiting += time.Since(start) }()
	if open.draws != nil {
		return open.drawn(at)
	}
	if s.feed == nil {
		if s.feed, err = p.newFeed(open, at); err != nil {
			return nil, err
		}
	}
	if b = s.feed.take(); b.err != nil {
		s.stopFeed()
		return nil, b.err
	}
	if b.at != at {
		panic(fmt.Sprintf("saga: the batch of %v is there, that of %v is wanted", b.at, at))
	}
	return b, nil
}

// giveBack has b filled again by the feed that made it, unless that was stopped.
func (s *sampled) giveBack(f *feed, b *batch) {
	if s.feed == f && f != nil {
		f.free <- b
	}
}

// fit gives the batch to the runner. Where the plan has no room for it, it is made again with
// more: parameters and moments move to a new session, and the batch is drawn again in its memory.
func (p *Program) fit(open *session, b *batch) (*session, *batch, error) {
	err := open.train.SetBatch(&b.Batch)
	var over *exec.OverflowError
	if !errors.As(err, &over) {
		return open, b, err
	}
	if open, err = p.refit(open, b); err != nil {
		return open, b, err
	}
	if b, err = p.batchOf(open, b.at); err != nil {
		return open, b, err
	}
	return open, b, open.train.SetBatch(&b.Batch)
}

// refit is a session with room for b.
func (p *Program) refit(open *session, b *batch) (*session, error) {
	held, err := open.held()
	if err != nil {
		return open, err
	}
	p.sampled.stopFeed() // which reads the plan
	p.sampled.widen(b.blocks.Counts, b.edges())
	p.sampled.overflows++
	if err := p.planSampled(); err != nil {
		return open, fmt.Errorf("a batch has %v vertices by level, more than planned for: %w", b.blocks.Counts, err)
	}
	if err := p.placeFinal(nil); err != nil {
		return open, err
	}
	if err := p.release(); err != nil {
		return open, err
	}
	if err := p.takeUp(open, held); err != nil {
		return open, err
	}
	return p.session, nil
}

// epochLoss is the mean loss over the items of the epoch that has just ended.
func (p *Program) epochLoss() float64 {
	s := p.sampled
	loss := s.loss / p.itemWeights(s.train)
	s.loss = 0
	return loss
}

// clock is the number that dropout is keyed by: updates before the step in hand.
func (p *Program) clock() uint64 { return uint64(min(p.updates(), math.MaxUint32)) }

// Seeds are the vertices of the last batch of sampled training, in the order of its rows, or those of its edges,
// links or graphs; nil before the first.
func (p *Program) Seeds() []uint32 {
	if p.sampled == nil {
		return nil
	}
	return slices.Clone(p.sampled.filling.last)
}

// seedRows is value id of the last batch, without what pads its rows.
func (s *session) seedRows(id int) (x []float32, cols int) {
	cols = s.p.train.low.Spec.Values[id].Cols
	rows, ld := floatsOf(s.train.OutputRows(id, len(s.p.sampled.filling.last))), chunk.LD(cols)
	for at := 0; at < len(rows); at += ld {
		x = append(x, rows[at:at+cols]...)
	}
	return x, cols
}
