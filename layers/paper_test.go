package layers_test

import (
	"math"
	"slices"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

// The claims of NGra (arXiv 1810.08403), one test each, named by section or figure.
// Where a claim is about time the simulator answers, on the paper's own server; where
// it is about bytes the executor counts them. All of them run the paper's own system,
// which leaves out what came after it.

// paperModels are the five of the paper's evaluation.
var paperModels = []string{"gcn", "commnet", "mpgcn", "ggcn", "ggnn"}

// paper is a configuration of the paper's system: four intervals, two buffers a stream,
// and without also these passes.
func paper(schedule string, without ...string) saga.Config {
	c := saga.Config{Chunks: 4, Prefetch: 1, Schedule: schedule, Seed: 1, Without: without, Save: "some"}
	for _, pass := range []string{"commute", "factor", "invariant", "postpone", "recompute-on-load", "residency", "row-gather", "serpentine"} {
		if known := (&saga.Config{Without: []string{pass}}); known.Validate() == nil && !slices.Contains(without, pass) {
			c.Without = append(c.Without, pass)
		}
	}
	return c
}

// paperShape is a graph of the paper by name, as statistics.
var paperShape = map[string]saga.Shape{
	"reddit_small":  {Vertices: 46600, Edges: 1.4e6, Features: 602, Classes: 41},
	"reddit_middle": {Vertices: 233000, Edges: 23.2e6, Features: 602, Classes: 41},
}

func paperModel(t *testing.T, name string, features, hidden, classes int) saga.Model {
	t.Helper()
	m, err := layers.New(name, layers.Options{Features: features, Hidden: hidden, Classes: classes, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// simulated plans an epoch for a shape of the paper on its server.
func simulated(t *testing.T, name string, s saga.Shape, c saga.Config) *saga.Program {
	t.Helper()
	c.Machine = "p100x8"
	p, err := saga.Plan(paperModel(t, name, s.Features, 128, s.Classes), s, c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

func paperGraph(t *testing.T, spec string) *dataset.Data {
	t.Helper()
	s, err := dataset.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// epoch runs one on data; it returns the program, closed, the losses before and after,
// and what the executor moved.
func epoch(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) (p *saga.Program, losses [2]float64, e saga.Epoch) {
	t.Helper()
	c.Epochs, c.EvalEvery = 1, 2
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	_, err = p.Train(t.Context(), saga.TrainOptions{OnEpoch: func(got saga.Epoch) error { e = got; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	losses[0] = e.Loss
	if losses[1], err = p.Step(); err != nil {
		t.Fatal(err)
	}
	return p, losses, e
}

// figure2 is the G-GCN layer as the paper's Figure 2 writes it.
func figure2(in, out int, last bool) saga.Layer {
	return saga.Layer{
		Name: "figure 2",
		ApplyEdge: func(e saga.Edge, p saga.Params) saga.Tensor {
			eta := ops.Sigmoid(ops.Add(
				ops.MatMul(e.Src, p.Weight("W_H", in, in)),
				ops.MatMul(e.Dst, p.Weight("W_C", in, in))))
			return ops.Mul(eta, e.Src)
		},
		Gather: saga.Sum,
		ApplyVertex: func(v saga.Vertex, p saga.Params) saga.Tensor {
			y := ops.MatMul(v.Accum, p.Weight("W", in, out))
			if last {
				return y
			}
			return ops.ReLU(y)
		},
	}
}

// Section 2, Figure 2: the program that a user writes is the whole model; backward
// comes by itself. The gradient of every weight agrees with a central difference of
// the loss.
func TestPaperSection2SAGA(t *testing.T) {
	d := paperGraph(t, "vertices=60,edges=400,features=5,classes=3,seed=2")
	m := saga.Model{Name: "figure 2", Layers: []saga.Layer{figure2(5, 4, false), figure2(4, 3, true)}}
	p, err := saga.Compile(m, d, paper(plan.Sag))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	start := map[string][]float32{}
	for _, q := range p.Params() {
		if start[q.Name], err = p.Param(q.Name); err != nil {
			t.Fatal(err)
		}
	}
	lossAt := func(name string, i int, by float32) float64 {
		for n, x := range start {
			y := slices.Clone(x)
			if n == name {
				y[i] += by
			}
			if err := p.SetParam(n, y); err != nil {
				t.Fatal(err)
			}
		}
		l, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	const by = 1e-3 // small: ReLU bends
	for _, q := range p.Params() {
		for i := 0; i < q.Rows*q.Cols; i += 3 {
			slope := (lossAt(q.Name, i, by) - lossAt(q.Name, i, -by)) / (2 * by)
			lossAt("", 0, 0)
			g, err := p.Grad(q.Name)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(float64(g[i])-slope) > 2e-3+1e-2*math.Abs(slope) {
				t.Errorf("gradient %d of %s is %v, a difference of losses gives %v", i, q.Name, g[i], slope)
			}
		}
	}
}

// Section 3.1: edges lie in a grid of P×P chunks, vertex data in P; one pass over the
// edges runs every chunk once, and its transfers are operators of their own, on queues
// of their own. Losses are those of the graph in one piece.
func TestPaperSection31Operators(t *testing.T) {
	d := paperGraph(t, "vertices=400,edges=3000,features=12,classes=3,seed=3,skew=0.7")
	for _, name := range paperModels {
		m := paperModel(t, name, 12, 8, 3)
		_, want, _ := epoch(t, m, d, saga.Config{Seed: 1})
		p, got, e := epoch(t, m, d, paper(plan.Sag))
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-4*math.Abs(want[i]) {
				t.Errorf("%s: loss %d is %v in chunks, %v in one piece", name, i, got[i], want[i])
			}
		}
		if e.H2D == 0 || e.D2H == 0 {
			t.Errorf("%s: %d bytes to the device and %d back", name, e.H2D, e.D2H)
		}
		type pass struct{ phase, step, kernel int32 }
		runs := map[pass]map[[2]int32]int{}
		pl := p.TrainPlan()
		for _, k := range pl.Tasks {
			switch {
			case k.Kind == plan.Load && k.Queue != plan.H2D, k.Kind == plan.Save && k.Queue != plan.D2H, k.Kind == plan.Run && k.Queue != plan.Compute:
				t.Errorf("%s: a %s on queue %s", name, k.Kind, k.Queue)
			case k.Kind == plan.Run && k.Other >= 0:
				at := pass{k.Phase, k.Step, k.Kernel}
				if runs[at] == nil {
					runs[at] = map[[2]int32]int{}
				}
				runs[at][[2]int32{k.Own, k.Other}]++
			}
		}
		for at, cells := range runs {
			dir := pl.Spec.Phases[at.phase].Steps[at.step].Dir
			for n, nnz := range pl.Cells.NNZ[dir] {
				if times := cells[[2]int32{int32(n / 4), int32(n % 4)}]; nnz > 0 && times != 1 {
					t.Errorf("%s: phase %d runs edge chunk (%d,%d) %d times", name, at.phase, n/4, n%4, times)
				}
			}
		}
	}
}

// Section 3.1, the three orders. sag finishes a destination, its ApplyVertex included,
// before it begins the next; stage runs all SAG phases before any ApplyVertex;
// dest-order takes one source over all destinations before the next source.
func TestPaperSection31Schedules(t *testing.T) {
	for _, name := range paperModels {
		order := func(schedule string) (phases [][]plan.Task) {
			c := paper(schedule)
			pl := simulated(t, name, paperShape["reddit_small"], c).TrainPlan()
			phases = make([][]plan.Task, len(pl.Spec.Phases))
			for _, k := range pl.Tasks {
				if k.Kind == plan.Run && k.Own >= 0 && k.Step >= 0 {
					phases[k.Phase] = append(phases[k.Phase], k)
				}
			}
			return phases
		}
		both := 0
		for _, tasks := range order(plan.Sag) {
			if n := runsOf(tasks, func(k plan.Task) int32 { return k.Own }); len(tasks) > 0 && n != 4 {
				t.Errorf("%s, sag: a sweep goes to its 4 destinations %d times", name, n)
			}
			cells := slices.ContainsFunc(tasks, func(k plan.Task) bool { return k.Other >= 0 })
			rows := slices.ContainsFunc(tasks, func(k plan.Task) bool { return k.Other < 0 })
			if cells && rows {
				both++
			}
		}
		if both == 0 {
			t.Errorf("%s, sag: no ApplyVertex in the visit of its SAG phase", name)
		}
		for _, schedule := range []string{plan.Stage, plan.DestOrder} {
			for _, tasks := range order(schedule) {
				cells := slices.ContainsFunc(tasks, func(k plan.Task) bool { return k.Other >= 0 })
				rows := slices.ContainsFunc(tasks, func(k plan.Task) bool { return k.Other < 0 })
				if cells && rows {
					t.Errorf("%s, %s: SAG and ApplyVertex in one sweep", name, schedule)
				}
				turns := runsOf(tasks, func(k plan.Task) int32 { return k.Other })
				if cells && schedule == plan.DestOrder && turns != 4 {
					t.Errorf("%s, dest-order: a sweep goes to its 4 sources %d times", name, turns)
				}
			}
		}
	}
}

// runsOf counts the runs of equal keys.
func runsOf(tasks []plan.Task, key func(plan.Task) int32) int {
	n := 0
	for i := range tasks {
		if i == 0 || key(tasks[i]) != key(tasks[i-1]) {
			n++
		}
	}
	return n
}
