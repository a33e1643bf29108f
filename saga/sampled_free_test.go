package saga_test

import (
	"errors"
	"testing"

	"sagann/backend"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/saga"
	"sagann/sample"
)

// fewGPUs are GPUs with so much free memory, by number.
type fewGPUs []int64

func (g fewGPUs) GPUs() int                              { return len(g) }
func (fewGPUs) Name(int) (string, error)                 { return "test", nil }
func (fewGPUs) Bus(int) (string, error)                  { return "", nil }
func (fewGPUs) Peer(int, int) (device.PeerAccess, error) { return 0, nil }
func (g fewGPUs) Card(i int) (device.Card, error) {
	return device.Card{Total: 1 << 37, Free: g[i]}, nil
}

// Without Config.Mem sampled training takes what is free on the GPUs that it opens: rows of features stay in host memory where
// that is little, and a budget error says so where it is too little.
func TestSampledFree(t *testing.T) {
	cuda := backend.Of("cuda")
	was := cuda.System
	t.Cleanup(func() { cuda.System = was })
	d := mustSynthetic(t, "vertices=40000,edges=80000,features=64,classes=3,seed=4")
	compile := func(spec string, mem int64, free ...int64) (*saga.SampledPlan, error) {
		cuda.System = func() (device.System, error) { return fewGPUs(free), nil }
		c := saga.Config{Device: spec, Mem: mem, Without: []string{"invariant"}, Optimizer: saga.Optimizer{Kind: "sgd"}}
		p, err := saga.CompileSampled(sampledModel(t, "sage", d), d, c, saga.Sampling{Sampler: sample.Neighbours(3, 2), Batch: 200})
		if err != nil {
			return nil, err
		}
		return p.SampledPlan(), nil
	}
	const table = 40000 * 64 * 4
	all, err := compile("cuda", 0, 1<<36)
	if err != nil || all.Tables != table {
		t.Fatalf("%+v, %v", all, err)
	}
	var small *plan.BudgetError
	if _, err := compile("cuda", 0, 1<<20); !errors.As(err, &small) || small.Budget != 1<<20 {
		t.Fatalf("%v", err)
	}
	least := small.Smallest
	for _, x := range []struct {
		spec string
		mem  int64
		free []int64
		far  bool
	}{
		{"cuda", 0, []int64{least + table/2}, true},
		{"cuda", 0, []int64{least + 4*table, 1}, false}, // the other GPU is not opened
		{"cuda:0,1", 0, []int64{1 << 36, least + table/2}, true},
		{"cuda", least + 4*table, []int64{1}, false}, // as it is told
	} {
		s, err := compile(x.spec, x.mem, x.free...)
		if err != nil {
			t.Errorf("%+v: %v", x, err)
		} else if (s.Tables < table) != x.far {
			t.Errorf("%+v: %d bytes of rows on the device, at most %d", x, s.Tables, table)
		}
	}
}
