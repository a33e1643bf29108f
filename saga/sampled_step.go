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
	next        []*batch // were taken from ready before their turn
	stop        context.CancelFunc
	done        chan struct{}
}

// newFeed begins to prepare the batches of the session's device from a place on.
func (p *Program) newFeed(open *session, at step) (*feed, error) {
	number, of := open.number, open.of()
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
		for epoch := -1; ; at = p.sampled.next(at, number, of) {
			if at.epoch != epoch {
				epoch = at.epoch
				order, wrong = p.sampled.order(p.cfg.Seed, epoch)
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

// peek is the batch whose turn is when k others had theirs, filled.
func (f *feed) peek(k int) *batch {
	for len(f.next) <= k {
		b := <-f.ready
		<-b.filled
		f.next = append(f.next, b)
	}
	return f.next[k]
}

// take is the batch whose turn is next; it is the caller's.
func (f *feed) take() *batch {
	b := f.peek(0)
	f.next = f.next[1:]
	return b
}

// close waits for the goroutines.
func (f *feed) close() {
	f.stop()
	<-f.done
}

// stopFeeds ends the goroutines that prepare batches.
func (s *session) stopFeeds() {
	if s == nil {
		return
	}
	for _, x := range s.all() {
		if x.feed != nil {
			x.feed.close()
			x.feed = nil
		}
	}
}

// stepSampled runs the next batch and returns its loss.
func (p *Program) stepSampled(open *session) (loss float64, err error) {
	s := p.sampled
	if s.parts() > 1 {
		return p.stepParts(open)
	}
	at := step{epoch: s.epoch, batch: s.batch}
	b, err := p.batchOf(open, at)
	if err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	if open, b, err = p.fit(open, b); err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	defer open.feed.giveBack(b)
	if err := open.setStep(p.train, open.train); err != nil {
		return 0, err
	}
	if err := errors.Join(open.setGraphs(b), open.setLevels(b)); err != nil {
		return 0, err
	}
	open.takeRows(b)
	open.grads = nil
	next := s.next(at, 0, 1)
	if err := open.train.StepBatch(func() error { return p.stageNext(open, next) }); err != nil {
		return 0, fmt.Errorf("%v: %w", at, err)
	}
	open.updateRows(b)
	loss = float64(open.train.Result(0)[0])
	s.loss += loss * b.weight
	s.filling.updates++
	s.filling.last = append(s.filling.last[:0], p.seedsOf(b)...)
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
	defer func() { s.filling.waiting.Add(int64(time.Since(start))) }()
	if open.draws != nil {
		return open.drawn(at)
	}
	if open.feed == nil {
		if open.feed, err = p.newFeed(open, at); err != nil {
			return nil, err
		}
	}
	if b = open.feed.take(); b.err != nil {
		open.feed.close()
		open.feed = nil
		return nil, b.err
	}
	if b.at != at {
		panic(fmt.Sprintf("saga: the batch of %v is there, that of %v is wanted", b.at, at))
	}
	return b, nil
}

// giveBack has b filled again; there is room for it also when the feed was stopped.
func (f *feed) giveBack(b *batch) {
	if f != nil {
		f.free <- b
	}
}

// seedsOf are the seeds of a batch, or of pairs the vertices where they end.
func (p *Program) seedsOf(b *batch) []uint32 {
	if p.dims.taskName() == VertexTask {
		return b.blocks.seeds[:b.blocks.Counts[0]]
	}
	return b.blocks.seeds
}

// fit gives the batch to the runner. Where the plan has no room for it, it is made again with
// more: parameters and moments move to a new session, and the batch is drawn again in its memory.
func (p *Program) fit(open *session, b *batch) (*session, *batch, error) {
	err := open.train.SetBatch(&b.Batch)
	var over *exec.OverflowError
	if !errors.As(err, &over) {
		return open, b, err
	}
	if open, err = p.refit(open, b.blocks.Counts, b.edges()); err != nil {
		return open, b, err
	}
	if b, err = p.batchOf(open, b.at); err != nil {
		return open, b, err
	}
	return open, b, open.train.SetBatch(&b.Batch)
}

// refit is a session with room for a batch of so many rows and edges.
func (p *Program) refit(open *session, vertices, edges []int) (*session, error) {
	held, err := open.held()
	if err != nil {
		return open, err
	}
	open.stopFeeds() // which read the plan
	p.sampled.widen(vertices, edges)
	p.sampled.filling.overflows++
	if err := p.planSampled(); err != nil {
		return open, fmt.Errorf("a batch has %v vertices by level, more than planned for: %w", vertices, err)
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
	loss := s.loss / p.itemWeights(s.draw.items)
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
	rows, ld := s.p.sampled.filling.rows[id], chunk.LD(cols)
	if rows == nil {
		rows = floatsOf(s.train.OutputRows(id, len(s.p.sampled.filling.last)))
	}
	for at := 0; at < len(rows); at += ld {
		x = append(x, rows[at:at+cols]...)
	}
	return x, cols
}
