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

// TrainPlan is the plan of a training epoch. It must not be changed.
func (p *Program) TrainPlan() *plan.Plan { return p.train.plan }

// Totals are the numbers of vertices and edges that the program was planned for, with
// the self loops that the model adds.
func (p *Program) Totals() (vertices int, edges int64) {
	if s := p.shape; s != nil {
		return s.Vertices, s.Edges
	}
	return p.in.edges.V, int64(p.in.edgeCount())
}

// Saved is the save policy of the training plan: "some", "all" or "none". Values may be
// stored beside what it says: see Stored.
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

// Tiles is how many rows each kernel of training works on at a time on a GPU; nil: not on a GPU.
func (p *Program) Tiles() []int {
	var tiles []int
	for _, k := range p.train.low.Kernels {
		if k.Tile > 0 {
			tiles = append(tiles, k.Tile)
		}
	}
	return tiles
}

// PlannedPeak is the most device memory that is in use on a device, of training and
// of evaluation, in bytes.
func (p *Program) PlannedPeak() int64 {
	most := int64(0)
	for _, u := range p.units() {
		most = max(most, u.plan.Peak)
	}
	return most
}

// Simulated is the timeline of a training epoch on Config.Machine or, without one, of
// the same plan on machine m; nil when m has too few devices, and of sampled training.
func (p *Program) Simulated(m *sim.Machine) *sim.Timeline {
	if p.sampled != nil || p.chosen.predicted != nil || m == nil || p.train.plan.Devices > len(m.Devices) {
		return p.chosen.predicted
	}
	return sim.Simulate(p.train.plan, m)
}

// Dump writes the training program as it is after a pass: a node a line, with
// operands, shape and the user's line. An unknown pass is an error that lists the
// passes in the order in which they run.
func (p *Program) Dump(w io.Writer, pass string) error {
	if steps := dataflow.Steps(); !slices.Contains(steps, pass) {
		return fmt.Errorf("no pass %q; there are %s", pass, strings.Join(steps, ", "))
	}
	prog, err := p.traceTrain()
	if err != nil {
		return err
	}
	o := p.options()
	o.Dump = pass
	var failed error
	o.Print = func(text string) { _, failed = io.WriteString(w, text) }
	dataflow.Optimize(prog, o)
	return failed
}

// WriteHTML writes one page that needs nothing else: the plan's summary, what lies
// where in device memory, and the timeline t of its queues. Without t there are no
// queues.
func (p *Program) WriteHTML(w io.Writer, t *sim.Timeline) error { return p.report().WriteHTML(w, t) }

// Explain writes what a training epoch will do, before it does it: the grid, what
// lies where in device memory, the bytes that move, and what the compiler did with
// the user's lines.
func (p *Program) Explain(w io.Writer) error { return p.report().Explain(w) }

// Overview writes the first lines of Explain: graph, grid, schedule, memory, bytes
// and, with Config.Machine, the predicted time and the load of every link.
func (p *Program) Overview(w io.Writer) error { return p.report().Overview(w) }

// report is what reports read of p.
func (p *Program) report() *report.Run {
	r := &report.Run{Model: p.model.Name, Low: p.train.low, Plan: p.train.plan, Extra: map[string]bool{}, Predicted: p.chosen.predicted,
		Save: p.chosen.Save, Stored: p.chosen.Stored(), Slices: p.Slices(), Packed: p.chosen.Packed, Storage: p.cfg.Storage,
		Host: p.host.plan, Scratch: p.cfg.Scratch, Peak: p.PlannedPeak()}
	if p.sampled != nil {
		r.Sampled = p.sampled.report(p)
	}
	for _, q := range p.params {
		r.Params = append(r.Params, report.Param{Name: q.Name, Pos: q.pos})
	}
	if s := p.shape; s != nil {
		r.Graph = fmt.Sprintf("statistics only: %d vertices, %d edges, %d features, %d classes, skew %g assumed", s.Vertices, s.Edges, s.Features, s.Classes, s.Skew)
		return r
	}
	r.Data, r.Edges, r.Order = p.data.Name, p.in.edges, p.grids.order
	loops := ""
	if p.model.SelfLoops && p.in.edgeCount() > p.data.Edges.E() {
		loops = " with self loops"
	}
	r.Graph = fmt.Sprintf("%s: %d vertices, %d edges%s, %d features, %d classes", p.data.Name, p.in.edges.V, p.in.edgeCount(), loops, p.dims.features, p.dims.classes)
	for name := range p.in.extra {
		r.Extra[name] = true
	}
	return r
}

// TensorBytes is the device memory of a training step without the graph, the
// features and labels, and the parameters: what intermediate tensors need.
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

// Moves is what a training epoch copies, in bytes: host to device, device to host.
func (p *Program) Moves() (h2d, d2h int64) { return p.train.plan.H2D, p.train.plan.D2H }

// Moved counts the bytes that training steps have moved so far; zero before the first.
func (p *Program) Moved() exec.Stats {
	if p.session == nil {
		return exec.Stats{}
	}
	return p.session.train.Stats()
}

// Chunks is P, the number of intervals of the training plan.
func (p *Program) Chunks() int { return p.train.plan.Cells.P }

// Slices is how many slices of columns gathers are split into; 1: none, or none can be.
func (p *Program) Slices() int {
	if p.train != nil && !slices.ContainsFunc(p.train.low.Notes, func(n dataflow.Note) bool { return n.Pass == "slice" }) {
		return 1
	}
	return max(1, p.chosen.Slices)
}

// Packed tells whether cells hold far ends of edges packed.
func (p *Program) Packed() bool { return p.chosen.Packed }

// Outcome is what was chosen beside number of chunks, schedule and save policy: with it in Config,
// and those three, a run goes on bit for bit in any budget.
func (p *Program) Outcome() Outcome {
	o := Outcome{Store: p.chosen.Stored(), Once: p.Once(), Groups: p.Groups(), Tiles: p.Tiles(), Slices: p.Slices(), Packing: PackingOff}
	if p.chosen.Packed {
		o.Packing = PackingOn
	}
	if o.Groups == nil {
		o.Groups = []int{1}
	}
	return o
}

// Stored names the values that are stored beside what the save policy says.
func (p *Program) Stored() []string { return p.chosen.Stored() }

// Once is the number of intervals over which each program of invariants was run, 0 where
// another had computed its values already.
func (p *Program) Once() []int { return slices.Clone(p.chosen.once) }

// Summary says how a program will run.
type Summary struct {
	Vertices, Edges int    // with the self loops that the model adds
	Chunks          int    // P
	Schedule        string //
	Devices         int    //
	Budget          int64  // bytes of memory of each device; without a bound what is taken: Peak and Aside
	Peak            int64  // most bytes in use on a device, of training and of evaluation
	H2D, D2H, D2D   int64  // bytes of a training step, over all devices
	Once            int64  // bytes loaded once
	Host, Disk      int64  // bytes of host memory beside the data, and of files that stand for it
	Aside           int64  // bytes of each device's memory that Config.Machine, kernels and sampling take beside Peak
}

// Summary returns the numbers of the plan.
func (p *Program) Summary() Summary {
	t := p.train.plan
	v, e := p.Totals()
	s := Summary{Vertices: v, Edges: int(e), Chunks: t.Cells.P, Schedule: t.Schedule, Budget: p.chosen.memory.bound + p.kept(),
		Peak: p.PlannedPeak(), H2D: t.H2D, D2H: t.D2H, D2D: t.D2D, Devices: t.Devices, Once: t.Once,
		Aside: p.chosen.memory.context + p.chosen.memory.scratch + p.drawing()}
	if p.host.plan != nil {
		s.Host, s.Disk = p.host.plan.Memory, p.host.plan.Disk
	}
	if s.Budget == 0 {
		s.Budget = s.Peak + s.Aside
	}
	return s
}
