package saga_test

import (
	"slices"
	"strings"
	"testing"

	"sagann/device"
	"sagann/layers"
	"sagann/saga"
)

// Kernels read rows of features where they lie, but for products, which take those that they read; without that a step takes all rows.
// Losses and parameters are the same to the bit, and these rows take less memory. Where the device is the CPU batches come ahead as on a GPU.
func TestSampledInPlace(t *testing.T) {
	d := sampledGraph(t)
	const inner, deepest = 2, 3
	for _, x := range []struct {
		model   string
		dropout float32
		taken   int
	}{{"sage", 0, inner}, {"sage", 0.3, 0}, {"gcn", 0, 0}, {"gcn", 0.3, 0}, {"gin", 0, 0}, {"gin", 0.3, 0}, {"gat", 0, deepest}, {"gat", 0.3, 0}, {"mpgcn", 0, deepest}, {"ggcn", 0, deepest}} {
		m, err := layers.New(x.model, layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: 16, Layers: 2, Dropout: x.dropout})
		if err != nil {
			t.Fatal(err)
		}
		run := func(without ...string) (*saga.Program, []float64) {
			c := sampledConfig()
			c.Epochs, c.Without = 2, append([]string{"invariant"}, without...)
			p, err := saga.CompileSampled(m, d, c, sampling())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			})
			if c.Device == "" {
				if err := p.ComeAhead(); err != nil {
					t.Fatal(err)
				}
			}
			losses, _ := batchLosses(t, p, saga.TrainOptions{})
			return p, losses
		}
		all, want := run("in-place")
		p, got := run()
		if !slices.Equal(got, want) {
			t.Errorf("%s, dropout %v: losses %v, want %v", x.model, x.dropout, got, want)
		}
		sameParams(t, all, p)
		if n, m := p.TakenSets(), all.TakenSets(); !slices.Equal(n, []int{x.taken}) || !slices.Equal(m, []int{deepest}) {
			t.Errorf("%s, dropout %v: steps take rows of sets %v, and %v of all", x.model, x.dropout, n, m)
		}
		if less, more := p.RoomOf("features"), all.RoomOf("features"); (less < more) != (x.taken < deepest) || (less > 0) != (x.taken > 0) {
			t.Errorf("%s, dropout %v: features have %d bytes beside their table, where all rows are taken %d", x.model, x.dropout, less, more)
		}
	}
}

// takingGPU notes how many rows are copied from tables, and how many gathers read by the list of vertices that they are copied by.
type takingGPU struct {
	boundGPU
	rows    *[]uint64
	list    *uint64
	gathers *int
}

func (d takingGPU) Prepare(list []device.Command) (device.Batch, error) {
	for _, c := range list {
		switch {
		case c.Call == nil:
		case c.Call.Func.Name() == "saga_take":
			*d.rows, *d.list = append(*d.rows, c.Call.Args[3]), c.Call.Args[2]
		case strings.HasPrefix(c.Call.Func.Name(), "gather") && slices.Contains(c.Call.Args, *d.list):
			*d.gathers++
		}
	}
	return d.boundGPU.Prepare(list)
}

func (d takingGPU) Launch(q device.Queue, k device.Kernel) error {
	if _, err := k.(device.GPUKernel).Batch(d); err != nil {
		return err
	}
	return d.nullGPU.Launch(q, k)
}

// On a GPU gcn copies no row of features. Sage copies the rows of the inner vertices, fewer than all, and its first gather reads
// the others by the list that these are taken by.
func TestSampledTakes(t *testing.T) {
	d := sampledGraph(t)
	taken := func(name string, without ...string) (rows []uint64, gathers int) {
		m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: 16, Layers: 2})
		if err != nil {
			t.Fatal(err)
		}
		c := sampledConfig()
		c.Device, c.Without, c.Optimizer.ClipNorm = "cuda", append([]string{"invariant"}, without...), 0
		p, err := saga.CompileSampled(m, d, c, sampling())
		if err != nil {
			t.Fatal(err)
		}
		inner, err := device.NewNull(0, p.DeviceBytes())
		if err != nil {
			t.Fatal(err)
		}
		calls, released, list := 0, 0, ^uint64(0)
		if err := p.OpenOn([]device.Device{takingGPU{boundGPU{nullGPU{inner}, &calls, &released}, &rows, &list, &gathers}}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := p.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		return rows, gathers
	}
	all, by0 := taken("sage", "in-place")
	inner, by := taken("sage")
	none, _ := taken("gcn")
	if len(all) != 3 || len(inner) != 3 || len(none) != 0 || by0 != 0 || by != 3 {
		t.Fatalf("steps copy %d, %d and %d rows, and %d and %d gathers read by the list", all, inner, none, by0, by)
	}
	for i, n := range inner {
		if n == 0 || n >= all[i] {
			t.Errorf("step %d copies %d of %d rows", i, n, all[i])
		}
	}
}
