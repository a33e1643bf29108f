package cuda

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/device"
	"sagann/layers"
	"sagann/saga"
)

// needGPU skips where no GPU can be opened.
func needGPU(t *testing.T) {
	t.Helper()
	d, err := device.OpenCUDA(0, 1<<20)
	if err != nil {
		t.Skip(err)
	}
	d.Close()
}

// losses trains model name for some epochs and returns the loss of each.
func losses(t *testing.T, name string, d *dataset.Data, c saga.Config, epochs int) []float64 {
	t.Helper()
	m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: 32, Classes: d.Classes, Layers: 2, Heads: 4,
		Dropout: 0.3, EdgeData: d.Edges.DataCols, EdgeTypes: d.Edges.Types})
	if err != nil {
		t.Fatal(err)
	}
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for range epochs {
		l, err := p.Step()
		if err != nil {
			t.Fatal(errors.Join(err, p.Close()))
		}
		out = append(out, l)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return out
}

func graph(t *testing.T) *dataset.Data {
	s := dataset.DefaultSpec()
	s.Vertices, s.Edges, s.Features, s.Classes = 3000, 40000, 50, 7
	d, err := dataset.Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	e := d.Edges
	e.Types, e.Type = 3, make([]uint32, e.E())
	e.DataCols, e.Data = 2, make([]float32, 2*e.E())
	for i := range e.Type {
		e.Type[i] = uint32(i*7+i/5) % 3
		e.Data[2*i], e.Data[2*i+1] = float32(i%11)/11, float32(i%5)/5
	}
	return d
}

// parted is the first of two runs' epochs whose losses part, from the twentieth on: by
// then what a sum rounds decides in some models what a maximum or a small gradient does.
func parted(a, b []float64) int {
	for i := 20; i < len(a); i++ {
		if !(math.Abs(a[i]-b[i]) <= 1e-4*math.Abs(a[i])) {
			return i
		}
	}
	return len(a)
}

// apart is the largest relative difference of two runs, infinite where one has no number.
func apart(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		x := math.Abs(a[i]-b[i]) / math.Abs(a[i])
		if math.IsNaN(x) {
			return math.Inf(1)
		}
		worst = max(worst, x)
	}
	return worst
}

// TestAgree trains every model on the CPU and on the GPU, whole and streamed: losses of the
// GPU agree with those of some plan on the CPU in the first epochs, and for as many of fifty epochs
// as the CPU's own do of two plans, for twenty at least; two runs on the GPU have the same bits.
// In some models what one plan rounds otherwise than another grows with every epoch: an edge's score
// that one sum puts below 0 and another above gives the weights another gradient. One plan on the CPU
// can stand alone in that, so two plans are compared, and four where they do not tell; where even
// these are further apart within the twenty epochs, the GPU may be as far from them as they from each other.
func TestAgree(t *testing.T) {
	needGPU(t)
	d := graph(t)
	const epochs, first = 50, 3
	for _, name := range layers.Names() {
		t.Run(name, func(t *testing.T) {
			plans := []saga.Config{{Chunks: 1, Seed: 1}, {Chunks: 4, Stream: true, Seed: 1}, {Chunks: 3, Seed: 1}, {Chunks: 5, Seed: 1}}
			var host [][]float64
			most := epochs
			plan := func() { // one more on the CPU
				c := plans[len(host)]
				c.Device = "cpu"
				x := losses(t, name, d, c, epochs)
				for _, other := range host {
					most = min(most, parted(x, other))
				}
				host = append(host, x)
			}
			plan()
			plan()
			for _, c := range plans[:2] {
				c.Device = "cuda"
				gpu, again := losses(t, name, d, c, epochs), losses(t, name, d, c, epochs)
				for i := range gpu {
					if gpu[i] != again[i] {
						t.Errorf("P=%d epoch %d: losses %v and %v of two runs", c.Chunks, i+1, gpu[i], again[i])
						break
					}
				}
				nearest := func(n int) float64 { // in the first n epochs
					least := math.Inf(1)
					for _, x := range host {
						least = min(least, apart(x[:n], gpu[:n]))
					}
					return least
				}
				for !(nearest(most) <= 1e-3) && len(host) < len(plans) {
					plan()
				}
				spread := 0.0 // of the plans on the CPU, in these epochs
				for i, x := range host {
					for _, other := range host[:i] {
						spread = max(spread, apart(x[:most], other[:most]))
					}
				}
				t.Logf("P=%d: largest relative difference from the nearest of %d plans on the CPU %.2g in %d epochs, %.2g in %d, of these plans %.2g in %d; last loss %.6f",
					c.Chunks, len(host), nearest(first), first, nearest(most), most, spread, most, gpu[epochs-1])
				if !(nearest(first) <= 1e-5 && nearest(most) <= max(1e-3, spread)) {
					t.Errorf("P=%d: CPU %v\nGPU %v", c.Chunks, host, gpu)
				}
			}
		})
	}
}

// TestSlices: gathers of half the columns at a time give on the GPU what they give on the
// CPU, whole and streamed, float32 and, for as many epochs as TestStorage, bfloat16.
func TestSlices(t *testing.T) {
	needGPU(t)
	d := graph(t)
	for _, name := range []string{"gcn", "commnet", "ggcn", "resgated", "mpgcn", "ggnn", "sage"} {
		for _, c := range []saga.Config{{Chunks: 1}, {Chunks: 3, Stream: true}, {Chunks: 3, Stream: true, Storage: saga.StorageBF16}} {
			c.Seed, c.Outcome.Slices, c.Device = 1, 2, "cpu"
			epochs := 10
			if c.Storage == saga.StorageBF16 {
				epochs = 5
			}
			cpu := losses(t, name, d, c, epochs)
			c.Device = "cuda"
			if gpu := losses(t, name, d, c, epochs); !(apart(cpu, gpu) <= 1e-3) {
				t.Errorf("%s, P=%d, %s: CPU %v\nGPU %v", name, c.Chunks, c.Storage, cpu, gpu)
			}
		}
	}
}

// TestPredict: what a GPU predicts, within no bound and within the smallest that is named,
// is what the CPU does; what kernels and context take is counted.
func TestPredict(t *testing.T) {
	needGPU(t)
	d := graph(t)
	m, err := layers.New("gcn", layers.Options{Features: d.FeatureCols, Hidden: 32, Classes: d.Classes, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "c.safetensors")
	p, err := saga.Compile(m, d, saga.Config{Device: "cuda", Seed: 1})
	if err == nil {
		_, err = p.Step()
	}
	if err == nil {
		err = p.Save(path, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	live, _, err := p.Predict()
	if err = errors.Join(err, p.Close()); err != nil {
		t.Fatal(err)
	}
	want, _, err := saga.Predict(m, d, saga.Config{}, path)
	if err != nil {
		t.Fatal(err)
	}
	var small *plan.BudgetError
	if _, _, err := saga.Predict(m, d, saga.Config{Device: "cuda", Mem: 1}, path); !errors.As(err, &small) {
		t.Fatal(err)
	}
	for _, mem := range []int64{0, small.Smallest} {
		got, _, err := saga.Predict(m, d, saga.Config{Device: "cuda", Mem: mem}, path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-3 || mem == 0 && got[i] != live[i] {
				t.Fatalf("number %d is %v, live %v, on the CPU %v", i, got[i], live[i], want[i])
			}
		}
	}
}
