package sample

import (
	"errors"
	"fmt"

	"sagann/device"
	"sagann/sample/cuda"
)

// TwoHopGPU is a TwoHop on a GPU, with one graph and its features.
type TwoHopGPU struct {
	t        *TwoHop
	vertices int
	on       *cuda.Embedding
}

// OnGPU copies the graph, the features of all vertices (V×cols) and the matrices to a GPU. The GPU
// must stay open until Close. It takes memory for at most most sources per call of Embed, which
// embeds batch sources at a time; 0: it chooses.
func (t *TwoHop) OnGPU(d device.GPU, g *Graph, x []float32, cols, most, batch int) (*TwoHopGPU, error) {
	if err := t.check(cols); err != nil {
		return nil, err
	}
	if len(x) != g.Vertices()*cols {
		return nil, errors.New("features have not a row for each vertex")
	}
	on, err := cuda.Upload(d, cuda.Rows{Offsets: g.Offsets, Far: g.Far}, cuda.Needs{Far: true})
	if err != nil {
		return nil, fmt.Errorf("embedding on %v: %w", d.Info(), err)
	}
	h := &cuda.Hops{Children: t.Children, Leaves: t.Leaves, Cols: cols, Self: t.SelfNeighbour, Half: t.BF16, Batch: batch,
		Wf1: cuda.Matrix(t.Wf1), Wa1: cuda.Matrix(t.Wa1), Wf2: cuda.Matrix(t.Wf2), Wa2: cuda.Matrix(t.Wa2)}
	e, err := cuda.NewEmbedding(on, h, x, most)
	if err != nil {
		return nil, fmt.Errorf("embedding on %v: %w", d.Info(), err)
	}
	return &TwoHopGPU{t, g.Vertices(), e}, nil
}

// Embed is TwoHop.Embed with the same draws. Sums are in another order, so rows equal those of the CPU
// up to rounding. The bits of a row do not depend on the size of batches.
func (x *TwoHopGPU) Embed(sources []uint32, key Key, out []float32) error {
	if err := x.t.sources(sources, x.vertices, out); err != nil {
		return err
	}
	k := key.stream()
	return x.on.Embed(sources, k.k0, k.k1, out)
}

// Rows returns host memory for the rows of so many sources, as the argument out of Embed. The GPU copies
// fast to it. It is valid until Close.
func (x *TwoHopGPU) Rows(sources int) ([]float32, error) { return x.on.Rows(sources) }

// Batch is the number of sources that are embedded at a time.
func (x *TwoHopGPU) Batch() int { return x.on.Batch() }

// Close frees the memory. The GPU stays open.
func (x *TwoHopGPU) Close() error { return x.on.Free() }
