package sample

import (
	"errors"
	"fmt"
	"testing"

	"sagann/device"
	"sagann/device/cudatest"
)

// TestGPUsSteps: samples that several GPUs share are the CPU's, whatever the number of samples.
func TestGPUsSteps(t *testing.T) {
	g := mustGraph(t, randomEdges(60, 400, 7))
	gpus := []device.GPU{cudatest.Open(t, 0, 1<<20), cudatest.Open(t, 1, 1<<20)}
	for _, s := range []Sampler{DeepWalk(5), PPR(0.2), Layer(4, 12)} {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		x, err := p.OnGPUs(gpus)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 25} {
			key, roots := Key{Seed: 3}, p.Roots(n, 9, Key{Seed: 2})
			var want, got Samples
			if err := errors.Join(p.Run(&want, roots, 9, key), x.Run(&got, roots, 9, key), x.Draw(roots, 9, key)); err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got.N, got.Steps, got.Widths) != fmt.Sprint(want.N, want.Steps, want.Widths) {
				t.Errorf("%s: %d samples differ from the CPU's:\n%v\n%v", s.Name, n, got, want)
			}
		}
		if err := x.Run(&Samples{}, []uint32{99}, 0, Key{}); err == nil {
			t.Errorf("%s: a root that is no vertex", s.Name)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}
