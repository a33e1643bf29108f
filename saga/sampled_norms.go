package saga

import (
	"errors"
	"fmt"
	"math"

	"sagann/dataset"
	"sagann/sample"
)

// Seeds chosen by norms. An epoch makes n draws, with replacement, from the n training vertices, a batch at a time.
// Vertices with larger norms are drawn more often and count less each time.

// chosenItems are the items of a batch chosen by norms. counts is the weight of each in the loss: the number of times it
// was chosen, over n times its probability, where n is the number of training vertices.
type chosenItems struct {
	items  []uint32
	counts []float32
}

// norms are the norms of all items, scaled by normsOf, and the weight of all items in the loss.
type norms struct {
	list   []float32
	weight float64
}

// FeatureNorms returns the Euclidean norm of each vertex's row of features, for Sampling.Norms. It is nil if d has no
// features. Features that d makes late (Data.Late) are made for the norms and not kept.
func FeatureNorms(d *dataset.Data) []float32 {
	norms, rows, cols := make([]float32, d.Edges.V), d.Features, d.FeatureCols
	switch sparse := d.Late.Sparse; {
	case rows == nil && sparse != nil:
		for v := range norms {
			_, x := sparse.Row(v)
			norms[v] = length(x)
		}
		return norms
	case rows == nil && d.Late.Make != nil:
		rows = make([]float32, len(norms)*cols)
		d.Late.Make(func(v int) []float32 { return rows[v*cols : (v+1)*cols] })
	case rows == nil:
		return nil
	}
	for v := range norms {
		norms[v] = length(rows[v*cols : (v+1)*cols])
	}
	return norms
}

func length(row []float32) float32 {
	sum := 0.0
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	return float32(math.Sqrt(sum))
}

// checkNorms returns an error if s.Norms do not fit the data or the other settings.
func (p *Program) checkNorms(s *Sampling) error {
	switch {
	case s.Norms == nil:
		return nil
	case len(s.Norms) != p.in.Edges.V:
		return fmt.Errorf("norms of %d vertices, and %s has %d", len(s.Norms), p.data.Name, p.in.Edges.V)
	case s.Clusters != nil:
		return errors.New("norms choose vertices, and batches are of clusters: one of them")
	case p.dims.taskName() != VertexTask:
		return fmt.Errorf("norms choose vertices, and batches are of %s", things[p.dims.taskName()])
	case p.data.Shard != nil:
		return errors.New("norms choose among the vertices of the whole graph, and a shard has some of them")
	}
	for v, x := range s.Norms {
		if !(x >= 0) || math.IsInf(float64(x), 1) {
			return fmt.Errorf("the norm of vertex %d is %v: norms are finite, and 0 or more", v, x)
		}
	}
	return nil
}

// normsOf returns 1 + norm/mean for each item, where mean is the mean norm of the items; 1 for all if the mean is 0.
func normsOf(norms []float32, items []uint32) []float32 {
	list, sum := make([]float32, len(items)), 0.0
	for i, v := range items {
		list[i] = norms[v]
		sum += float64(norms[v])
	}
	mean := sum / float64(max(1, len(items)))
	for i := range list {
		if mean == 0 {
			mean = 1
		}
		list[i] = float32(float64(list[i])/mean) + 1
	}
	return list
}

// choose draws the items of all batches of an epoch by their norms.
func (s *sampled) choose(seed uint64, epoch int) ([]chosenItems, error) {
	list := make([]chosenItems, s.drawn())
	for i := range list {
		k := s.drawsOf(i)
		places, weights, err := sample.ByNorm(s.draw.by.list, k, sample.Key{Seed: seed, Epoch: uint32(epoch), Batch: uint32(i)})
		if err != nil {
			return nil, err
		}
		for j, at := range places {
			places[j] = s.draw.items[at]
			weights[j] *= float32(k)
		}
		list[i] = chosenItems{places, weights}
	}
	return list, nil
}

// drawsOf is how many items batch i of an epoch draws.
func (s *sampled) drawsOf(i int) int { return min(s.Batch, len(s.draw.items)-i*s.Batch) }

// count is how often item i counts in the loss.
func (b *drawn) count(i int) float64 {
	if b.counts == nil {
		return 1
	}
	return float64(b.counts[i])
}

// batchWeight is the weight of the items of a batch. If norms choose them, it is the mean weight of so many items.
func (p *Program) batchWeight(batch int, items []uint32) float64 {
	if s := p.sampled; s.Norms != nil {
		return s.draw.by.weight * float64(s.drawsOf(batch)) / float64(len(s.draw.items))
	}
	return p.itemWeights(items)
}
