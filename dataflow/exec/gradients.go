package exec

import (
	"errors"
	"slices"

	"sagann/dataflow/plan"
	"sagann/device"
)

// Gradients apart from updates. If several batches make one update, the step of each copies its gradients to the host
// and updates nothing. Apply then updates with the sum, which the caller computes.

// Apart makes steps copy gradients to the host instead of updating. Call it once, before the first step.
func (r *Runner) Apart() error {
	var floats int64
	each := func(f func(n int64)) {
		for _, u := range r.plan.Spec.Updates {
			f(r.plan.Spec.Globals[u.Grad].Bytes() / 4)
		}
	}
	each(func(n int64) { floats += n })
	b, err := r.host.pinned(4 * floats)
	if err != nil {
		return err
	}
	room := device.View[float32](b)
	r.apart = [][]float32{}
	each(func(n int64) { r.apart, room = append(r.apart, room[:n:n]), room[n:] })
	return nil
}

// Gradients are the gradients of the last step, in the order of plan.Spec.Updates, valid until the next step. They may
// be changed and passed to Apply.
func (r *Runner) Gradients() [][]float32 { return r.apart }

// bringGradients copies gradients to the host, in place of the Update task.
func (r *Runner) bringGradients(q device.Queue) error {
	p := &r.arena.devices[0]
	for i, u := range r.plan.Spec.Updates {
		if err := p.dev.CopyD2H(q, device.Bytes(r.apart[i]), p.mem, r.plan.Globals[u.Grad]); err != nil {
			return err
		}
	}
	return nil
}

// Apply updates the parameters by grads, in the order of plan.Spec.Updates, and returns when the update has ended. It
// overwrites Gradients.
func (r *Runner) Apply(grads [][]float32) error {
	return errors.Join(r.submitApply(grads), r.names.named(r.arena.sync()))
}

func (r *Runner) submitApply(grads [][]float32) error {
	i := slices.IndexFunc(r.tasks, func(k task) bool { return k.t.Kind == plan.Update })
	if i < 0 {
		return nil
	}
	k, p := &r.tasks[i], &r.arena.devices[0]
	q := p.queues[k.t.Queue]
	q.SetTag(int64(i))
	for n, u := range r.plan.Spec.Updates {
		if to := r.apart[n]; len(to) > 0 && &to[0] != &grads[n][0] { // r.apart is pinned, grads may not be
			copy(to, grads[n])
		}
		if err := p.dev.CopyH2D(q, p.mem, r.plan.Globals[u.Grad], device.Bytes(r.apart[n])); err != nil {
			return r.names.task(i, err)
		}
	}
	if err := k.submitUpdate(q); err != nil {
		return r.names.task(i, err)
	}
	return nil
}
