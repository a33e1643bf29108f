package exec

import (
	"errors"
	"sync"

	"sagann/dataflow/plan"
	"sagann/device"
)

// submitAll hands every task to its queue: an event is recorded before anyone is made to
// wait for it. With several devices each has a goroutine that hands it its tasks, in the
// global order; before it waits for a task of another device it lets that one's goroutine
// come so far. Dependences point backwards in one order, so none waits in a circle.
func (r *Runner) submitAll() error {
	n := len(r.arena.devices)
	if n == 1 || r.arena.onGPU() && r.hostUpdate() { // which waits for all devices on its way
		return r.submit(nil, -1)
	}
	all := &submitted{upTo: make([]int, n)}
	all.moved.L = &all.mu
	errs := make([]error, n)
	var wg sync.WaitGroup
	for d := range n {
		wg.Go(func() {
			errs[d] = r.submit(all, d)
			all.reach(d, len(r.tasks), errs[d] != nil)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// submit hands over the tasks of one device, or of all (device -1).
func (r *Runner) submit(all *submitted, only int) error {
	for i := range r.tasks {
		k := &r.tasks[i]
		on := int(k.t.Device) - r.arena.first
		if only >= 0 && on != only || k.t.Kind == plan.Results && r.batch != nil { // StepBatch brings results
			continue
		}
		part := &r.arena.devices[on]
		dev, q := part.dev, part.queues[k.t.Queue]
		q.SetTag(int64(i))
		for _, d := range r.plan.Deps[k.t.Deps[0]:k.t.Deps[1]] {
			if from := int(r.tasks[d].t.Device) - r.arena.first; only >= 0 && from != only && !all.await(from, int(d)) {
				return nil // a device has failed and says so
			}
			if err := dev.Wait(q, r.awaited(int(d))); err != nil {
				return r.fail(i, err)
			}
		}
		direct := r.isDirect(k.t)
		if direct {
			if err := r.direct(k, q); err != nil {
				return r.fail(i, err)
			}
		} else if err := k.submit(q); err != nil {
			return r.fail(i, err)
		}
		switch {
		case direct: // events are recorded when the turn is complete
			if only >= 0 && !k.more {
				all.reach(only, i+1, false)
			}
		case k.event != nil && (k.t.Kind != plan.Load || r.ahead.bytes == 0):
			if err := dev.Record(q, k.event); err != nil {
				return r.fail(i, err)
			}
			if only >= 0 {
				all.reach(only, i+1, false)
			}
		}
	}
	return nil
}

// awaited is the event of task d: of what comes with a batch that of the room at hand, for the next batch may come already.
func (r *Runner) awaited(d int) device.Event {
	k := &r.tasks[d]
	if k.t.Kind == plan.Load && r.ahead.bytes > 0 {
		return r.ahead.come[r.ahead.room]
	}
	return k.event
}

// submitted says how far the devices' goroutines are.
type submitted struct {
	mu     sync.Mutex
	moved  sync.Cond
	upTo   []int // by device: of the tasks before this one its own are submitted
	failed bool
}

// reach tells those who wait that device's tasks before i are submitted, or that no more
// will be.
func (s *submitted) reach(device, i int, failed bool) {
	s.mu.Lock()
	s.upTo[device] = max(s.upTo[device], i)
	s.failed = s.failed || failed
	s.mu.Unlock()
	s.moved.Broadcast()
}

// await waits until task i of device is submitted; false when it never will be.
func (s *submitted) await(device, i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.upTo[device] <= i && !s.failed {
		s.moved.Wait()
	}
	return s.upTo[device] > i
}
