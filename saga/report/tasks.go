package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/internal/traceout"
	"sagann/kernel"
)

// Traced is what was measured of the last steps.
type Traced struct {
	Devices []device.Info
	Steps   []exec.StepTrace
	Unit    string   // what a step is: "epoch", or "batch" of sampled training
	Last    int      // the number of the last step, from 1
	Without []string // passes that were left out
}

// Trace combines what was measured with what the plan says of its tasks.
func (r *Run) Trace(m Traced) *traceout.Trace {
	pl, dev := r.Plan, m.Devices[0]
	t := &traceout.Trace{Program: "saga " + r.Model, Time: time.Now()}
	for _, d := range m.Devices {
		for q := range plan.Queues {
			t.Tracks = append(t.Tracks, traceout.Track{Device: d.String(), Name: q.String()})
		}
	}
	t.Tasks = r.Tasks()
	for i, s := range m.Steps {
		// Only steps that ended without an error are traced, so their numbers are consecutive.
		t.Steps = append(t.Steps, traceStep(fmt.Sprintf("%s %d", m.Unit, m.Last-len(m.Steps)+1+i), s))
	}
	t.Meta = []traceout.Meta{
		{Key: "model", Value: r.Model}, {Key: "data", Value: r.Data},
		{Key: "vertices", Value: r.Edges.V}, {Key: "edges", Value: r.Edges.E()},
		{Key: "device", Value: dev.String()}, {Key: "device_name", Value: dev.Name},
		{Key: "chunks", Value: pl.Cells.P}, {Key: "chunk_rows", Value: pl.Cells.Width},
		{Key: "schedule", Value: pl.Schedule}, {Key: "slots", Value: pl.Slots},
		{Key: "budget_bytes", Value: pl.Budget}, {Key: "peak_device_bytes", Value: pl.Peak},
		{Key: "h2d_bytes_per_" + m.Unit, Value: pl.H2D}, {Key: "d2h_bytes_per_" + m.Unit, Value: pl.D2H},
		{Key: "h2d_bytes_once", Value: pl.Once}, {Key: "without", Value: cmp.Or(strings.Join(m.Without, ","), "nothing")},
		{Key: "overlap", Value: t.Overlap().String()},
	}
	return t
}

func traceStep(name string, s exec.StepTrace) traceout.Step {
	out := traceout.Step{Name: name, Wall: s.Wall, Spans: make([]traceout.Span, len(s.Tasks))}
	for i, v := range s.Tasks {
		out.Spans[i] = traceout.Span(v)
	}
	return out
}

// describer describes the tasks of a plan.
type describer struct {
	spec    *plan.Spec
	plan    *plan.Plan
	kernels []*kernel.Program
	calls   map[int]*callText // by kernel: each call has a kernel of its own
	sweeps  []string          // by phase: what it is for
}

// callText is what the tasks of one call have in common.
type callText struct {
	stage  string
	layer  string
	lines  []string // of the user
	gather int64    // bytes of rows at the far end, per edge
}

// Tasks describes every task of the plan, in its order.
func (r *Run) Tasks() []traceout.Task {
	l, pl := r.Low, r.Plan
	d := &describer{spec: pl.Spec, plan: pl, kernels: l.Kernels, calls: map[int]*callText{}}
	s := newScopes(r)
	for i := range d.spec.Phases {
		forward, backward := false, false
		for j := range d.spec.Phases[i].Steps {
			st := &d.spec.Phases[i].Steps[j]
			plain, grad := d.add(s, st, func(k *kernel.Program) string { return stageOf(st, k) })
			forward, backward = forward || plain, backward || grad
		}
		sweep := "forward"
		if backward {
			sweep = "backward"
			if forward {
				sweep = "forward and backward"
			}
		}
		d.sweeps = append(d.sweeps, sweep)
	}
	for i := range d.spec.Values {
		if c := d.spec.Values[i].Derive; c != nil {
			d.add(s, &plan.Step{Kind: plan.Rows, Calls: []plan.Call{*c}}, func(*kernel.Program) string { return "Recompute" })
		}
	}
	out := make([]traceout.Task, len(pl.Tasks))
	for i := range pl.Tasks {
		out[i] = d.task(&pl.Tasks[i])
	}
	return out
}

// add describes the calls of st. plain tells whether one computes something that is no gradient, grad
// whether one computes a gradient.
func (d *describer) add(s *scopes, st *plan.Step, stage func(*kernel.Program) string) (plain, grad bool) {
	layers := s.layers(st)
	for n := range st.Calls {
		c := &st.Calls[n]
		lines, p, g := s.lines(c)
		plain, grad = plain || p, grad || g
		d.calls[c.Kernel] = &callText{stage: stage(d.kernels[c.Kernel]), layer: layers[n], lines: lines, gather: c.Cost.GatherBytes}
	}
	return plain, grad
}

// stageOf names the stage of the paper that kernel k of step st belongs to.
func stageOf(st *plan.Step, k *kernel.Program) string {
	switch st.Kind {
	case plan.Globals:
		return "Globals"
	case plan.Rows:
		return "ApplyVertex"
	}
	gathers := false
	for _, o := range k.Outs {
		gathers = gathers || o.Acc != kernel.Store
	}
	switch {
	case !gathers:
		return "ApplyEdge"
	case len(k.Instrs) == 0 && len(st.Calls) > 1:
		return "Gather"
	}
	return "SAG" // Scatter, ApplyEdge and Gather in one
}

func (d *describer) task(k *plan.Task) traceout.Task {
	t := traceout.Task{Name: k.Kind.String(), Track: int(k.Device)*int(plan.Queues) + int(k.Queue), Kind: kindOf(k.Queue), Phase: -1, Step: -1,
		Chunk: int(k.Own), Cell: -1, After: d.plan.Deps[k.Deps[0]:k.Deps[1]]}
	if t.Kind != traceout.Compute {
		t.Stage = strings.ToUpper(k.Queue.String())
	}
	switch {
	case k.Kind == plan.Run:
		c := d.calls[int(k.Kernel)]
		t.Name, t.Stage, t.Layer, t.Lines = d.kernels[k.Kernel].Name, c.stage, c.layer, c.lines
		t.Phase, t.Sweep, t.Step, t.Cell = int(k.Phase), d.sweeps[k.Phase], int(k.Step), int(k.Other)
		if k.Other >= 0 && d.plan.Places.Sets == nil { // how many edges a block has depends on the batch
			t.Gathered = c.gather * d.plan.Cells.NNZ[k.Dir][int(k.Own)*d.plan.Cells.P+int(k.Other)]
		}
	case k.Kind == plan.Results:
		for _, id := range d.spec.Results {
			t.Bytes += d.spec.Globals[id].Bytes()
		}
	case t.Kind != traceout.Compute:
		t.Bytes, t.Cell = k.Bytes, int(k.Other)
		t.Phase, t.Sweep = int(k.Phase), d.sweeps[k.Phase]
		switch {
		case k.Value < 0 && k.Own < 0:
			t.Name += " vertices"
		case k.Value < 0:
			t.Name += " cell " + k.Dir.String()
		default:
			v := &d.spec.Values[k.Value]
			t.Name += " " + v.Name
			if v.Kind != plan.Input {
				t.Lines = []string{strings.TrimPrefix(v.Pos, gradOf)}
			}
		}
		t.Layer = d.layerOf(k)
	default:
		t.Stage = strings.ToUpper(t.Name[:1]) + t.Name[1:]
	}
	return t
}

// kindOf is the kind of a queue's tasks: the one with the queue's name.
func kindOf(q plan.Queue) traceout.Kind {
	for _, k := range []traceout.Kind{traceout.H2D, traceout.D2H, traceout.D2D} {
		if k.String() == q.String() {
			return k
		}
	}
	return traceout.Compute
}

// layerOf is the layer of copy k: that of the calls in its phase that use what it copies.
func (d *describer) layerOf(k *plan.Task) string {
	var all []string
	for i := range d.spec.Phases[k.Phase].Steps {
		st := &d.spec.Phases[k.Phase].Steps[i]
		for n := range st.Calls {
			c := &st.Calls[n]
			uses := k.Value < 0 && st.Kind == plan.Stream && st.Dir == k.Dir
			for _, o := range c.Operands {
				uses = uses || k.Value >= 0 && vertex(o) && (o.Write || k.Kind != plan.Save) && d.needs(o.ID, int(k.Value))
			}
			if uses {
				all = append(all, d.calls[c.Kernel].layer)
			}
		}
	}
	return traceout.JoinSet(all)
}

// needs tells whether value id is value, or is derived from it on arrival.
func (d *describer) needs(id, value int) bool {
	c := d.spec.Values[id].Derive
	return id == value || c != nil && slices.ContainsFunc(c.Operands, func(o plan.Operand) bool {
		return vertex(o) && !o.Write && d.needs(o.ID, value)
	})
}
