package exec

import (
	"errors"
	"fmt"

	"sagann/dataflow/plan"
	"sagann/device"
)

// names says in errors which part of a plan they belong to. Task i of a step has queue tag i, task i of the setup -1-i, and
// constants have the tags below (constant).
type names struct{ plan *plan.Plan }

// task is an error of task i of a step.
func (n names) task(i int, err error) error {
	return fmt.Errorf("%s: %w", n.plan.Describe(i), err)
}

// constant is the queue tag of a copy of Global id of kind Const.
func (n names) constant(id int) int64 { return int64(-1 - len(n.plan.Setup) - id) }

// named adds to an error of a device what it belongs to, by the tag of its queue.
func (n names) named(err error) error {
	var call *device.OpError
	if !errors.As(err, &call) || call.Queue == "" {
		return err
	}
	p := n.plan
	switch i := call.Tag; {
	case i >= 0 && i < int64(len(p.Tasks)):
		return n.task(int(i), err)
	case i < 0 && -1-i < int64(len(p.Setup)):
		return fmt.Errorf("setup (%s): %w", p.DescribeTask(&p.Setup[-1-i]), err)
	case i < 0 && n.constant(0)-i < int64(len(p.Spec.Globals)):
		return fmt.Errorf("set %s: %w", p.Spec.Globals[n.constant(0)-i].Name, err)
	}
	return err
}
