package exec

import (
	"fmt"

	"sagann/dataflow/plan"
)

// What device memory holds between steps. The runners of an arena share its memory:
//
//	Globals of kind Param   belong to all runners, and stay
//	what a setup has loaded belongs to its runner and to runners beside it, and stays, but for windows of some phases
//	everything else         belongs to one runner, the owner; a step of another runner overwrites it
//
// Only this file changes Arena.owner and Runner.has.

// Load loads to the device what a step needs and is not there: the setup of this plan and of
// its base, and constants. Step calls it. Afterwards the values that another runner's last
// step computed are gone (Holds).
func (r *Runner) Load() error {
	if err := r.own(); err != nil {
		return err
	}
	if r.base != nil {
		if err := r.base.loadSetup(r.base.plan.Spec.Between); err != nil {
			return err
		}
	}
	if err := r.loadSetup(true); err != nil {
		return err
	}
	return r.globals.submit()
}

// loadSetup loads what r's setup loads and is not on the device; windows only if a step of r follows.
func (r *Runner) loadSetup(windows bool) error {
	if r.has.setup && (r.has.windows || !windows) {
		return nil
	}
	for i := range r.plan.Setup {
		t := &r.plan.Setup[i]
		if r.has.ahead && t.Value >= 0 && r.plan.Spec.Values[t.Value].State {
			continue
		}
		if window := t.Addr >= r.plan.Places.Whole; window && !windows || !window && r.has.setup {
			continue
		}
		r.arena.on(t.Device).queues[t.Queue].SetTag(int64(-1 - i))
		if err := r.copies.submit(t); err != nil {
			return r.names.named(err)
		}
		r.copies.of(t).Setup += t.Bytes
	}
	if err := r.arena.sync(); err != nil {
		return r.names.named(err)
	}
	r.has.setup, r.has.ahead = true, true
	r.has.windows = windows
	return nil
}

// own makes r the owner of the memory that steps and Apply overwrite.
func (r *Runner) own() error {
	old := r.arena.owner
	if old == r {
		return nil
	}
	if old != nil {
		if old.steps.flying {
			old.steps.flying = false
			if err := r.arena.syncFor("rows that another program will not use"); err != nil {
				return err
			}
		}
		old.lose()
	}
	r.lose()
	r.arena.owner = r
	return nil
}

// lose notes that device memory no longer has what r's steps have computed and hold for the next one, r's constants and staged batches.
func (r *Runner) lose() {
	r.has.held, r.has.windows = false, r.has.windows && r.plan.Spec.Between
	r.load.lose()
	r.globals.lose()
}

// ended notes how a step of r has ended. After an error the contents of device memory are unknown, so
// the setup, constants and batches are loaded again.
func (r *Runner) ended(err error) {
	r.has.held, r.has.stepped = err == nil, err == nil
	if err != nil {
		r.lose()
		r.has.setup, r.has.windows = false, false
	}
}

// Stepped tells whether the last step of the runner ended without an error, so that results and outputs
// are valid.
func (r *Runner) Stepped() bool { return r.has.stepped }

// Holds tells whether device memory still has what the runner's last step computed.
func (r *Runner) Holds() bool { return r.has.held }

// SetGlobal writes x, in row-major order, to a Global. A Global of kind Param is written at once, one of kind Const
// before the next step. Other kinds, and a wrong length of x, are errors. No step may be running.
func (r *Runner) SetGlobal(id int, x []float32) error { return r.globals.set(id, x) }

// Global copies a Global to x. A Global that is not of kind Param can be read after a step until another runner of
// the arena steps. No step may be running.
func (r *Runner) Global(id int, x []float32) error {
	if g := r.plan.Spec.Globals[id]; g.Kind != plan.Param && !r.Holds() {
		return fmt.Errorf("exec: %s is not in device memory: no step has computed it, or another program has run since", g.Name)
	}
	return r.globals.read(id, x)
}
