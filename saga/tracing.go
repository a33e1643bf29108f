package saga

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/internal/traceout"
	"sagann/kernel"
)

// Overlap says how well the copies of traced epochs hid behind compute.
type Overlap = traceout.Overlap

// StartTrace keeps the times of all tasks of the last epochs training epochs from now
// on; 0 turns tracing off and forgets them. It costs 24 bytes a task and epoch.
func (p *Program) StartTrace(epochs int) error {
	if epochs < 0 {
		return fmt.Errorf("saga: trace of %d epochs", epochs)
	}
	if err := p.open(); err != nil {
		return err
	}
	p.train.run.Trace(epochs)
	return nil
}

// TraceOverlap sums up the traced epochs. Without any it is zero.
func (p *Program) TraceOverlap() Overlap {
	t, err := p.traced()
	if err != nil {
		return Overlap{}
	}
	return t.Overlap()
}

// WriteTrace writes the traced epochs into the folder dir, which is made when it is
// missing: trace.json in the Chrome trace event format, which Perfetto opens, and
// trace.pb.gz for go tool pprof. It is an error when no epoch was traced. A closed
// program has no trace.
func (p *Program) WriteTrace(dir string) error {
	t, err := p.traced()
	if err != nil {
		return err
	}
	if err := t.WriteDir(dir); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

func (p *Program) traced() (*traceout.Trace, error) {
	if p.train.run == nil || len(p.train.run.Traced()) == 0 {
		return nil, errors.New("saga: no epoch was traced; call StartTrace before Step")
	}
	pl, dev := p.train.plan, p.devices[0].Info()
	t := &traceout.Trace{Program: "saga " + p.model.Name, Time: time.Now()}
	for _, d := range p.devices {
		for q := range plan.Queues {
			t.Tracks = append(t.Tracks, traceout.Track{Device: d.Info().String(), Name: q.String()})
		}
	}
	t.Tasks = p.describeTasks()
	steps := p.train.run.Traced()
	for i, s := range steps {
		// Every step that ended without an error was an epoch.
		t.Steps = append(t.Steps, traceStep(fmt.Sprintf("epoch %d", p.epoch-len(steps)+1+i), s))
	}
	t.Meta = []traceout.Meta{
		{Key: "model", Value: p.model.Name}, {Key: "data", Value: p.data.Name},
		{Key: "vertices", Value: p.in.edges.V}, {Key: "edges", Value: p.in.edges.E()},
		{Key: "device", Value: dev.String()}, {Key: "device_name", Value: dev.Name},
		{Key: "chunks", Value: pl.Cells.P}, {Key: "chunk_rows", Value: pl.Cells.Width},
		{Key: "schedule", Value: pl.Schedule}, {Key: "slots", Value: pl.Slots},
		{Key: "budget_bytes", Value: pl.Budget}, {Key: "peak_device_bytes", Value: pl.Peak},
		{Key: "h2d_bytes_per_epoch", Value: pl.H2D}, {Key: "d2h_bytes_per_epoch", Value: pl.D2H},
		{Key: "h2d_bytes_once", Value: pl.Once}, {Key: "without", Value: cmp.Or(strings.Join(p.cfg.Without, ","), "nothing")},
		{Key: "overlap", Value: t.Overlap().String()},
	}
	return t, nil
}

func traceStep(name string, s exec.StepTrace) traceout.Step {
	out := traceout.Step{Name: name, Wall: s.Wall, Spans: make([]traceout.Span, len(s.Tasks))}
	for i, v := range s.Tasks {
		out.Spans[i] = traceout.Span(v)
	}
	return out
}

// describer puts the tasks of a plan into words.
type describer struct {
	spec    *plan.Spec
	plan    *plan.Plan
	kernels []*kernel.Program
	calls   map[int]*callText // by kernel: every call has one of its own
	sweeps  []string          // by phase
}

// callText is what the tasks of one call have in common.
type callText struct {
	stage  string
	layer  string
	lines  []string
	gather int64 // bytes of rows at the far end, an edge
}

func (p *Program) describeTasks() []traceout.Task {
	l, pl := p.train.low, p.train.plan
	d := &describer{spec: pl.Spec, plan: pl, kernels: l.Kernels, calls: map[int]*callText{}}
	s := newScopes(p)
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

// add describes the calls of st; it tells whether they compute gradients and others.
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

// stageOf names the stages of the paper that a call does.
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
		if k.Other >= 0 {
			t.Gathered = c.gather * d.plan.Cells.NNZ[k.Dir][int(k.Own)*d.plan.Cells.P+int(k.Other)]
		}
	case k.Kind == plan.Results:
		for _, id := range d.spec.Results {
			t.Bytes += d.spec.Globals[id].Bytes()
		}
	case t.Kind != traceout.Compute:
		t.Bytes, t.Cell = k.Bytes, int(k.Other)
		t.Phase, t.Sweep = int(k.Phase), d.sweeps[k.Phase]
		if k.Value < 0 {
			t.Name += " cell " + k.Dir.String()
		} else {
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

// kindOf is the kind of the tasks of a queue; queues and kinds have the same names.
func kindOf(q plan.Queue) traceout.Kind {
	for _, k := range []traceout.Kind{traceout.H2D, traceout.D2H, traceout.D2D} {
		if k.String() == q.String() {
			return k
		}
	}
	return traceout.Compute
}

// layerOf is the layer of a copy: that of the calls of its phase which need it.
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

// needs tells whether value id is value or is made from it on arrival.
func (d *describer) needs(id, value int) bool {
	c := d.spec.Values[id].Derive
	return id == value || c != nil && slices.ContainsFunc(c.Operands, func(o plan.Operand) bool {
		return vertex(o) && !o.Write && d.needs(o.ID, value)
	})
}

// scopes finds which parameter scope ("layer1") a call works for. The compiler mixes
// layers freely, so it is read off the flow of data.
type scopes struct {
	low    *dataflow.Lowered
	spec   *plan.Spec
	global map[int]string // scope of a parameter, of its gradient, and of what is made from it
	pos    map[int]string // where the parameter is declared
	grads  map[int]bool   // the Global is a gradient
	flow   *traceout.Flow
	made   map[int]string  // scope of the edge pass that a value comes from
	taken  map[string]bool // scopes that have an edge pass, forward or "grad "
}

// Nodes of the flow: vertex tensors, registers of kernels, and (2, id) Globals.
func valueNode(id int) traceout.Node        { return traceout.Node{0, id} }
func regNode(kernel, reg int) traceout.Node { return traceout.Node{1, kernel, reg} }

func newScopes(p *Program) *scopes {
	s := &scopes{low: p.train.low, spec: p.train.plan.Spec, global: map[int]string{}, pos: map[int]string{}, grads: map[int]bool{},
		flow: traceout.NewFlow(), made: map[int]string{}, taken: map[string]bool{}}
	for _, q := range p.params {
		scope := q.Name[:max(0, strings.LastIndexByte(q.Name, '.'))]
		for _, name := range []string{q.Name, "grad:" + q.Name} {
			if id, ok := s.low.Globals[name]; ok {
				s.global[id], s.pos[id], s.grads[id] = scope, q.pos, name != q.Name
			}
		}
	}
	for _, ph := range s.spec.Phases {
		for _, st := range ph.Steps {
			for n := range st.Calls {
				c := &st.Calls[n]
				s.addFlow(c)
				for _, o := range c.Operands {
					if st.Kind == plan.Globals && o.Write && s.global[o.ID] == "" {
						s.global[o.ID] = s.direct(c)
					}
				}
			}
		}
	}
	for i := range s.spec.Values {
		if c := s.spec.Values[i].Derive; c != nil {
			s.addFlow(c)
		}
	}
	// What was gathered once and for all had its edge pass then.
	for name, id := range s.low.Inputs {
		if _, once := p.in.extra[name]; once {
			s.taken[s.flow.Nearest([]traceout.Node{valueNode(id)}, true)] = true
		}
	}
	return s
}

// addFlow adds the registers of c. An instruction that uses a parameter, and a result
// that is a gradient, are labelled.
func (s *scopes) addFlow(c *plan.Call) {
	k := s.low.Kernels[c.Kernel]
	matrix := map[int]string{}
	for _, f := range k.Leaves {
		if f.From == kernel.Cell {
			continue
		}
		switch o := c.Operands[f.Operand]; {
		case vertex(o):
			s.flow.Edge(valueNode(o.ID), regNode(c.Kernel, f.Reg))
		case o.Kind == plan.GlobalRef:
			matrix[f.Reg] = s.global[o.ID]
		}
	}
	for _, in := range k.Instrs {
		for _, r := range in.In {
			s.flow.Edge(regNode(c.Kernel, r), regNode(c.Kernel, in.Dst))
			s.flow.Label(regNode(c.Kernel, in.Dst), matrix[r])
		}
	}
	for _, out := range k.Outs {
		switch o := c.Operands[out.Operand]; {
		case vertex(o):
			s.flow.Edge(regNode(c.Kernel, out.Reg), valueNode(o.ID))
		case o.Kind == plan.GlobalRef:
			to := traceout.Node{2, o.ID}
			s.flow.Edge(regNode(c.Kernel, out.Reg), to)
			if out.Acc == kernel.SumTN {
				s.flow.Edge(regNode(c.Kernel, out.Reg2), to)
			}
			s.flow.Label(to, s.global[o.ID])
		}
	}
}

func vertex(o plan.Operand) bool { return o.Kind == plan.OwnValue || o.Kind == plan.OtherValue }

// direct is the scope of the Globals that c touches.
func (s *scopes) direct(c *plan.Call) string {
	var w []string
	for _, o := range c.Operands {
		if o.Kind == plan.GlobalRef {
			w = append(w, s.global[o.ID])
		}
	}
	return traceout.JoinSet(w)
}

// layers are the scopes of the calls of st; steps must come in the order of the plan.
// A call works for the parameters that it uses. Without any it goes with the rest of
// its step: with the edge pass that its operands come from, with the parameters that
// those met last, or, when that layer has its edge pass in this direction already or
// there is none, with the parameters that its results meet next.
func (s *scopes) layers(st *plan.Step) []string {
	out := make([]string, len(st.Calls))
	var reads, grads, writes []traceout.Node
	inherited, forward, backward := "", false, false
	for n := range st.Calls {
		out[n] = s.direct(&st.Calls[n])
		_, plain, grad := s.lines(&st.Calls[n])
		forward, backward = forward || plain, backward || grad
		for _, o := range st.Calls[n].Operands {
			switch {
			case !vertex(o):
			case o.Write:
				writes = append(writes, valueNode(o.ID))
			case isGrad(s.spec.Values[o.ID].Pos):
				grads = append(grads, valueNode(o.ID))
			default:
				reads = append(reads, valueNode(o.ID))
			}
			if vertex(o) && !o.Write && inherited == "" {
				inherited = s.made[o.ID]
			}
		}
	}
	direction := ""
	if backward && !forward {
		direction = "grad "
	}
	all := traceout.JoinSet(out)
	if all == "" && st.Kind == plan.Stream {
		all = inherited
	}
	if all == "" {
		if all = s.flow.Nearest(grads, false); all == "" {
			all = s.flow.Nearest(reads, false)
		}
		if next := s.flow.Nearest(writes, true); next != "" && (all == "" || st.Kind == plan.Stream && s.taken[direction+all]) {
			all = next
		}
	}
	if st.Kind == plan.Stream {
		s.taken[direction+all] = true
		for _, w := range writes {
			s.made[w[1]] = all
		}
	}
	for n := range out {
		if out[n] == "" {
			out[n] = all
		}
	}
	return out
}

const gradOf = "grad of "

func isGrad(pos string) bool { return strings.HasPrefix(pos, gradOf) }

// lines are the user's lines behind c, those of what it computes before those of the
// parameters it uses; plain and grad tell whether it is known to compute something
// that is no gradient, and one that is.
func (s *scopes) lines(c *plan.Call) (lines []string, plain, grad bool) {
	add := func(pos string) {
		if pos = strings.TrimPrefix(pos, gradOf); pos != "" && pos != "?" && !slices.Contains(lines, pos) {
			lines = append(lines, pos)
		}
	}
	result := func(pos string) {
		plain, grad = plain || !isGrad(pos), grad || isGrad(pos)
		add(pos)
	}
	for _, r := range s.low.Regions {
		if r.Kernel != c.Kernel {
			continue
		}
		for _, n := range r.Body {
			add(n.Pos())
		}
		for _, n := range r.Gathers {
			result(n.Pos())
		}
	}
	region := grad || plain
	for _, o := range c.Operands {
		switch {
		case vertex(o) && o.Write && !region:
			result(s.spec.Values[o.ID].Pos)
		case o.Kind == plan.GlobalRef && o.Write && s.grads[o.ID]:
			grad = true
		}
	}
	for _, o := range c.Operands {
		if o.Kind == plan.GlobalRef {
			add(s.pos[o.ID])
		}
	}
	return lines, plain, grad
}
