package layers

import (
	"math"
	"os"
	"strings"
	"testing"

	"sagann/saga"
	"sagann/sample"
)

// everything is a fan-out that no vertex of the golden graph has.
const everything = 1 << 20

// results are what a step gives.
type results struct {
	loss   float32
	grads  map[string][]float32
	logits []float32 // of the training vertices, in their order
}

// A batch of all training vertices, with fan-outs above every degree, gives the loss, logits and
// gradients of the full graph: layers mean the same over sampled blocks. Concat3 goes by
// the rank of an edge, which blocks refuse. SAGANN_DEVICE names another device for the batch than
// the CPU; the full graph is still the CPU's.
func TestGoldenSampled(t *testing.T) {
	for name, m := range goldenModels {
		if name == "concat3" {
			continue
		}
		folder, _, _ := strings.Cut(name, "-")
		g, model := readGolden(t, folder, m.use), saga.Model{Name: name, Layers: m.layers[:]}
		for _, loops := range []bool{false, true} {
			model.SelfLoops = loops
			for _, drop := range []float32{0, 0.4} {
				for i := range model.Layers {
					model.Layers[i].Dropout = drop
				}
				c := saga.Config{Chunks: 1, Seed: 3, Optimizer: saga.Optimizer{Kind: "sgd", LR: 1e-6}}
				var want []*results // by plans of the full graph, which sum in different orders
				for _, c.Chunks = range []int{1, 3, 7} {
					p, err := saga.Compile(model, g.data, c)
					want = append(want, g.step(t, p, err))
				}
				c.Chunks, c.Device = 0, os.Getenv("SAGANN_DEVICE")
				saves, withouts := []string{saga.SaveAuto, saga.SaveAll, saga.SaveNone}, withouts
				if c.Device != "" { // kernels are compiled
					saves, withouts = saves[:1], withouts[:1]
				}
				for _, save := range saves {
					for _, without := range withouts {
						t.Run(name+" "+save, func(t *testing.T) {
							c := c
							c.Save, c.Without, c.Outputs = save, without, []string{"logits"}
							p, err := saga.CompileSampled(model, g.data, c, saga.Sampling{Sampler: sample.Neighbours(everything, everything), Batch: len(g.data.Train)})
							got := g.step(t, p, err)
							const tolerance = 1e-5
							compare(t, "loss", []float32{got.loss}, []float32{want[0].loss}, tolerance)
							for param, x := range want[0].grads {
								apart := max(away(want[1].grads[param], x), away(want[2].grads[param], x)) // a_dst of gat is a sum that cancels
								compare(t, "gradient of "+param, got.grads[param], x, tolerance+2*apart)
							}
							if drop > 0 || loops {
								return
							}
							compare(t, "loss of the reference", []float32{got.loss}, []float32{float32(g.loss)}, tolerance)
							var logits []float32
							for _, v := range g.data.Train {
								logits = append(logits, g.logits[int(v)*g.data.Classes:][:g.data.Classes]...)
							}
							compare(t, "logits of the reference", got.logits, logits, tolerance)
						})
					}
				}
			}
		}
	}
}

// away is how far x is from want, as compare measures it.
func away(x, want []float32) float64 {
	var worst, largest float64
	for i, w := range want {
		worst, largest = max(worst, math.Abs(float64(x[i]-w))), max(largest, math.Abs(float64(w)))
	}
	return worst / max(largest, math.SmallestNonzeroFloat64)
}

// step runs a step of p with the reference's parameters.
func (g *golden) step(t *testing.T, p *saga.Program, err error) *results {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, x := range g.params {
		if err := p.SetParam(name, x); err != nil {
			t.Fatal(err)
		}
	}
	loss, err := p.Step()
	if err != nil {
		t.Fatal(err)
	}
	r := &results{loss: float32(loss), grads: map[string][]float32{}}
	for name := range g.grads {
		if r.grads[name], err = p.Grad(name); err != nil {
			t.Fatal(err)
		}
	}
	if p.Seeds() == nil {
		return r
	}
	x, cols, err := p.Output("logits")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[uint32][]float32{}
	for i, v := range p.Seeds() {
		rows[v] = x[i*cols : (i+1)*cols]
	}
	for _, v := range g.data.Train {
		r.logits = append(r.logits, rows[v]...)
	}
	return r
}
