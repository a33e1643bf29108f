package saga_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

// sessionModel has dropout, so that a step depends on its epoch, and a parameter that the
// loss does not reach. The first layer has an invariant.
func sessionModel(d *dataset.Data) saga.Model {
	first := layers.GCN(d.FeatureCols, 4, saga.Edge.SymNorm, ops.ReLU)
	vertex := first.ApplyVertex
	first.ApplyVertex = func(v saga.Vertex, p saga.Params) saga.Tensor {
		p.Weight("unused", 2, 3)
		return vertex(v, p)
	}
	second := layers.GGCN(4, d.Classes, nil)
	second.Dropout = 0.3
	return saga.Model{Name: "session", SelfLoops: true, Layers: []saga.Layer{first, second}}
}

// sessionCases are ways to run it: everything stays, everything streams, a part stays,
// windows that last from one step to the next, several devices, files, and a GPU that
// computes nothing.
func sessionCases(t *testing.T, d *dataset.Data) map[string]saga.Config {
	t.Helper()
	base := saga.Config{Device: os.Getenv("SAGANN_DEVICE"), Seed: 3, Outputs: []string{"hidden", "logits", "grad:features"}, Epochs: 100}
	cases := map[string]saga.Config{}
	add := func(name string, change func(*saga.Config)) {
		c := base
		change(&c)
		cases[name] = c
	}
	least := func(c saga.Config) int64 {
		c.Mem = 1
		var small *plan.BudgetError
		if _, err := saga.Compile(sessionModel(d), d, c); !errors.As(err, &small) {
			t.Fatalf("one byte of memory: %v", err)
		}
		return small.Smallest
	}
	add("resident", func(c *saga.Config) { c.Chunks = 2 })
	add("streaming", func(c *saga.Config) { c.Chunks, c.Stream = 3, true })
	add("sgd, stage", func(c *saga.Config) {
		c.Chunks, c.Schedule, c.Optimizer = 3, plan.Stage, saga.Optimizer{Kind: "sgd", Momentum: 0.9}
	})
	add("budget", func(c *saga.Config) { c.Chunks = 5; c.Mem = least(*c) * 5 / 4 })
	add("windows", func(c *saga.Config) {
		c.Chunks, c.Machine, c.Schedule, c.Save = 8, "h200", plan.Sag, saga.SaveAll
		c.Mem = least(*c) * 3 / 2
	})
	add("two devices", func(c *saga.Config) { c.Chunks, c.Device = 4, "cpu:2" })
	add("three devices, streaming", func(c *saga.Config) { c.Chunks, c.Device, c.Stream = 4, "cpu:3", true })
	add("bf16", func(c *saga.Config) { c.Chunks, c.Storage = 3, saga.StorageBF16 })
	add("null", func(c *saga.Config) { c.Chunks, c.Device = 3, "null" })
	add("files", func(c *saga.Config) {
		c.Chunks, c.Stream, c.Scratch = 3, true, needsFiles(t)
		c.HostMem = leastHost(t, sessionModel(d), d, *c)
	})
	return cases
}

// call is one call of a session with what it depends on.
type call struct {
	op   string
	name string // of a parameter or an output
	from int    // of a checkpoint
	fill float32
}

// changes tells whether a call changes what later ones give.
func (c call) changes() bool {
	switch c.op {
	case "Step", "SetParam", "Restore", "Close", "Open":
		return true
	}
	return false
}

// do calls p and gives all that it returns as bits, or that it is an error. Checkpoints
// lie in dir; those that p writes in own.
func (c call) do(p *saga.Program, dir, own string) (string, error) {
	numbers := func(x []float32, err error) (string, error) {
		var b strings.Builder
		for _, v := range x {
			fmt.Fprintf(&b, "%08x ", math.Float32bits(v))
		}
		return b.String(), err
	}
	table := func(x []float32, cols int, err error) (string, error) {
		text, _ := numbers(x, nil)
		return fmt.Sprint(cols, ": ", text), err
	}
	switch c.op {
	case "Step":
		loss, err := p.Step()
		return fmt.Sprint(loss), err
	case "Evaluate":
		s, err := p.Evaluate()
		return fmt.Sprintf("%+v", s), err
	case "Predict":
		return table(p.Predict())
	case "Embed":
		return table(p.Embed())
	case "Grad":
		return numbers(p.Grad(c.name))
	case "Param":
		return numbers(p.Param(c.name))
	case "Output":
		return table(p.Output(c.name))
	case "SetParam":
		for _, q := range p.Params() {
			if q.Name == c.name {
				x := make([]float32, q.Rows*q.Cols)
				for i := range x {
					x[i] = c.fill * float32(i%3-1)
				}
				return "", p.SetParam(c.name, x)
			}
		}
		return "", p.SetParam(c.name, nil)
	case "Checkpoint":
		if err := p.Save(own, "options"); err != nil {
			return "", err
		}
		text, err := os.ReadFile(own)
		return string(text), err
	case "Restore":
		return "", p.Restore(filepath.Join(dir, fmt.Sprint(c.from)))
	case "Close":
		return "", p.Close()
	case "Open":
		return "", p.Open()
	}
	panic(c.op)
}

func drawCall(t *rapid.T, params []string) call {
	return call{
		op: rapid.SampledFrom([]string{"Step", "Step", "Evaluate", "Evaluate", "Predict", "Embed", "Grad", "Param", "Output", "SetParam",
			"Checkpoint", "Restore", "Close", "Open"}).Draw(t, "op"),
		name: rapid.SampledFrom(params).Draw(t, "name"),
		from: rapid.IntRange(0, 1).Draw(t, "from"),
		fill: rapid.SampledFrom([]float32{0, 0.5, -1}).Draw(t, "fill"),
	}
}

// after runs the calls that change something, and then the last one, on a session of its own.
func after(m saga.Model, d *dataset.Data, c saga.Config, calls []call, dir, own string) (result string, failed, wrong error) {
	p, err := saga.Compile(m, d, c)
	if err != nil {
		return "", nil, err
	}
	for i, k := range calls {
		if i == len(calls)-1 {
			result, failed = k.do(p, dir, own)
		} else if k.changes() {
			k.do(p, dir, own) // an error changes nothing
		}
	}
	return result, failed, p.Close()
}

// TestSessionOrder: whatever is called in whatever order, a session gives the bits of one
// that was freshly compiled and has had only the calls that change something; between Close
// and Open everything but these two is an error; outputs are there after a step.
func TestSessionOrder(t *testing.T) {
	d := dataset.Karate()
	m := sessionModel(d)
	cases, dirs := sessionCases(t, d), map[string]string{}
	names := slices.Sorted(maps.Keys(cases))
	for name, c := range cases {
		dirs[name] = t.TempDir()
		writeTwo(t, compiled(t, m, d, c), dirs[name])
	}
	draw.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "case")
		checkOrder(t, m, d, cases[name], dirs[name])
	})
}

// writeTwo writes what Restore takes: checkpoints 0 and 1 of p.
func writeTwo(t *testing.T, p *saga.Program, dir string) {
	t.Helper()
	for i := range 2 {
		for range 1 + i {
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Save(filepath.Join(dir, fmt.Sprint(i)), "options"); err != nil {
			t.Fatal(err)
		}
	}
}

// checkOrder makes some calls and compares each with a fresh session.
func checkOrder(t *rapid.T, m saga.Model, d *dataset.Data, c saga.Config, dir string) {
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	names := []string{"layer9.none", "moment1:layer1.W", "hidden", "logits", "grad:features"}
	for _, q := range p.Params() {
		names = append(names, q.Name)
	}
	var calls []call
	closed := false
	for range rapid.IntRange(1, 8).Draw(t, "calls") {
		k := drawCall(t, names)
		calls = append(calls, k)
		got, failed := k.do(p, dir, filepath.Join(dir, "own"))
		if k.op == "Output" && predictedSinceStep(calls) {
			if failed == nil {
				t.Fatalf("%v: an output after Predict, which takes memory anew", calls)
			}
			continue
		}
		want, expected, err := after(m, d, c, calls, dir, filepath.Join(dir, "other"))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(failed) != fmt.Sprint(expected) {
			t.Fatalf("%v: error %v, in a fresh session %v", calls, failed, expected)
		}
		if failed == nil && got != want {
			t.Fatalf("%v: %q, in a fresh session %q", calls, got, want)
		}
		switch k.op {
		case "Close":
			closed = true
		case "Open":
			closed = false
		}
		if closed && k.op != "Close" && failed == nil {
			t.Fatalf("%v: no error after Close", calls)
		}
	}
}

// predictedSinceStep tells whether outputs of the last step are gone.
func predictedSinceStep(calls []call) bool {
	gone := false
	for _, k := range calls {
		switch k.op {
		case "Step":
			gone = false
		case "Predict", "Embed":
			gone = true
		}
	}
	return gone
}

// compiled compiles m, and closes it at the end.
func compiled(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) *saga.Program {
	t.Helper()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
