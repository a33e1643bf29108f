package batches

import (
	"reflect"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/saga/rows"
	"sagann/sample"
)

// TestKinds: for every kind, what an epoch has follows from seed and epoch alone, also over a graph that another program has
// opened; all items but those chosen by norms come once; no two kinds have the same words.
func TestKinds(t *testing.T) {
	data, err := dataset.Synthetic(dataset.Spec{Vertices: 300, Edges: 1500, Features: 4, Classes: 3, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	in := rows.New(data, data.Edges, rows.Meaning{}, false)
	clusters, norms := make([]uint32, 300), make([]float32, 300)
	for v := range clusters {
		clusters[v], norms[v] = uint32(v%10), float32(v%4)
	}
	job := func(seed uint64) Job {
		return Job{In: in, Task: dataset.VertexLabels, Depth: 2, Seed: seed, Without: func(string) bool { return false }}
	}
	neighbours := sample.Neighbours(3, 2)
	texts := map[string]string{}
	for name, x := range map[string]struct {
		s    Setting
		all  int // batches of an epoch
		once bool
	}{
		"shuffled": {Setting{Sampler: neighbours, Batch: 7, Parts: 2}, (len(data.Train) + 6) / 7, true},
		"clusters": {Setting{Sampler: sample.ClusterGCN(), Batch: 3, Parts: 1, Clusters: clusters}, 4, true},
		"norms":    {Setting{Sampler: neighbours, Batch: 7, Parts: 1, Norms: norms}, (len(data.Train) + 6) / 7, false},
	} {
		j := job(9)
		if err := x.s.Check(&j, nil); err != nil {
			t.Fatal(name, err)
		}
		if other := texts[x.s.Text()]; other != "" {
			t.Errorf("%s and %s have the words %q", name, other, x.s.Text())
		}
		texts[x.s.Text()] = name
		d, err := New(j, x.s, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		again, err := New(job(9), x.s, d.Graph())
		if err != nil {
			t.Fatal(name, err)
		}
		if d.Count() != x.all {
			t.Errorf("%s: %d batches, want %d", name, d.Count(), x.all)
		}
		epoch := func(d *Draws, n int) (list [][]uint32) {
			o, err := d.Order(n)
			if err != nil {
				t.Fatal(name, err)
			}
			for i := range d.Count() {
				items, counts := o.Items(i)
				if (counts == nil) != x.once || counts != nil && len(counts) != len(items) {
					t.Errorf("%s: %d items count %v", name, len(items), counts)
				}
				list = append(list, items)
			}
			return list
		}
		first := epoch(d, 0)
		if !reflect.DeepEqual(first, epoch(again, 0)) {
			t.Errorf("%s: two programs draw other batches of one epoch", name)
		}
		if reflect.DeepEqual(first, epoch(d, 1)) {
			t.Errorf("%s: two epochs have the same batches", name)
		}
		items := slices.Concat(first...)
		slices.Sort(items)
		if want := slices.Sorted(slices.Values(data.Train)); x.once && !slices.Equal(items, want) {
			t.Errorf("%s: an epoch has %d items, want each of %d once", name, len(items), len(want))
		}
	}
}
