package saga

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sagann/backend"
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
	list = append(list, p.mode.facts().conditions...)
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
