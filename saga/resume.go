package saga

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"sagann/internal/safetensors"
)

// Restore sets the program to the state that Save wrote at path, so that training goes on bit for
// bit on the same type of machine. It refuses a checkpoint of another model, other data, seed,
// optimiser or one of its numbers, kind of device, patience, number of intervals or order of sums,
// a damaged one, and one of an older version that does not say all of this. The error then names
// what differs, and the program is unchanged. Predict, Embed and Evaluate only need a checkpoint of
// the same model, of any version.
func (p *Program) Restore(path string) error {
	_, err := p.restore(path)
	return err
}

func (p *Program) restore(path string) (best, error) {
	s, err := p.open()
	if err != nil {
		return best{}, err
	}
	f, c, err := openCheckpoint(path)
	if err != nil {
		return best{}, err
	}
	defer f.Close()
	fail := func(err error) (best, error) { return best{}, fmt.Errorf("%s: %w", path, err) }
	if err := p.fits(c); err != nil {
		return fail(err)
	}
	want, err := s.tensors()
	if err != nil {
		return best{}, err
	}
	k, err := readTensors(f)
	if err != nil {
		return fail(err)
	}
	got := k.list
	for _, t := range want {
		if err := sameTensor(t, got[t.Name]); err != nil {
			return fail(err)
		}
	}
	if len(got) != len(want) {
		return fail(fmt.Errorf("%d tensors, this program has %d", len(got), len(want)))
	}
	for name, t := range got {
		if err := s.setGlobal(name, t.Data.([]float32)); err != nil {
			return best{}, err
		}
	}
	p.epoch, p.plateau = c.Epoch, c.plateau
	p.session.rewind()
	p.run.number, p.run.loss, p.run.count = c.Batch, c.batchLoss, c.Epoch*p.mode.facts().updates+c.Batch
	return k.best, nil
}

// fits says why training cannot go on from c bit for bit.
func (p *Program) fits(c *Checkpoint) error {
	if err := cmp.Or(sameArithmetic(c.Digest), c.suits(&p.model)); err != nil {
		return err
	}
	f := p.mode.facts()
	switch {
	case c.version == firstVersion:
		return fmt.Errorf("a checkpoint of version %s, and training goes on from later ones only; saga.Predict, Embed and Evaluate read both", c.version)
	case c.Model != p.model.Name:
		return fmt.Errorf("a checkpoint of model %q; this is %q", c.Model, p.model.Name)
	case c.Seed != p.cfg.Seed:
		return fmt.Errorf("a checkpoint of a run with seed %d; this one has %d", c.Seed, p.cfg.Seed)
	case c.Optimizer != p.cfg.Optimizer.Kind:
		return fmt.Errorf("a checkpoint of optimizer %q; this is %q", c.Optimizer, p.cfg.Optimizer.Kind)
	case differ(c.conditions, p.conditions()) != "":
		return errors.New(differ(c.conditions, p.conditions()))
	case c.Chunks != f.chunks:
		return fmt.Errorf("a checkpoint of a run over %d intervals; this plan has %d, so sums would be taken in another order", c.Chunks, f.chunks)
	case c.Batch >= f.updates:
		return fmt.Errorf("a checkpoint after batch %d of an epoch of %d", c.Batch, f.updates)
	case c.Data != p.in.checksum(p.sampled.byTime()):
		return fmt.Errorf("a checkpoint of a run on other data (checksum %s; this is %s)", c.Data, p.in.checksum(p.sampled.byTime()))
	case c.Digest != p.Digest():
		return errors.New("the order of sums is another one than when the checkpoint was written: the model's options, the schedule or the compiler's passes differ")
	}
	return nil
}

func sameTensor(want, got safetensors.Tensor) error {
	switch {
	case got.Data == nil:
		return fmt.Errorf("tensor %q is missing", want.Name)
	case !slices.Equal(want.Shape, got.Shape):
		return fmt.Errorf("tensor %q has shape %v; the model has %v", want.Name, got.Shape, want.Shape)
	}
	return nil
}
