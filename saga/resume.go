package saga

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sagann/backend"
	"sagann/internal/safetensors"
	"sagann/saga/batches"
)

// condition is a setting that must be the same for training to go on bit for bit.
type condition struct{ Name, Value string }

// conditions lists the settings that later steps depend on and that Checkpoint has no fields for:
// the optimiser's numbers that its kind uses, the kind of device, early stopping, sampler, schedule
// and weights of the loss. The digest covers the model and the order of sums.
func (p *Program) conditions() []condition {
	o := &p.cfg.Optimizer
	var list []condition
	text := func(name, value string) { list = append(list, condition{name, value}) }
	number := func(name string, x float32) { text(name, strconv.FormatFloat(float64(x), 'g', -1, 32)) }
	number("learning rate", o.LR)
	if o.Kind == "sgd" {
		number("momentum", o.Momentum)
	} else {
		number("beta1", o.Beta1)
		number("beta2", o.Beta2)
		number("eps", o.Eps)
	}
	number("weight decay", o.WeightDecay)
	switch {
	case o.WeightDecay == 0:
		text("weight decay of", "no layer")
	case o.DecayAll:
		text("weight decay of", "every layer")
	default:
		text("weight decay of", "the first layer")
	}
	number("gradient norm", o.ClipNorm)
	factor, every := o.Gamma, o.DecayEvery
	if factor == 0 || every <= 0 {
		factor, every = 1, 0
	}
	number("learning-rate factor", factor)
	text("epochs between learning rates", strconv.Itoa(every))
	kind := backend.Of(p.cfg.Device)
	text("device kind", kind.Name)
	if kind.GPU() {
		text("TF32", strconv.FormatBool(p.cfg.TF32))
	}
	patience := "none"
	if p.cfg.Patience > 0 {
		patience = fmt.Sprintf("%d evaluations, one every %d epochs", p.cfg.Patience, max(1, p.cfg.EvalEvery))
	}
	text("patience", patience)
	if p.sampled != nil {
		text("sampler", p.sampled.Sampling.String())
	}
	if facts := o.Schedule.facts(); facts != nil {
		every := ""
		if o.Schedule.Kind == ScheduleReduce {
			every = fmt.Sprintf(", one every %d epochs", max(1, p.cfg.EvalEvery))
		}
		text("schedule", strings.Join(facts, ", ")+every)
	}
	for _, w := range []struct {
		name string
		list []float32
	}{{"class weights", p.model.Loss.ClassWeights}, {"positive weights", p.model.Loss.PosWeights}} {
		if w.list != nil {
			text(w.name, fmt.Sprint(w.list))
		}
	}
	return list
}

// differ names every condition in which two runs differ, with both values; "": none.
func differ(old, now []condition) string {
	var was, is []string
	value := func(list []condition, name string) string {
		if i := slices.IndexFunc(list, func(c condition) bool { return c.Name == name }); i >= 0 {
			return list[i].Value
		}
		return "not set"
	}
	all := slices.Clone(now)
	for _, c := range old {
		if !slices.ContainsFunc(now, func(o condition) bool { return o.Name == c.Name }) {
			all = append(all, c)
		}
	}
	for _, c := range all {
		if a, b := value(old, c.Name), value(now, c.Name); a != b {
			was, is = append(was, c.Name+" "+a), append(is, c.Name+" "+b)
		}
	}
	if was == nil {
		return ""
	}
	return fmt.Sprintf("a checkpoint of a run with %s; this one has %s", strings.Join(was, ", "), strings.Join(is, ", "))
}

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
	if x := p.sampled; x != nil {
		p.session.rewind()
		x.run.Place, x.run.loss, x.run.count = batches.Place{Epoch: c.Epoch, Batch: c.Batch}, c.batchLoss, c.Epoch*x.draws.Updates()+c.Batch
	}
	return k.best, nil
}

// fits says why training cannot go on from c bit for bit.
func (p *Program) fits(c *Checkpoint) error {
	if err := sameArithmetic(c.Digest); err != nil {
		return err
	}
	n := p.sumChunks()
	switch {
	case c.version != checkpointVersion:
		return fmt.Errorf("a checkpoint of version %s, and training goes on from version %s only; saga.Predict, Embed and Evaluate read both", c.version, checkpointVersion)
	case c.Model != p.model.Name:
		return fmt.Errorf("a checkpoint of model %q; this is %q", c.Model, p.model.Name)
	case c.Seed != p.cfg.Seed:
		return fmt.Errorf("a checkpoint of a run with seed %d; this one has %d", c.Seed, p.cfg.Seed)
	case c.Optimizer != p.cfg.Optimizer.Kind:
		return fmt.Errorf("a checkpoint of optimizer %q; this is %q", c.Optimizer, p.cfg.Optimizer.Kind)
	case differ(c.conditions, p.conditions()) != "":
		return errors.New(differ(c.conditions, p.conditions()))
	case c.Chunks != n:
		return fmt.Errorf("a checkpoint of a run over %d intervals; this plan has %d, so sums would be taken in another order", c.Chunks, n)
	case p.sampled != nil && c.Batch >= p.sampled.draws.Updates():
		return fmt.Errorf("a checkpoint after batch %d of an epoch of %d", c.Batch, p.sampled.draws.Updates())
	case c.Data != p.in.checksum():
		return fmt.Errorf("a checkpoint of a run on other data (checksum %s; this is %s)", c.Data, p.in.checksum())
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
