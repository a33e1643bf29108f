package saga_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// unevenGraph is sampledGraph with features of norms that differ, some of them 0.
func unevenGraph(t *testing.T) *dataset.Data {
	d := sampledGraph(t)
	for i := range d.Features {
		d.Features[i] *= float32(i / d.FeatureCols % 5)
	}
	return d
}

func byNorms(d *dataset.Data, batch int, fanouts ...int) saga.Sampling {
	return saga.Sampling{Sampler: sample.MVS(fanouts...), Batch: batch, Norms: saga.FeatureNorms(d)}
}

// mean is that of numbers that come again and again, with its error.
type mean struct{ n, sum, square []float64 }

func (m *mean) add(x ...float64) {
	for i, y := range x {
		if i == len(m.n) {
			m.n, m.sum, m.square = append(m.n, 0), append(m.sum, 0), append(m.square, 0)
		}
		m.n[i], m.sum[i], m.square[i] = m.n[i]+1, m.sum[i]+y, m.square[i]+y*y
	}
}

// off is how many standard errors the farthest number is from want.
func (m *mean) off(want ...float64) (worst float64) {
	for i, y := range want {
		at := m.sum[i] / m.n[i]
		if far := math.Abs(at - y); far > 1e-6 { // more than rounding
			worst = max(worst, far/math.Sqrt((m.square[i]/m.n[i]-at*at)/m.n[i]))
		}
	}
	return worst
}

// TestSampledNorms: losses and gradients of batches whose seeds norms choose are on average those of all training vertices.
func TestSampledNorms(t *testing.T) {
	d, c := unevenGraph(t), sampledConfig()
	c.Optimizer = saga.Optimizer{Kind: "sgd", LR: 1e-30} // parameters stay
	m, err := layers.New("sage", layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: 4, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	step := func(p *saga.Program) (list []float64) {
		loss, err := p.Step()
		if err != nil {
			t.Fatal(err)
		}
		grad, err := p.Grad(p.Params()[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, loss)
		for _, x := range grad {
			list = append(list, float64(x))
		}
		return list
	}
	full, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	want := step(full)
	if err := full.Close(); err != nil {
		t.Fatal(err)
	}
	const each = 20
	p, err := saga.CompileSampled(m, d, c, byNorms(d, each, 600, 600)) // as many as there are vertices: only seeds are chosen
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var steps, right, wrong mean
	for range 1200 {
		steps.add(step(p)...)
	}
	if x := steps.off(want...); x > 4 {
		t.Errorf("losses and gradients are %.1f standard errors away", x)
	}
	all := 0.0
	for _, v := range d.Train {
		all += float64(v%5) / float64(len(d.Train))
	}
	for epoch := range 500 {
		items, counts, err := p.Chosen(epoch)
		if err != nil {
			t.Fatal(err)
		}
		for b, list := range items {
			x, y := 0.0, 0.0
			for i, v := range list {
				x, y = x+float64(counts[b][i]*float32(v%5))/each, y+float64(v%5)/float64(len(list))
				if counts[b][i] < 0.5 {
					t.Fatalf("vertex %d counts %v: less than half of once", v, counts[b][i])
				}
			}
			right.add(x)
			wrong.add(y)
		}
	}
	if x, y := right.off(all), wrong.off(all); x > 4 || y < 10 {
		t.Errorf("%.1f standard errors, and %.1f without counts", x, y)
	}
}

// TestSampledNormsBits: such a run learns, goes on after any batch bit for bit, has the same bits on two devices, and another digest with other norms.
func TestSampledNormsBits(t *testing.T) {
	d := unevenGraph(t)
	how := byNorms(d, 60, 5, 3)
	whole := sampledProgram(t, "sage", d, onDevices(t, 1), how)
	want, r := batchLosses(t, whole, saga.TrainOptions{})
	if len(want) != 16 || !(want[15] < want[0]) {
		t.Errorf("losses %v", want)
	}
	if last := (want[12] + want[13] + want[14] + want[15]) / 4; math.Abs(r.Loss-last) > 1e-12 {
		t.Errorf("the last epoch's loss is %v, want %v", r.Loss, last)
	}
	path := filepath.Join(t.TempDir(), "c.safetensors")
	for _, stop := range []int{1, 4, 7} {
		p := sampledProgram(t, "sage", d, onDevices(t, 1), how)
		for range stop {
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Save(path, ""); err != nil {
			t.Fatal(err)
		}
		p = sampledProgram(t, "sage", d, onDevices(t, 1), how)
		if rest, _ := batchLosses(t, p, saga.TrainOptions{Resume: path}); !slices.Equal(rest, want[stop:]) {
			t.Errorf("after batch %d losses are %v, want %v", stop, rest, want[stop:])
		}
		sameParams(t, whole, p)
	}
	two := how
	two.Batch, two.Accumulate = 30, 2
	one := sampledProgram(t, "sage", d, onDevices(t, 1), two)
	losses, r := batchLosses(t, one, saga.TrainOptions{})
	if n := len(losses); n != 16 || math.Abs(r.Loss-(losses[12]+losses[13]+losses[14]+losses[15])/4) > 1e-12 {
		t.Errorf("%d updates, the last epoch's loss is %v of %v", n, r.Loss, losses)
	}
	if p := sampledProgram(t, "sage", d, onDevices(t, 2), two); p.Digest() == one.Digest() {
		if got, _ := batchLosses(t, p, saga.TrainOptions{}); !slices.Equal(got, losses) {
			t.Errorf("two devices: losses %v, want %v", got, losses)
		}
	} else {
		t.Error("two devices have another digest")
	}
	other := how
	other.Norms = slices.Clone(how.Norms)
	other.Norms[3]++
	if err := sampledProgram(t, "sage", d, onDevices(t, 1), other).Restore(path); err == nil || !strings.Contains(err.Error(), "by norms") {
		t.Errorf("a checkpoint of other norms: %v", err)
	}
	other.Norms = nil
	if sampledProgram(t, "sage", d, onDevices(t, 1), other).Digest() == whole.Digest() {
		t.Error("norms are not part of the digest")
	}
}

func TestSampledNormsRefuses(t *testing.T) {
	d := sampledGraph(t)
	for want, x := range map[string][]float32{"norms of 2 vertices": {1, 2}, "the norm of vertex 0 is -1": slices.Repeat([]float32{-1}, 600), "the norm of vertex 0 is NaN": slices.Repeat([]float32{float32(math.NaN())}, 600)} {
		s := byNorms(d, 60, 5, 3)
		s.Norms = x
		if _, err := saga.CompileSampled(sampledModel(t, "sage", d), d, sampledConfig(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s := byNorms(d, 60, 5, 3)
	s.Norms = make([]float32, 600) // equal ones
	if _, err := sampledProgram(t, "sage", d, sampledConfig(), s).Step(); err != nil {
		t.Error(err)
	}
}
