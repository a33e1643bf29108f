package sample

import (
	"errors"
	"testing"

	"sagann/device"
	"sagann/device/cudatest"
	"sagann/device/devicetest"
	"sagann/internal/draw"
)

// onGPU draws walks, walks without a bound, samples that grow, blocks of edges and of visits, and walks of a graph that is too large, and returns the
// first error, with those of giving back.
func onGPU(gpu device.GPU, g, large *Graph) (err error) {
	for i, s := range []Sampler{DeepWalk(3), PPR(0.3), Neighbours(2, 2), PinSAGE(1, 2, 2, 2), Layer(2, 4), DeepWalk(2)} {
		if i == 5 {
			g = large
		}
		p, err := Compile(g, s)
		if err != nil {
			return err
		}
		x, err := p.OnGPU(gpu)
		if err != nil {
			return err
		}
		if s.Output == Steps {
			var drawn Samples
			err = x.Run(&drawn, []uint32{1, 2, 3}, 0, Key{})
		} else {
			var b Blocks
			err = errors.Join(x.Blocks(&b, []uint32{1, 2}, Key{}), x.Blocks(&b, []uint32{1, 2, 3}, Key{}))
		}
		if err = errors.Join(err, x.Close()); err != nil {
			return err
		}
	}
	return nil
}

// hopOnGPU embeds in several batches, twice, and returns the first error, with those of giving back.
func hopOnGPU(gpu device.GPU, g *Graph) error {
	hop := TwoHop{Children: 3, Leaves: 2}
	hop.Random(4, 4, 1)
	features, sources := make([]float32, 4*g.Vertices()), []uint32{1, 2, 3, 4, 5}
	on, err := hop.OnGPU(gpu, g, features, 4, len(sources), 2)
	if err != nil {
		return err
	}
	rows, err := on.Rows(len(sources))
	for range 2 {
		if err == nil {
			err = on.Embed(sources, Key{}, rows)
		}
	}
	return errors.Join(err, on.Close())
}

// TestGPUFaults fails every call of a GPU in turn, at once and when it runs: the error
// comes back, and all memory is given back. make test fails about three calls of each kind, make soak all.
func TestGPUFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("calls of a device fail one after the other")
	}
	g := mustGraph(t, randomEdges(20, 60, 4))
	edges := randomEdges(200, 14_000, 4)
	edges.Weight = nil
	large := mustGraph(t, edges)
	t.Run("samples", func(t *testing.T) {
		everyFault(t, func(gpu device.GPU) error { return onGPU(gpu, g, large) })
	})
	t.Run("embedding", func(t *testing.T) { everyFault(t, func(gpu device.GPU) error { return hopOnGPU(gpu, g) }) })
}

// everyFault calls f with GPUs that fail one call.
func everyFault(t *testing.T, f func(device.GPU) error) {
	t.Helper()
	devicetest.EveryFault(t, draw.Soak(), func() device.GPU { return cudatest.Open(t, 0, 64<<10) }, f, func(err error) bool { return err != nil })
}
