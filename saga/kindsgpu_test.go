package saga_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"sagann/chunk"
	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

// typedGolden is the golden values of typed graphs of package layers.
type typedGolden struct {
	Types     map[string][][]float32
	Relations []struct {
		Src, Name, Dst string
		Edges          [2][]uint32
	}
	Target  string
	Classes int
	Labels  []int32
	Train   []uint32
	Models  map[string]struct {
		Logits        [][]float64
		Loss          float64
		Params, Grads map[string][][]float64
	}
}

// typedData is the graph of x at the type that has labels.
func typedData(t *testing.T) (x *typedGolden, d *dataset.Data) {
	t.Helper()
	text, err := os.ReadFile("../layers/testdata/hetero.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &x); err != nil {
		t.Fatal(err)
	}
	h, at := &dataset.Hetero{Name: "golden"}, map[string]int{}
	for i, name := range []string{"author", "lonely", "paper", "venue"} {
		d := &dataset.Data{Name: name, Edges: &chunk.Edges{V: len(x.Types[name])}, FeatureCols: len(x.Types[name][0])}
		for _, r := range x.Types[name] {
			d.Features = append(d.Features, r...)
		}
		if name == x.Target {
			d.Labels, d.Classes, d.Train = x.Labels, x.Classes, x.Train
		}
		at[name], h.Types = i, append(h.Types, dataset.VertexType{Name: name, Rows: d})
	}
	for _, r := range x.Relations {
		links := &dataset.Data{Name: r.Name, Edges: &chunk.Edges{V: max(len(x.Types[r.Src]), len(x.Types[r.Dst])), Src: r.Edges[0], Dst: r.Edges[1]}}
		h.Relations = append(h.Relations, dataset.Relation{Source: at[r.Src], Name: r.Name, Target: at[r.Dst], Links: links})
	}
	return x, h.At(at[x.Target])
}

func typedModels() []saga.Model {
	gat := []saga.Layer{layers.GAT(0, 3, 2, false, 0, ops.ELU), layers.GAT(0, 3, 2, true, 0, nil)}
	sage := []saga.Layer{layers.SAGE(0, 6, ops.ReLU), layers.SAGE(0, 3, nil)}
	for i := range 2 {
		gat[i].PerRelation, sage[i].PerRelation = true, true
	}
	return []saga.Model{
		{Name: "rgcn", Layers: []saga.Layer{layers.RGCN(0, 6, ops.ReLU), layers.RGCN(0, 3, nil)}},
		{Name: "sage", Layers: sage}, {Name: "gat", Layers: gat, SelfLoops: true},
		{Name: "hgt", Layers: []saga.Layer{layers.HGT(6, 2, nil), layers.HGT(3, 1, nil)}},
	}
}

// check runs a step of p and compares it with the golden values of model name.
func (x *typedGolden) check(t *testing.T, at, name string, p *saga.Program) {
	t.Helper()
	x.begin(t, at, name, p)
	x.step(t, at, name, p)
	z, _, err := p.Output("logits")
	if err != nil {
		t.Fatal(err)
	}
	nearGolden(t, at, "logits", z, x.Models[name].Logits)
}

// begin gives p the golden parameters of model name.
func (x *typedGolden) begin(t *testing.T, at, name string, p *saga.Program) {
	t.Helper()
	want := x.Models[name]
	for n, w := range want.Params {
		var all []float32
		for _, row := range w {
			for _, v := range row {
				all = append(all, float32(v))
			}
		}
		if err := p.SetParam(n, all); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
	}
}

// step runs a step of p and compares its loss and gradients with the golden values of model name.
func (x *typedGolden) step(t *testing.T, at, name string, p *saga.Program) {
	t.Helper()
	want := x.Models[name]
	loss, err := p.Step()
	if err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	if math.Abs(loss-want.Loss) > 1e-5 {
		t.Errorf("%s: loss %v, want %v", at, loss, want.Loss)
	}
	for n, w := range want.Grads {
		g, err := p.Grad(n)
		if err != nil {
			t.Fatal(err)
		}
		nearGolden(t, at, "the gradient of "+n, g, w)
	}
}

// nearGolden compares numbers with the golden ones of what.
func nearGolden(t *testing.T, at, what string, got []float32, want [][]float64) {
	t.Helper()
	most, off, i := 1e-3, 0.0, 0
	for _, row := range want {
		for _, v := range row {
			most, off, i = max(most, math.Abs(v)), max(off, math.Abs(float64(got[i])-v)), i+1
		}
	}
	if off > 1e-4*most {
		t.Errorf("%s: %s is off by %v of %v", at, what, off, most)
	}
}

// TestTypedEmulated: the text of the kernels for GPUs, run on emulated ones, gives the golden values over several types: resident, at the
// smallest budget, as a machine model says, and on two devices. Emulation is slow: soak has all models in all these ways.
func TestTypedEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("emulation is slow")
	}
	x, d := typedData(t)
	for i, m := range typedModels() {
		without := []string{"invariant"} // invariants are computed on devices that Compile opens
		small := smallestOf(t, m, d, saga.Config{Device: "cuda", Outputs: []string{"logits"}, Without: without})
		for k, c := range []saga.Config{{Device: "cuda", Mem: small}, {Device: "cuda:0,1", Chunks: 8, Stream: true}, {Device: "cuda"}, {Device: "cuda", Machine: "h200", Mem: 2 * small}} {
			if !draw.Soak() && (i > 1 || k != i) {
				continue
			}
			c.Outputs, c.Without = []string{"logits"}, without
			p, err := saga.Compile(m, d, c)
			if err != nil {
				t.Fatal(m.Name, c.Device, c.Mem, err)
			}
			var gpus []device.Device
			for i := range p.Summary().Devices {
				gpus = append(gpus, cudatest.Steps(cudatest.Open(t, i, p.DeviceBytes()+1<<20)))
			}
			if err := p.OpenOn(gpus); err != nil {
				t.Fatal(m.Name, c.Device, c.Mem, err)
			}
			x.check(t, fmt.Sprint(m.Name, " on ", c.Device, ", ", c.Mem, " bytes, machine ", c.Machine), m.Name, p)
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestGPUTyped: the GPUs of SAGANN_DEVICE give the golden values over several types.
func TestGPUTyped(t *testing.T) {
	on := os.Getenv("SAGANN_DEVICE")
	if !device.IsGPU(on) {
		t.Skip("SAGANN_DEVICE names no GPU")
	}
	x, d := typedData(t)
	for _, m := range typedModels() {
		small := smallestOf(t, m, d, saga.Config{Device: on, Outputs: []string{"logits"}})
		for _, c := range []saga.Config{{}, {Mem: small}, {Chunks: 8, Stream: true}, {Chunks: 12, Schedule: "stage", Stream: true}} {
			c.Device, c.Outputs = on, []string{"logits"}
			x.trained(t, m, d, c)
		}
	}
}

// TestTypedMachine: with a machine model plans over several types are searched and predicted, and give the golden values.
func TestTypedMachine(t *testing.T) {
	x, d := typedData(t)
	models := typedModels()[:2]
	if testing.Short() {
		models = models[:1]
	}
	for _, m := range models {
		small := smallestOf(t, m, d, saga.Config{Machine: "h200", Chunks: 5, Outputs: []string{"logits"}})
		for _, c := range []saga.Config{{Schedule: plan.Auto}, {Mem: small}, {Mem: small * 5 / 4}, {Machine: "h200x4", Device: "cpu:2"}} {
			c.Machine, c.Chunks, c.Outputs = cmp.Or(c.Machine, "h200"), 5, []string{"logits"}
			p := x.trained(t, m, d, c)
			if p.Predicted() == nil || p.Predicted().Seconds() <= 0 {
				t.Errorf("%s, %+v: no prediction", m.Name, c)
			}
			if n := p.Summary(); c.Mem > 0 && n.Peak+n.Aside > c.Mem {
				t.Errorf("%s: %d bytes of %d", m.Name, n.Peak+n.Aside, c.Mem)
			}
		}
	}
}

// smallestOf is the smallest budget that m has over d with c.
func smallestOf(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) int64 {
	t.Helper()
	c.Mem = 1
	var small *plan.BudgetError
	if _, err := saga.Compile(m, d, c); !errors.As(err, &small) {
		t.Fatalf("%s: a budget of one byte gives %v", m.Name, err)
	}
	return small.Smallest
}

// trained is m over d after a step, which was compared with the golden values.
func (x *typedGolden) trained(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) *saga.Program {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatalf("%s, %+v: %v", m.Name, c, err)
	}
	x.check(t, fmt.Sprintf("%s, %+v", m.Name, c), m.Name, p)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	return p
}

// TestTypedEvaluate: with a rate of nothing, scores of the training split are those of the step, also where features stay on the device.
func TestTypedEvaluate(t *testing.T) {
	_, d := typedData(t)
	for _, m := range typedModels() {
		for _, c := range []saga.Config{{}, {Chunks: 6}, {Chunks: 6, Stream: true}, {HostMem: 1 << 20}} {
			c.Optimizer.LR = 1e-12
			p, err := saga.Compile(m, d, c)
			if err != nil {
				t.Fatal(err)
			}
			loss, err := p.Step()
			if err != nil {
				t.Fatal(err)
			}
			s, err := p.Evaluate()
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(s.Train.Loss-loss) > 1e-5 {
				t.Errorf("%s, %+v: evaluation gives the loss %v, the step %v", m.Name, c, s.Train.Loss, loss)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
