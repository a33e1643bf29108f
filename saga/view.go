package saga

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/dataflow/plan/view"
)

// TrainPlan is the plan of a training epoch. It must not be changed.
func (p *Program) TrainPlan() *plan.Plan { return p.train.plan }

// Totals are the numbers of vertices and edges that the program was planned for, with
// the self loops that the model adds.
func (p *Program) Totals() (vertices int, edges int64) {
	if s := p.shape; s != nil {
		return s.Vertices, s.Edges
	}
	return p.in.edges.V, int64(p.in.edges.E())
}

// Saved is the save policy of the training plan: "some", "all" or "none". Values may be
// stored beside what it says: see Stored.
func (p *Program) Saved() string { return cmp.Or(p.saved, saveSome) }

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
func (p *Program) PlannedPeak() int64 { return max(p.train.plan.Peak, p.eval.plan.Peak) }

// Simulated is the timeline of a training epoch on Config.Machine or, without one, of
// the same plan on machine m; nil when m has too few devices.
func (p *Program) Simulated(m *sim.Machine) *sim.Timeline {
	if p.predicted != nil || m == nil || p.train.plan.Devices > len(m.Devices) {
		return p.predicted
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
func (p *Program) WriteHTML(w io.Writer, t *sim.Timeline) error {
	var notes strings.Builder
	if err := p.Overview(&notes); err != nil {
		return err
	}
	if p.predicted == nil && t != nil {
		fmt.Fprintf(&notes, "machine   %s\n", t)
	}
	notes.WriteString("\n" + p.compiled())
	page := &view.Page{Title: "saga plan: " + p.model.Name, Summary: notes.String(), Label: p.labels()}
	return page.Write(w, p.train.plan, t)
}

// labels says of every task what it does, without its chunk, and for which lines.
func (p *Program) labels() func(i int) (name, detail string) {
	q := *p
	q.in = cmp.Or(q.in, &inputs{}) // planned from statistics: nothing was computed before
	tasks := q.describeTasks()
	return func(i int) (name, detail string) {
		t := &tasks[i]
		var more []string
		for _, s := range append([]string{t.Stage, t.Layer, t.Sweep}, t.Lines...) {
			if s != "" {
				more = append(more, s)
			}
		}
		return t.Name, strings.Join(more, " · ")
	}
}

// Slices is how many slices of columns gathers are split into; 1: none, or none can be.
func (p *Program) Slices() int {
	if p.train != nil && !slices.ContainsFunc(p.train.low.Notes, func(n dataflow.Note) bool { return n.Pass == "slice" }) {
		return 1
	}
	return max(1, p.slices)
}

// Packed tells whether cells hold far ends of edges packed.
func (p *Program) Packed() bool { return p.packed }

// Stored names the values that are stored beside what the save policy says.
func (p *Program) Stored() []string { return p.store }

// Once is the number of intervals over which each program of invariants was run, 0 where
// another had computed its values already.
func (p *Program) Once() []int { return slices.Clone(p.once) }

// Summary says how a program will run.
type Summary struct {
	Vertices, Edges int    // with the self loops that the model adds
	Chunks          int    // P
	Schedule        string //
	Devices         int    //
	Budget          int64  // bytes of memory of each device; the peak when there is no bound
	Peak            int64  // most bytes in use on a device, of training and of evaluation
	H2D, D2H, D2D   int64  // bytes of a training step, over all devices
	Once            int64  // bytes loaded once
	Host, Disk      int64  // bytes of host memory beside the data, and of files that stand for it
	Aside           int64  // bytes of each device's memory that Config.Machine and kernels take beside Peak
}

// Summary returns the numbers of the plan.
func (p *Program) Summary() Summary {
	t := p.train.plan
	v, e := p.Totals()
	s := Summary{Vertices: v, Edges: int(e), Chunks: t.Cells.P, Schedule: t.Schedule, Budget: p.memory.bound + p.kept(),
		Peak: max(t.Peak, p.eval.plan.Peak), H2D: t.H2D, D2H: t.D2H, D2D: t.D2D, Devices: t.Devices, Once: t.Once,
		Aside: p.memory.context + p.memory.scratch}
	if p.host != nil {
		s.Host, s.Disk = p.host.Memory, p.host.Disk
	}
	if s.Budget == 0 {
		s.Budget = s.Peak
	}
	return s
}
