package device

import (
	"sync"
	"sync/atomic"
)

// event is the host's Event: a latch with an epoch for each Record. Epochs of
// one queue end in order, those of different queues need not.
type event struct {
	owner uint32

	mu    sync.Mutex
	cond  sync.Cond
	last  uint64              // epochs begun: calls of Record
	done  atomic.Uint64       // epochs 1..done have ended; written under mu
	early map[uint64]struct{} // ended epochs after done
}

func newEvent(owner uint32) *event {
	e := &event{owner: owner}
	e.cond.L = &e.mu
	return e
}

// Recorded returns the number of epochs begun.
func (e *event) Recorded() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// record begins an epoch and passes it to submit. If submit fails there is no
// epoch: a waiter for it would wait for ever.
func (e *event) record(submit func(epoch uint64) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := submit(e.last + 1); err != nil {
		return err
	}
	e.last++
	return nil
}

// end ends an epoch and wakes its waiters.
func (e *event) end(epoch uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if epoch != e.done.Load()+1 {
		if e.early == nil {
			e.early = make(map[uint64]struct{})
		}
		e.early[epoch] = struct{}{}
	} else {
		for {
			e.done.Store(epoch)
			epoch++
			if _, ok := e.early[epoch]; !ok {
				break
			}
			delete(e.early, epoch)
		}
	}
	e.cond.Broadcast()
}

// wait returns when the epoch has ended.
func (e *event) wait(epoch uint64) {
	if e.done.Load() >= epoch {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.done.Load() < epoch {
		if _, ok := e.early[epoch]; ok {
			return
		}
		e.cond.Wait()
	}
}
