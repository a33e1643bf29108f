package batches

import (
	"fmt"

	"sagann/dataflow/exec"
	"sagann/device"
)

// Source has the batches of one device of a run ready, in the order of the run. The host fills them (hostSource), or the
// GPU that computes them draws them (gpuSource). Its batches are valid until they are released.
type Source interface {
	// Take waits for the batch of a place: the first that is taken, or the one that the device computes after the last.
	Take(at Place) (*Batch, error)
	// Stage begins to copy the batches from place next on to the device, as many as it has room for, while it computes the
	// one before them. It does not copy batches of the next epoch, since an evaluation may come before them.
	Stage(next Place) error
	// Rewind forgets what is prepared. After it the batch of any place can be taken.
	Rewind()
	// Close ends what runs and frees memory.
	Close() error
}

// Source returns the source of the device dev, whose batches run computes. set sets the tables of the plan: those of the
// source of another device of the process, or nil.
func (m *Maker) Source(run *exec.Runner, dev device.Device, t Turn, tables *exec.Runner) (Source, error) {
	if err := m.fits(); err != nil {
		return nil, err
	}
	if err := m.setTables(run, tables); err != nil {
		return nil, err
	}
	if gpu, ok := dev.(device.Capturer); ok && m.way.Drawn {
		s, err := m.onGPU(run, gpu, t)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return &hostSource{m: m, run: run, turn: t}, nil
}

// setTables gives run the tables of its plan: those that another runner has, or nil.
func (m *Maker) setTables(run, other *exec.Runner) error {
	if m.Without("match") {
		run.Alone()
	}
	for in, id := range m.low.Inputs {
		t := m.plan.Places.Sets.TableOf(id)
		if t == nil {
			continue
		}
		var table []byte
		var err error
		if other != nil {
			table = other.Output(id)
		} else {
			of, name := m.source(in)
			table, err = of.Table(name, t.Host)
		}
		if err != nil {
			return err
		}
		if err := run.SetTable(id, table); err != nil {
			return fmt.Errorf("rows of %s: %w", in.Name, err)
		}
		if t.Host {
			if err := run.SetHot(id, m.rooms.Hot(t.Hot)); err != nil {
				return err
			}
		}
	}
	return nil
}
