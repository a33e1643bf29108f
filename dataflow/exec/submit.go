package exec

import (
	"errors"
	"sync"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/device"
)

// submitAll submits every task to its queue, in the global order. An event must be recorded before a queue is
// made to wait for it. With several devices, each has a goroutine that submits the device's tasks. If a task depends on
// a task of another device, the goroutine first waits until that task is submitted. Dependences point backwards in the
// global order, so the goroutines cannot deadlock.
func (r *Runner) submitAll() error {
	n := len(r.arena.devices)
	if n == 1 || r.arena.onGPU() && r.update.onHost() { // an optimiser on the host waits for all devices
		return r.submit(nil, -1)
	}
	all := &submitted{upTo: make([]int, n)}
	all.moved.L = &all.mu
	errs := make([]error, n)
	var wg sync.WaitGroup
	for d := range n {
		wg.Go(func() {
			errs[d] = chunk.Try(func() error { return r.submit(all, d) })
			all.reach(d, len(r.tasks), errs[d] != nil)
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// submit submits the tasks of device number only of the arena, or of all devices if only is -1.
func (r *Runner) submit(all *submitted, only int) error {
	for i := range r.tasks {
		k := &r.tasks[i]
		on := r.arena.number(k.t.Device)
		if only >= 0 && on != only || k.t.Kind == plan.Results && r.now.batch != nil { // StepBatch brings results
			continue
		}
		part := &r.arena.devices[on]
		dev, q := part.dev, part.queues[k.t.Queue]
		q.SetTag(int64(i))
		for _, d := range r.plan.Deps[k.t.Deps[0]:k.t.Deps[1]] {
			if from := r.arena.number(r.tasks[d].t.Device); only >= 0 && from != only && !all.await(from, int(d)) {
				return nil // another device has failed, and its goroutine returns the error
			}
			if err := dev.Wait(q, r.awaited(int(d))); err != nil {
				return r.names.task(i, err)
			}
		}
		direct := r.ranks.isDirect(k.t)
		if direct {
			if err := r.ranks.exchange(k, q); err != nil {
				return r.names.task(i, err)
			}
		} else if err := r.submitTask(k, q); err != nil {
			return r.names.task(i, err)
		}
		switch {
		case direct: // events are recorded when the turn is complete
			if only >= 0 && !k.more {
				all.reach(only, i+1, false)
			}
		case k.event != nil && (k.t.Kind != plan.Load || r.now.bytes == 0):
			if err := dev.Record(q, k.event); err != nil {
				return r.names.task(i, err)
			}
			if only >= 0 {
				all.reach(only, i+1, false)
			}
		}
	}
	return nil
}

// submitTask submits a task that is no direct message.
func (r *Runner) submitTask(k *task, q device.Queue) error {
	switch t := k.t; t.Kind {
	case plan.Load, plan.Save, plan.Copy:
		switch {
		case r.plan.Places.Sets == nil:
			return r.copies.step(t)
		case t.Kind == plan.Load && r.now.bytes > 0: // it was loaded ahead
			return nil
		}
		return r.load.copy(r.now.batch, r.now.buffer, t, q)
	case plan.Results:
		if r.kernels.gpus.capturing {
			return nil
		}
		return r.copies.results(r.arena.number(t.Device), q)
	case plan.Send, plan.Receive:
		return r.ranks.submit(t, q)
	case plan.Update:
		return r.update.step(k, q)
	}
	return r.arena.on(k.t.Device).dev.Launch(q, k)
}

// awaited is the event to wait for task d. For a load of a batch that is loaded ahead, it is the event of the current buffer: the
// task's own event could be that of a later batch.
func (r *Runner) awaited(d int) device.Event {
	k := &r.tasks[d]
	if k.t.Kind == plan.Load && r.now.bytes > 0 {
		return r.load.come[r.now.buffer]
	}
	return k.event
}

// submitted records how far the goroutines of the devices are.
type submitted struct {
	mu     sync.Mutex
	moved  sync.Cond
	upTo   []int // by device: the device's tasks with smaller numbers are submitted
	failed bool  // a goroutine has ended with an error
}

// reach notes that device's tasks before task i are submitted or, with failed, that a device has failed. It wakes
// the goroutines in await.
func (s *submitted) reach(device, i int, failed bool) {
	s.mu.Lock()
	s.upTo[device] = max(s.upTo[device], i)
	s.failed = s.failed || failed
	s.mu.Unlock()
	s.moved.Broadcast()
}

// await waits until task i of device is submitted. It returns false if a device has failed before.
func (s *submitted) await(device, i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.upTo[device] <= i && !s.failed {
		s.moved.Wait()
	}
	return s.upTo[device] > i
}
