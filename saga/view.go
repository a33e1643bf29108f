package saga

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/saga/report"
)

// TrainPlan is the plan of a training epoch, in sampled training of a batch. Do not change it.
func (p *Program) TrainPlan() *plan.Plan { return p.train.plan }

// Saved is the save policy of the training plan: "some", "all" or "none". More values may be stored
// than it says: see Stored.
func (p *Program) Saved() string { return cmp.Or(p.chosen.Save, saveSome) }

// Groups is how many intervals a device visits at the same time, by phase of the training
// plan and last in evaluation; nil: always one.
func (p *Program) Groups() []int {
	g := p.train.plan.Groups
	if slices.Max(append(g, 1)) == 1 {
		return nil
	}
	return g
}

// Tiles is how many rows each kernel of training works on at a time; nil: not on a GPU.
func (p *Program) Tiles() []int {
	var tiles []int
	for _, k := range p.train.low.Kernels {
		if k.Tile > 0 {
			tiles = append(tiles, k.Tile)
		}
	}
	return tiles
}

// Simulated is the timeline of a training epoch on Config.Machine or, without one, of the same
// plan on machine m. It is nil if m has too few devices or is nil, and for sampled training.
func (p *Program) Simulated(m *sim.Machine) *sim.Timeline {
	if p.train.plan.Places.Sets != nil || p.chosen.predicted != nil || m == nil || p.train.plan.Devices > len(m.Devices) {
		return p.chosen.predicted
	}
	return sim.Simulate(p.train.plan, m)
}

// Dump writes the training program as it is after a pass: one node per line, with operands, shape
// and the user's line. The error is that of w; an unknown pass is an error that lists the passes in
// the order in which they run.
func (p *Program) Dump(w io.Writer, pass string) error {
	if steps := dataflow.Steps(); !slices.Contains(steps, pass) {
		return fmt.Errorf("no pass %q; there are %s", pass, strings.Join(steps, ", "))
	}
	prog, err := p.traceTrain()
	if err != nil {
		return err
	}
	o := p.options(max(1, p.chosen.Slices, p.cfg.Outcome.Slices))
	o.Dump = pass
	var failed error
	o.Print = func(text string) { _, failed = io.WriteString(w, text) }
	dataflow.Optimize(prog, o)
	return failed
}

// WriteHTML writes an HTML page that loads no other files: the plan's summary, a map of device
// memory by phase and, unless t is nil, the queues of timeline t.
func (p *Program) WriteHTML(w io.Writer, t *sim.Timeline) error { return p.report().WriteHTML(w, t) }

// Explain writes what a training epoch will do: Overview, tables of device and host memory, and what
// the compiler did with the user's lines.
func (p *Program) Explain(w io.Writer) error { return p.report().Explain(w) }

// Overview writes the first lines of Explain: graph, grid, schedule, memory, bytes copied and, with
// Config.Machine, the predicted time and the load of every link.
func (p *Program) Overview(w io.Writer) error { return p.report().Overview(w) }

// report collects what reports need of p.
func (p *Program) report() *report.Run {
	r := &report.Run{Model: p.model.Name, Low: p.train.low, Plan: p.train.plan, Extra: map[string]bool{}, Predicted: p.chosen.predicted,
		Save: p.chosen.Save, Stored: p.chosen.Stored(), Slices: p.Slices(), Packed: p.chosen.Packed, Wide: p.chosen.Wide, Storage: p.cfg.Storage,
		Host: p.host.plan, Scratch: p.cfg.Scratch, Peak: p.PlannedPeak()}
	r.Sampled = p.mode.figures()
	for _, q := range p.params {
		r.Params = append(r.Params, report.Param{Name: q.Name, Pos: q.pos})
	}
	if s := p.shape; s != nil {
		r.Graph = fmt.Sprintf("statistics only: %d vertices, %d edges, %d features, %d classes, skew %g assumed", s.Vertices, s.Edges, s.Features, s.Classes, s.Skew)
		return r
	}
	r.Data, r.Edges, r.Order = p.data.Name, p.in.Edges, p.grids.order
	loops := ""
	if p.model.SelfLoops && p.in.EdgeCount() > p.data.Edges.E() {
		loops = " with self loops"
	}
	r.Graph = fmt.Sprintf("%s: %d vertices, %d edges%s, %d features, %d classes", p.data.Name, p.in.Edges.V, p.in.EdgeCount(), loops, p.dims.features, p.dims.classes)
	if k := p.in.kinds; k != nil {
		r.Graph = k.text(p.data.Name, p.dims.classes)
	}
	for _, name := range p.in.allKept() {
		r.Extra[name] = true
	}
	return r
}

// TensorBytes is how many bytes of device memory the intermediate tensors of a training step need:
// its peak minus what stays resident (graph, features, labels) and the parameters.
func (p *Program) TensorBytes() int64 {
	pl := p.train.plan
	n := pl.Peak - pl.Constant()
	for _, g := range pl.Spec.Globals {
		if g.Kind == plan.Param {
			n -= g.Bytes()
		}
	}
	return max(0, n)
}

// Moves is how many bytes a training epoch copies from host to devices, and back.
func (p *Program) Moves() (h2d, d2h int64) { return p.train.plan.H2D, p.train.plan.D2H }

// Moved counts the bytes that training steps have copied since the program was opened.
func (p *Program) Moved() exec.Stats {
	if p.session == nil {
		return exec.Stats{}
	}
	return p.session.train.Stats()
}

// Chunks is P, the number of intervals of the training plan.
func (p *Program) Chunks() int { return p.train.plan.Cells.P }

// Slices is how many slices of columns gathers are split into; 1: none are split.
func (p *Program) Slices() int {
	if p.train != nil && !slices.ContainsFunc(p.train.low.Notes, func(n dataflow.Note) bool { return n.Pass == "slice" }) {
		return 1
	}
	return max(1, p.chosen.Slices)
}

// Packed tells whether cells hold far ends of edges packed.
func (p *Program) Packed() bool { return p.chosen.Packed }

// Outcome is what was chosen in addition to number of chunks, schedule and save policy. With it and
// these three in Config, a run can go on bit for bit in any budget.
func (p *Program) Outcome() Outcome {
	o := Outcome{Store: p.chosen.Stored(), Once: p.Once(), Groups: p.Groups(), Tiles: p.Tiles(), Slices: p.Slices(), Packing: PackingOff, Wide: p.chosen.Wide, Inside: p.chosen.Inside}
	if p.chosen.Packed {
		o.Packing = PackingOn
	}
	if o.Groups == nil {
		o.Groups = []int{1}
	}
	return o
}

// Stored lists the values that are stored although the save policy computes them again; see
// Outcome.Store.
func (p *Program) Stored() []string { return p.chosen.Stored() }

// Once is the number of intervals over which each program of invariants was run; 0: its values had
// been computed already.
func (p *Program) Once() []int { return slices.Clone(p.chosen.once) }

// Summary says how a program will run.
type Summary struct {
	Vertices, Edges int    // with the self loops that the model adds
	Chunks          int    // number of intervals P
	Schedule        string // "sag", "stage" or "dest-order"
	Devices         int    // number of devices
	Budget          int64  // bytes of memory that each device may use; without a bound Peak plus Aside
	Peak            int64  // bytes that the plans of training and evaluation need on each device
	H2D, D2H, D2D   int64  // bytes that a training step copies, over all devices
	Once            int64  // bytes that are loaded once, before the first step
	Host, Disk      int64  // bytes of host memory in addition to the data, and of files in its place
	Aside           int64  // bytes of each device that context, kernels and drawing take in addition to Peak
	Free            int64  // bytes that were free on the GPUs if that is the Budget; 0: it is not
	Card            int64  // bytes that the smallest GPU has; 0: not known, or no GPU
}

// Summary returns the numbers of the plan.
func (p *Program) Summary() Summary {
	t := p.train.plan
	v, e := p.Totals()
	s := Summary{Vertices: v, Edges: int(e), Chunks: t.Cells.P, Schedule: t.Schedule, Budget: p.chosen.memory.bound,
		Peak: p.PlannedPeak(), H2D: t.H2D, D2H: t.D2H, D2D: t.D2D, Devices: t.Devices, Once: t.Once,
		Aside: p.chosen.memory.context + p.chosen.memory.scratch + p.sampled.drawing()}
	if p.on.mem() > 0 { // the bound is what is left of it
		s.Budget += p.chosen.memory.context
	}
	if p.host.plan != nil {
		s.Host, s.Disk = p.host.plan.Memory, p.host.plan.Disk
	}
	if s.Budget == 0 {
		s.Budget = s.Peak + s.Aside
	}
	s.Free, s.Card = p.on.cards.free, p.on.cards.whole
	return s
}

// Predicted is the simulated timeline of a training epoch on Config.Machine; nil without a machine.
func (p *Program) Predicted() *sim.Timeline { return p.chosen.predicted }

// Totals are the numbers of vertices and of edges that the program was planned for. Self loops that
// the model adds count.
func (p *Program) Totals() (vertices int, edges int64) { return p.totals() }
