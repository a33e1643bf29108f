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
	"sagann/device"
)

// feed fills batches on goroutines, ahead of their steps, and hands them out in the order of the run.
type feed struct {
	ready, free chan *batch
	next        []*batch // taken from ready before their turn, by peek
	stop        context.CancelFunc
	done        chan struct{}
}

// newFeed begins to fill the batches of the session's device, from place at on.
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
		var wrong error // of order; clusters and norms have been checked, so it is not expected
		for epoch := -1; ; at = p.sampled.next(at, number, of) {
			if at.epoch != epoch {
				epoch = at.epoch
				wrong = chunk.Try(func() (err error) { order, err = p.sampled.order(p.cfg.Seed, epoch); return err })
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
						b.err = chunk.Try(func() error { return p.fill(b, order) })
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

// peek waits for the batch that comes after k others, and leaves it in the feed.
func (f *feed) peek(k int) *batch {
	for len(f.next) <= k {
		b := <-f.ready
		<-b.filled
		f.next = append(f.next, b)
	}
	return f.next[k]
}

// take waits for the next batch and removes it from the feed. The caller returns it with giveBack.
func (f *feed) take() *batch {
	b := f.peek(0)
	f.next = f.next[1:]
	return b
}

// close stops the goroutines and waits for them.
func (f *feed) close() {
	f.stop()
	<-f.done
}

// stopFeeds ends the goroutines that fill batches, of all devices.
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

// stepSampled runs the next update, of one batch or several, and returns its loss.
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

// batchOf waits for the batch of a place, which the session's GPU or the feed draws.
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

// giveBack returns b to the feed, which fills it again. It never blocks, even if the feed was closed. It does nothing
// without a feed.
func (f *feed) giveBack(b *batch) {
	if f != nil {
		f.free <- b
	}
}

// seedsOf lists the seeds of a batch. Of clusters these are the training vertices only.
func (p *Program) seedsOf(b *batch) []uint32 {
	if p.dims.taskName() == VertexTask {
		return b.blocks.seeds[:b.blocks.Counts[0]]
	}
	return b.blocks.seeds
}

// fit gives the batch to the runner. If the plan has no room for it, a larger plan is made: parameters and moments move
// to a new session, which draws the batch again. fit returns the session and the batch to use.
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

// refit plans again, with room for a batch with these numbers of vertices and edges, and returns the new session.
func (p *Program) refit(open *session, vertices, edges []int) (*session, error) {
	held, err := open.held()
	if err != nil {
		return open, err
	}
	open.stopFeeds() // their goroutines read the plan that changes now
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

// epochLoss is the mean loss over the items of the epoch that has just ended. It begins the sum of the next.
func (p *Program) epochLoss() float64 {
	s := p.sampled
	loss := s.loss / p.itemWeights(s.draw.items)
	s.loss = 0
	return loss
}

// clock is the number that dropout is keyed by: the number of updates so far.
func (p *Program) clock() uint64 { return uint64(min(p.updates(), math.MaxUint32)) }

// Seeds returns the seeds of the last update of sampled training, in the order of its rows: its training vertices, or the
// vertices of its edges, links or graphs. It is nil before the first update.
func (p *Program) Seeds() []uint32 {
	if p.sampled == nil {
		return nil
	}
	return slices.Clone(p.sampled.filling.last)
}

// seedRows returns the rows of value id of the last update, one per seed, without padding: len(x)/cols rows.
func (s *session) seedRows(id int) (x []float32, cols int) {
	cols = s.p.train.low.Spec.Values[id].Cols
	rows, ld := s.p.sampled.filling.rows[id], chunk.LD(cols)
	if rows == nil {
		rows = device.View[float32](s.train.OutputRows(id, len(s.p.sampled.filling.last)))
	}
	for at := 0; at < len(rows); at += ld {
		x = append(x, rows[at:at+cols]...)
	}
	return x, cols
}
