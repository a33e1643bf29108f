package batches

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sagann/chunk"
	"sagann/dataflow/exec"
)

// hostSource is the Source whose batches the host fills.
type hostSource struct {
	m    *Maker
	run  *exec.Runner
	turn Turn
	feed *feed // nil: nothing is prepared
}

// Take implements Source.
func (s *hostSource) Take(at Place) (b *Batch, err error) {
	defer s.m.waits(time.Now())
	if s.feed == nil {
		if s.feed, err = s.begin(at); err != nil {
			return nil, err
		}
	}
	if b = s.feed.take(); b.err != nil {
		s.Rewind()
		return nil, b.err
	}
	if b.At != at {
		panic(fmt.Sprintf("saga: the batch of %v is there, that of %v is wanted", b.At, at))
	}
	return b, nil
}

// Stage implements Source.
func (s *hostSource) Stage(next Place) error {
	if !s.m.way.Two || s.m.learns() { // learned rows change with every step
		return nil
	}
	for k := range max(1, s.run.Ahead()) {
		if next.Batch < s.m.Parts {
			return nil
		}
		start := time.Now()
		b := s.feed.peek(k)
		if s.m.waits(start); b.err != nil { // Take returns it when it is the batch's turn
			return nil
		}
		if staged, err := stage(s.run, b); err != nil || !staged {
			return err
		}
		next = s.m.Next(next, s.turn)
	}
	return nil
}

// learns tells whether the plan reads rows that change from step to step.
func (m *Maker) learns() bool {
	for in := range m.low.Inputs {
		if m.learned(in.Name) {
			return true
		}
	}
	return false
}

// Rewind implements Source.
func (s *hostSource) Rewind() {
	if s.feed != nil {
		s.feed.close()
		s.feed = nil
	}
}

// Close implements Source.
func (s *hostSource) Close() error { s.Rewind(); return nil }

// feed fills batches on goroutines, ahead of their steps, and hands them out in the order of the run.
type feed struct {
	ready, free chan *Batch
	next        []*Batch // taken from ready before their turn, by peek
	stop        context.CancelFunc
	done        chan struct{}
}

// begin begins to fill the batches of the device, from place at on.
func (s *hostSource) begin(at Place) (*feed, error) {
	m := s.m
	ctx, stop := context.WithCancel(context.Background())
	n := m.prepared() + 1
	f := &feed{ready: make(chan *Batch, n), free: make(chan *Batch, n), stop: stop, done: make(chan struct{})}
	for range n {
		b, err := m.newBatch(s.run)
		if err != nil {
			stop()
			return nil, err
		}
		b.home = f.free
		f.free <- b
	}
	fillers := make(chan struct{}, max(1, n-2))
	go func() {
		defer close(f.done)
		var filling sync.WaitGroup
		defer filling.Wait()
		var order *Order
		var wrong error // of order; clusters and norms have been checked, so it is not expected
		for epoch := -1; ; at = m.Next(at, s.turn) {
			if at.Epoch != epoch {
				epoch = at.Epoch
				wrong = chunk.Try(func() (err error) { order, err = m.Order(epoch); return err })
			}
			select {
			case <-ctx.Done():
				return
			case b := <-f.free:
				b.At, b.filled = at, make(chan struct{})
				order, wrong := order, wrong
				f.ready <- b
				fillers <- struct{}{}
				filling.Go(func() {
					start := time.Now()
					if b.err = wrong; wrong == nil {
						b.err = chunk.Try(func() error { return m.fill(b, order) })
					}
					m.spent.drawing.Add(int64(time.Since(start)))
					close(b.filled)
					<-fillers
				})
			}
		}
	}()
	return f, nil
}

// peek waits for the batch that comes after k others, and leaves it in the feed.
func (f *feed) peek(k int) *Batch {
	for len(f.next) <= k {
		b := <-f.ready
		<-b.filled
		f.next = append(f.next, b)
	}
	return f.next[k]
}

// take waits for the next batch and removes it from the feed.
func (f *feed) take() *Batch {
	b := f.peek(0)
	f.next = f.next[1:]
	return b
}

// close stops the goroutines and waits for them.
func (f *feed) close() {
	f.stop()
	<-f.done
}
