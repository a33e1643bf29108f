package sample

import (
	"errors"
	"fmt"
	"testing"

	"sagann/device/nvrtc"
)

// streaming are samplers that are drawn where the graph's edges stay on the host.
func streaming() []Sampler {
	cut := PPR(0.1)
	cut.Steps = 6
	back := Sampler{Name: "back", Steps: 5, Next: func(s Sample, at Pool, r Rand) Int {
		i := r.Pick(at)
		return If(Equal(at.Neighbour(i), s.Prev(1)), r.Pick(at), i)
	}}
	return []Sampler{{Name: "trees", Steps: 3, Size: func(step int) int { return 4 - step }}, DeepWalk(9), cut, back}
}

// TestGPUStreams: a GPU that is too small for the graph, or an emulated one, draws what the CPU draws, in pieces that end anywhere.
func TestGPUStreams(t *testing.T) {
	gpu := openGPU(t, 16<<10, 2<<20)
	e := randomEdges(300, 3200, 5)
	if gpu.Info().Processors > 1 { // of which each counts for itself
		e = randomEdges(5000, 500_000, 5)
	}
	e.Weight = nil
	g := mustGraph(t, e)
	for _, s := range streaming() {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		x, err := p.OnGPU(gpu)
		if err != nil {
			t.Fatal(err)
		}
		if !x.Streams() {
			t.Fatalf("%s: the graph lies on a GPU of %d bytes", s.Name, gpu.Info().Budget)
		}
		key, roots := Key{Seed: 5, Epoch: 1}, p.Roots(350, 7, Key{Seed: 1})
		var want, got Samples
		if err := errors.Join(p.Run(&want, roots, 7, key), x.Run(&got, roots, 7, key)); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.N, got.Steps, got.Widths) != fmt.Sprint(want.N, want.Steps, want.Widths) {
			t.Errorf("%s: other samples than the CPU's", s.Name)
		}
		if sum, err := x.Sum(roots, 7, key); err != nil || sum != want.Sum(7) {
			t.Errorf("%s: the sum of the samples is %x, want %x: %v", s.Name, sum, want.Sum(7), err)
		}
		passes, err := x.Passes(roots, false)
		if err != nil {
			t.Fatal(err)
		}
		planned, before := int64(0), gpu.Counters().H2D
		for _, p := range passes {
			planned += p.In
		}
		if _, err := x.Sum(roots, 7, key); err != nil {
			t.Fatal(err)
		}
		if moved := gpu.Counters().H2D - before; moved > planned+1000 || moved < planned*8/10 { // a step of few samples may leave out an interval
			t.Errorf("%s: %d bytes came to the GPU, planned were %d", s.Name, moved, planned)
		}
		for _, text := range x.stream.Sources() {
			if err := nvrtc.Check(text, 75); err != nil && !errors.Is(err, nvrtc.ErrMissing) {
				t.Errorf("%s: %v\n%s", s.Name, err, text)
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []Sampler{Node2vec(3, 2, 0.5), MultiRW(2, 3), PPR(0.5)} {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		x, err := p.OnGPU(gpu)
		if err != nil {
			continue // it does not fit
		}
		if x.Streams() {
			t.Errorf("%s reads more than the rows of transits, and streams", s.Name)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
