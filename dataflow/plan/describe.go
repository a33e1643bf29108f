package plan

import "fmt"

// Describe names task i of the global order, for errors and traces.
func (p *Plan) Describe(i int) string {
	return fmt.Sprintf("task %d (%s)", i, p.DescribeTask(&p.Tasks[i]))
}

// DescribeTask says what t does, to which chunk.
func (p *Plan) DescribeTask(t *Task) string {
	switch t.Kind {
	case Take:
		return fmt.Sprintf("take rows of %s chunk %d", p.Spec.Values[t.Value].Name, t.Own)
	case Load, Save:
		switch {
		case t.Value < 0 && t.Own < 0:
			return fmt.Sprintf("load the batch's vertices, chunk %d", p.Places.Sets.Deepest())
		case t.Value < 0:
			return fmt.Sprintf("load cell %s (%d,%d)", t.Dir, t.Own, t.Other)
		}
		if t.Is.Gather {
			return fmt.Sprintf("load %d rows of %s chunk %d for cell %s (%d,%d)", t.Rows, p.Spec.Values[t.Value].Name, t.Own, t.Dir, t.Other, t.Own)
		}
		return fmt.Sprintf("%s %s chunk %d", t.Kind, p.Spec.Values[t.Value].Name, t.Own)
	case Send, Receive:
		return p.Activity(t)
	case Copy:
		if t.Value < 0 {
			return fmt.Sprintf("copy a sum from device %d to %d", t.From, t.Device)
		}
		if t.From == t.Device {
			return fmt.Sprintf("move %s chunk %d", p.Spec.Values[t.Value].Name, t.Own)
		}
		return fmt.Sprintf("copy %s chunk %d from device %d to %d", p.Spec.Values[t.Value].Name, t.Own, t.From, t.Device)
	case Run:
		label := fmt.Sprintf("kernel %d", t.Kernel)
		if ph := &p.Spec.Phases[t.Phase]; t.Step >= 0 && int(t.Step) < len(ph.Steps) {
			label = ph.Steps[t.Step].Label
		}
		switch {
		case t.Other >= 0:
			return fmt.Sprintf("%s cell (%d,%d)", label, t.Own, t.Other)
		case t.Own >= 0:
			return fmt.Sprintf("%s chunk %d", label, t.Own)
		}
		return label
	}
	return t.Kind.String()
}

// Activity says what t does but not to which chunk, so that tasks which differ only in their
// chunks have the same text. The text of a Send or Receive names the chunk.
func (p *Plan) Activity(t *Task) string {
	switch t.Kind {
	case Load, Save:
		if t.Value < 0 {
			return fmt.Sprintf("load cell %s", t.Dir)
		}
		return fmt.Sprintf("%s %s", t.Kind, p.Spec.Values[t.Value].Name)
	case Send, Receive:
		what, to := "a sum", "from"
		if t.Value >= 0 {
			what = fmt.Sprintf("%s chunk %d", p.Spec.Values[t.Value].Name, t.Own)
		}
		if t.Kind == Send {
			to = "to"
		}
		return fmt.Sprintf("%s %s %s device %d", t.Kind, what, to, t.From)
	case Copy:
		if t.Value < 0 {
			return fmt.Sprintf("copy a sum from device %d", t.From)
		}
		if t.From == t.Device {
			return "move " + p.Spec.Values[t.Value].Name
		}
		return fmt.Sprintf("copy %s from device %d", p.Spec.Values[t.Value].Name, t.From)
	case Run:
		if ph := &p.Spec.Phases[t.Phase]; t.Step >= 0 && int(t.Step) < len(ph.Steps) {
			return fmt.Sprintf("%s, kernel %d", ph.Steps[t.Step].Label, t.Kernel)
		}
		return fmt.Sprintf("kernel %d", t.Kernel)
	}
	return t.Kind.String()
}
