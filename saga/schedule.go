package saga

import (
	"fmt"
	"math"
	"strconv"
)

// Schedule says how the learning rate changes, beginning with Optimizer.LR. The rate depends on the number
// of completed epochs and, for ScheduleReduce, on validation losses; checkpoints keep what it needs of them.
type Schedule struct {
	Kind ScheduleKind // default: multiply by Optimizer.Gamma every DecayEvery epochs
	// WarmUp is the number of epochs in which the rate first rises in equal steps from LR/WarmUp to
	// LR. The schedule begins after them.
	WarmUp int
	// Epochs is the epoch at which ScheduleCosine ends, counted with WarmUp. Default: Config.Epochs.
	Epochs int
	// Least is the rate with which ScheduleCosine ends, and the lowest of ScheduleReduce.
	Least float32
	// ScheduleReduce multiplies the rate by Factor if for more than Patience evaluations the
	// validation loss was not 0.01 % lower than the best. 0 stands for the defaults, 0.1 and 10; None
	// stands for 0: the rate falls to Least, or after every such evaluation.
	Factor   float32
	Patience int
}

// None stands for 0 in fields where 0 is the default: Schedule.Factor, Schedule.Patience, layers.Options.Alpha.
const None = -1

// ScheduleKind names a schedule.
type ScheduleKind string

// The schedules.
const (
	// ScheduleCosine is half a cosine from LR to Least (Loshchilov and Hutter, 2017).
	ScheduleCosine ScheduleKind = "cosine"
	// ScheduleReduce lowers the rate when the validation loss is on a plateau. Only Train evaluates
	// for it; Step alone keeps the rate.
	ScheduleReduce ScheduleKind = "plateau"
)

// betterBy is the relative improvement over the best validation loss that counts, as in
// torch.optim.lr_scheduler.ReduceLROnPlateau.
const betterBy = 1e-4

func (s *Schedule) defaults(epochs int) {
	if s.Kind == ScheduleCosine && s.Epochs == 0 {
		s.Epochs = epochs
	}
	if s.Kind == ScheduleReduce && s.Factor == 0 {
		s.Factor = 0.1
	}
	if s.Kind == ScheduleReduce && s.Patience == 0 {
		s.Patience = 10
	}
}

func (s *Schedule) validate(o *Optimizer) error {
	switch {
	case s.Kind != "" && s.Kind != ScheduleCosine && s.Kind != ScheduleReduce:
		return fmt.Errorf("unknown learning-rate schedule %q; there are %s, %s", s.Kind, ScheduleCosine, ScheduleReduce)
	case s.Kind != "" && o.Gamma > 0 && o.Gamma != 1 && o.DecayEvery > 0:
		return fmt.Errorf("the learning rate follows the schedule %s or is multiplied every %d epochs, not both", s.Kind, o.DecayEvery)
	case s.WarmUp < 0 || s.Epochs < 0 || s.Patience < None:
		return fmt.Errorf("learning-rate schedule: %d epochs of warm-up, %d epochs, patience %d: none may be negative", s.WarmUp, s.Epochs, s.Patience)
	case !(s.Least >= 0) || math.IsInf(float64(s.Least), 0):
		return fmt.Errorf("learning-rate schedule: the lowest rate is %v; it must be finite and not negative", s.Least)
	case s.Kind != "" && o.LR > 0 && s.Least > o.LR:
		return fmt.Errorf("learning-rate schedule: the lowest rate %v is above the learning rate %v", s.Least, o.LR)
	case !(s.Factor >= 0 && s.Factor < 1 || s.Factor == None):
		return fmt.Errorf("learning-rate schedule: the factor is %v; it must be from 0 to below 1", s.Factor)
	case s.Kind == ScheduleCosine && s.Epochs > 0 && s.WarmUp >= s.Epochs:
		return fmt.Errorf("learning-rate schedule: %d epochs of warm-up leave nothing of %d epochs", s.WarmUp, s.Epochs)
	}
	return nil
}

// plateau is the state of ScheduleReduce. Checkpoints keep it.
type plateau struct {
	Seen  bool    // there was an evaluation
	Best  float64 // lowest validation loss
	Stale int     // evaluations since
	Cuts  int     // how often the rate was lowered
}

// see updates the state with the validation loss of an evaluation.
func (p *plateau) see(s *Schedule, loss float64) {
	if !p.Seen || loss < p.Best*(1-betterBy) {
		p.Seen, p.Best, p.Stale = true, loss, 0
		return
	}
	if p.Stale++; p.Stale > max(0, s.Patience) {
		p.Cuts, p.Stale = p.Cuts+1, 0
	}
}

// rate is the learning rate of an epoch, from 0, after so many cuts of ScheduleReduce.
func (o *Optimizer) rate(epoch, cuts int) float32 {
	s := &o.Schedule
	if epoch < s.WarmUp {
		return float32(float64(o.LR) * float64(epoch+1) / float64(s.WarmUp))
	}
	epoch -= s.WarmUp
	lr, least := float64(o.LR), float64(s.Least)
	switch {
	case s.Kind == ScheduleCosine:
		part := min(1, float64(epoch)/float64(max(1, s.Epochs-s.WarmUp)))
		return float32(least + (lr-least)*(1+math.Cos(math.Pi*part))/2)
	case s.Kind == ScheduleReduce:
		return float32(max(least, lr*math.Pow(float64(max(0, s.Factor)), float64(cuts))))
	case o.Gamma > 0 && o.DecayEvery > 0:
		return o.LR * float32(math.Pow(float64(o.Gamma), float64(epoch/o.DecayEvery)))
	}
	return o.LR
}

// facts describe the schedule for the digest; none if there is no schedule.
func (s *Schedule) facts() (list []string) {
	if s.WarmUp > 0 {
		list = append(list, fmt.Sprintf("warm-up of %d epochs", s.WarmUp))
	}
	switch s.Kind {
	case ScheduleCosine:
		list = append(list, fmt.Sprintf("cosine to %s in %d epochs", digits(s.Least), s.Epochs))
	case ScheduleReduce:
		list = append(list, fmt.Sprintf("plateau times %s after %d evaluations, at least %s", digits(max(0, s.Factor)), max(0, s.Patience), digits(s.Least)))
	}
	return list
}

// rate is the learning rate of the next step.
func (p *Program) rate() float32 { return p.cfg.Optimizer.rate(p.epoch, p.plateau.Cuts) }

// LearningRate is the learning rate of the next Step.
func (p *Program) LearningRate() float32 { return p.rate() }

// digits is the shortest decimal that parses to x.
func digits(x float32) string { return strconv.FormatFloat(float64(x), 'g', -1, 32) }
