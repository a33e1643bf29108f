package saga_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"sagann/sample"

	"sagann/dataset"
	"sagann/saga"
)

// TestWhyHostDraws: where the host draws for a GPU, the plan says why. Nothing is opened.
func TestWhyHostDraws(t *testing.T) {
	loops := func(d *dataset.Data, of sample.Sampler) sample.Sampler {
		for range 17 {
			d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, 7), append(d.Edges.Dst, 7)
		}
		of.KeepLoops = true
		return of
	}
	for _, x := range []struct {
		what, want string // part of the reason; "": the GPU draws
		change     func(d *dataset.Data, c *saga.Config, s *saga.Sampling)
	}{
		{"as it is", "", func(*dataset.Data, *saga.Config, *saga.Sampling) {}},
		{"a CPU", "", func(_ *dataset.Data, c *saga.Config, _ *saga.Sampling) { c.Device = "cpu" }},
		{"17 loops", "a vertex has 17 edges to itself; with KeepLoops a GPU takes at most 16", func(d *dataset.Data, _ *saga.Config, s *saga.Sampling) { s.Sampler = loops(d, s.Sampler) }},
		{"little memory", "the memory has no room for the", func(d *dataset.Data, c *saga.Config, _ *saga.Sampling) { c.Mem = leastSampled(t, "sage", d, *c) }},
		{"left out", "left out", func(_ *dataset.Data, c *saga.Config, _ *saga.Sampling) { c.Without = append(c.Without, "draw") }},
		{"levels that draw together", "blocks that stay on the GPU are of neighbours", func(_ *dataset.Data, _ *saga.Config, s *saga.Sampling) { s.Sampler = sample.LayerBlocks(64, 64) }},
	} {
		t.Run(x.what, func(t *testing.T) {
			d, c, s := sampledGraph(t), sampledConfig(), sampling()
			c.Device, c.Without = "cuda", []string{"invariant"}
			x.change(d, &c, &s)
			p := sampledProgram(t, "sage", d, c, s)
			z := p.SampledPlan()
			if !strings.Contains(z.Host, x.want) || x.want == "" && z.Host != "" || z.Drawn != (x.want == "" && c.Device != "cpu") {
				t.Errorf("drawn there %t, by the host: %q, want %q", z.Drawn, z.Host, x.want)
			}
			t.Logf("%q", z.Host)
			var text strings.Builder
			if err := p.Overview(&text); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(text.String(), "draws     on the host: "); got != min(1, len(x.want)) {
				t.Errorf("the plan says so %d times:\n%s", got, &text)
			}
		})
	}
}

// Of batches that are prepared ahead there are as many as half the free memory holds, which changes no bit. Where it does not hold the fewest,
// a session is refused with what they take.
func TestSampledHostFree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	d := sampledGraph(t)
	run := func(free int64) (*saga.Program, []float64) {
		p := sampledProgram(t, "sage", d, sampledConfig(), sampling())
		if err := p.ComeAhead(); err != nil {
			t.Fatal(err)
		}
		saga.HostFree(p, free)
		losses, _ := batchLosses(t, p, saga.TrainOptions{})
		return p, losses
	}
	all, want := run(0)
	n := saga.BatchBytes(all)
	few, got := run(n / 2)
	if m := saga.BatchBytes(few); m > n/4 || m < 3*n/17 {
		t.Errorf("%d bytes of batches where %d are free, %d where this is not known", m, n/2, n)
	}
	if !slices.Equal(got, want) {
		t.Errorf("losses %v, want %v", got, want)
	}
	p := sampledProgram(t, "sage", d, sampledConfig(), sampling())
	if err := p.ComeAhead(); err != nil {
		t.Fatal(err)
	}
	saga.HostFree(p, n/17)
	if _, err := p.Step(); err == nil || !strings.Contains(err.Error(), "of host memory, of which") {
		t.Errorf("with memory for one batch: %v", err)
	}
}
