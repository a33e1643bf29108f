package batches

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"sagann/sample"
)

// Order says which items each batch of an epoch has.
type Order struct {
	d *Draws // one of the fields below is set

	items    []uint32      // shuffled; batch i has Setting.Batch of them from i*Setting.Batch on
	clusters [][]uint32    // with Clusters: the vertices of each batch
	chosen   []chosenItems // with Norms: the items of each batch
}

// Order draws the order of an epoch. It depends on seed and epoch alone.
func (d *Draws) Order(epoch int) (*Order, error) {
	if d.Clusters != nil {
		list, err := sample.Clusters(d.Clusters, d.Batch, sample.Key{Seed: d.Seed, Epoch: uint32(epoch)})
		return &Order{d: d, clusters: list}, err
	}
	if d.Norms != nil {
		list, err := d.by.choose(d, epoch)
		return &Order{d: d, chosen: list}, err
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "batches of epoch %d", epoch)
	r := rand.New(rand.NewPCG(d.Seed, h.Sum64()))
	out := make([]uint32, len(d.items))
	copy(out, d.items)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return &Order{d: d, items: out}, nil
}

// Items are the items of a batch, and how often each counts in the loss; nil: once.
func (o *Order) Items(batch int) (items []uint32, counts []float32) {
	switch {
	case o.chosen != nil:
		return o.chosen[batch].items, o.chosen[batch].counts
	case o.clusters != nil:
		return slices.DeleteFunc(slices.Clone(o.clusters[batch]), func(v uint32) bool { return !o.d.clusters.items[v] }), nil
	}
	n := o.d.Batch
	return o.items[batch*n : min(len(o.items), (batch+1)*n)], nil
}

// weight is the weight of the items of a batch. If norms choose them, it is the mean weight of so many items.
func (o *Order) weight(batch int) float64 {
	if o.chosen != nil {
		return o.d.by.weight * float64(o.d.by.draws(o.d, batch)) / float64(len(o.d.items))
	}
	items, _ := o.Items(batch)
	return o.d.Weight(items)
}

// total is the weight of the items of the update that contains a batch.
func (o *Order) total(batch int) (sum float64) {
	update := batch / o.d.Parts
	for r := range o.d.PartsAt(update) {
		sum += o.weight(update*o.d.Parts + r)
	}
	return sum
}

// inClusters sets the seeds of b, a batch of clusters, to all vertices of the clusters, items first.
func (o *Order) inClusters(b *blocks, batch int) {
	b.seeds = append(b.seeds[:0], b.items...)
	for _, v := range o.clusters[batch] {
		if !o.d.clusters.items[v] {
			b.seeds = append(b.seeds, v)
		}
	}
}
