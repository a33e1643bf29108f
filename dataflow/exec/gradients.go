package exec

import (
	"slices"

	"sagann/dataflow/plan"
	"sagann/device"
)

// Gradients apart from updates. If several batches make one update, the step of each copies its gradients to the host
// and updates nothing. Apply then updates with the sum, which the caller computes.

// separate takes memory for gradients on the host.
func (o *optimiser) separate(h *hosted) error {
	var floats int64
	each := func(f func(n int64)) {
		for _, u := range o.plan.Spec.Updates {
			f(o.plan.Spec.Globals[u.Grad].Bytes() / 4)
		}
	}
	each(func(n int64) { floats += n })
	b, err := h.pinned(4 * floats)
	if err != nil {
		return err
	}
	room := device.View[float32](b)
	o.apart = [][]float32{}
	each(func(n int64) { o.apart, room = append(o.apart, room[:n:n]), room[n:] })
	return nil
}

// step submits what a step does with gradients: it copies them to the host or updates the parameters.
func (o *optimiser) step(k *task, q device.Queue) error {
	if o.apart != nil {
		return o.bring(q)
	}
	return o.submit(k, q)
}

// bring copies gradients to the host, in place of the Update task.
func (o *optimiser) bring(q device.Queue) error {
	p := &o.arena.devices[0]
	for i, u := range o.plan.Spec.Updates {
		if err := p.dev.CopyD2H(q, device.Bytes(o.apart[i]), p.mem, o.plan.Globals[u.Grad]); err != nil {
			return err
		}
	}
	return nil
}

// apply submits the update by grads, in the order of plan.Spec.Updates, as the Update task among tasks.
func (o *optimiser) apply(grads [][]float32, tasks []task, names names) error {
	i := slices.IndexFunc(tasks, func(k task) bool { return k.t.Kind == plan.Update })
	if i < 0 {
		return nil
	}
	k, p := &tasks[i], &o.arena.devices[0]
	q := p.queues[k.t.Queue]
	q.SetTag(int64(i))
	for n, u := range o.plan.Spec.Updates {
		if to := o.apart[n]; len(to) > 0 && &to[0] != &grads[n][0] { // o.apart is pinned, grads may not be
			copy(to, grads[n])
		}
		if err := p.dev.CopyH2D(q, p.mem, o.plan.Globals[u.Grad], device.Bytes(o.apart[n])); err != nil {
			return names.task(i, err)
		}
	}
	if err := o.submit(k, q); err != nil {
		return names.task(i, err)
	}
	return nil
}
