package batches

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"sagann/dataset"
	"sagann/sample"
)

// clustered makes batches of clusters of vertices, in an order drawn for the epoch. The items of a batch are those of its
// clusters' vertices that are items; its seeds are all of them, items first.
type clustered struct {
	of   []uint32 // by vertex: its cluster
	d    *Draws
	n    int    // clusters
	item []bool // by vertex: it is an item
}

func (k *clustered) text(batch int) string {
	h := fnv.New32a()
	for _, c := range k.of {
		h.Write([]byte{byte(c), byte(c >> 8), byte(c >> 16), byte(c >> 24)})
	}
	return fmt.Sprintf(", batches of %d of %d clusters (%08x)", batch, slices.Max(k.of)+1, h.Sum32())
}

func (k *clustered) check(s *Setting, j *Job) error {
	switch {
	case s.Norms != nil:
		return errors.New("norms choose vertices, and batches are of clusters: one of them")
	case s.Sampler.Output != sample.Together || s.Sampler.Steps != 0:
		return fmt.Errorf("clusters are for sample.ClusterGCN, and the sampler is %s", s.Sampler.Name)
	case len(k.of) != j.In.Edges.V:
		return fmt.Errorf("clusters of %d vertices, and %s has %d", len(k.of), j.In.Data.Name, j.In.Edges.V)
	case j.Task != dataset.VertexLabels:
		return fmt.Errorf("batches of clusters are for labels of vertices, not of %s; --sample takes those", j.Task.Plural())
	}
	return nil
}

func (k *clustered) begin(d *Draws) {
	k.d, k.n, k.item = d, int(slices.Max(k.of))+1, make([]bool, d.In.Edges.V)
	for _, v := range d.items {
		k.item[v] = true
	}
}

func (k *clustered) count() (all, full int) {
	all = (k.n + k.d.Batch - 1) / k.d.Batch
	return all, all // clusters differ in size anyway
}

func (k *clustered) exact() bool { return false }

func (k *clustered) there() bool { return false }

func (k *clustered) order(epoch int) (epochItems, error) {
	list, err := sample.Clusters(k.of, k.d.Batch, k.d.key(epoch))
	return &clusteredItems{k, list}, err
}

// clusteredItems has, by batch, the vertices of its clusters.
type clusteredItems struct {
	*clustered
	vertices [][]uint32
}

func (o *clusteredItems) items(batch int) ([]uint32, []float32) {
	return slices.DeleteFunc(slices.Clone(o.vertices[batch]), func(v uint32) bool { return !o.item[v] }), nil
}

func (o *clusteredItems) weight(batch int) float64 {
	items, _ := o.items(batch)
	return o.d.Weight(items)
}

func (o *clusteredItems) behind(batch int) []uint32 {
	return slices.DeleteFunc(slices.Clone(o.vertices[batch]), func(v uint32) bool { return o.item[v] })
}
