package batches

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"sagann/dataset"
	"sagann/sample"
)

// normed chooses items by norms. An epoch makes n draws, with replacement, from the n items, a batch at a time. Items with
// larger norms are drawn more often and count less each time.
type normed struct {
	of   []float32 // by vertex
	d    *Draws
	list []float32 // norms of the items, scaled by normsOf
	all  float64   // weight of all items in the loss
}

func (k *normed) text(batch int) string {
	h := fnv.New32a()
	for _, x := range k.of {
		n := math.Float32bits(x)
		h.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	}
	return fmt.Sprintf(", batches of %d by norms (%08x)", batch, h.Sum32())
}

func (k *normed) check(_ *Setting, j *Job) error {
	d := j.In.Data
	switch {
	case len(k.of) != j.In.Edges.V:
		return fmt.Errorf("norms of %d vertices, and %s has %d", len(k.of), d.Name, j.In.Edges.V)
	case j.Task != dataset.VertexLabels:
		return fmt.Errorf("norms choose vertices, and batches are of %s", j.Task.Plural())
	case d.Shard != nil:
		return errors.New("norms choose among the vertices of the whole graph, and a shard has some of them")
	}
	for v, x := range k.of {
		if !(x >= 0) || math.IsInf(float64(x), 1) {
			return fmt.Errorf("the norm of vertex %d is %v: norms are finite, and 0 or more", v, x)
		}
	}
	return nil
}

func (k *normed) begin(d *Draws) { k.d, k.list, k.all = d, normsOf(k.of, d.items), d.Weight(d.items) }

func (k *normed) count() (all, full int) { return (&shuffled{k.d}).count() }

func (k *normed) exact() bool { return true }

func (k *normed) there() bool { return false }

// normsOf returns 1 + norm/mean for each item, where mean is the mean norm of the items; 1 for all if the mean is 0.
func normsOf(norms []float32, items []uint32) []float32 {
	list, sum := make([]float32, len(items)), 0.0
	for i, v := range items {
		list[i] = norms[v]
		sum += float64(norms[v])
	}
	mean := sum / float64(max(1, len(items)))
	if mean == 0 { // so are all norms
		mean = 1
	}
	for i := range list {
		list[i] = float32(float64(list[i])/mean) + 1
	}
	return list
}

// draws is how many items batch i of an epoch draws.
func (k *normed) draws(i int) int { return min(k.d.Batch, len(k.list)-i*k.d.Batch) }

func (k *normed) order(epoch int) (epochItems, error) {
	all, _ := k.count()
	o := &normedItems{k, make([]chosenItems, all)}
	for i := range o.chosen {
		n, key := k.draws(i), k.d.key(epoch)
		key.Batch = uint32(i)
		places, weights, err := sample.ByNorm(k.list, n, key)
		if err != nil {
			return nil, err
		}
		for j, at := range places {
			places[j] = k.d.items[at]
			weights[j] *= float32(n)
		}
		o.chosen[i] = chosenItems{places, weights}
	}
	return o, nil
}

// chosenItems are the items of a batch chosen by norms. counts is the weight of each in the loss: the number of times it
// was chosen, over n times its probability, where n is the number of all items.
type chosenItems struct {
	items  []uint32
	counts []float32
}

type normedItems struct {
	*normed
	chosen []chosenItems // by batch
}

func (o *normedItems) items(batch int) ([]uint32, []float32) {
	return o.chosen[batch].items, o.chosen[batch].counts
}

// weight is the mean weight of so many items as the batch draws.
func (o *normedItems) weight(batch int) float64 {
	return o.all * float64(o.draws(batch)) / float64(len(o.list))
}

func (o *normedItems) behind(int) []uint32 { return nil }
