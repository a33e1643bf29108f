package saga_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/saga"
	"sagann/sample"
)

// Batches of clusters: an epoch has every training vertex once; one batch of all clusters is the full graph's step; runs go
// on bit for bit, with clusters that have no training vertex, too.
func TestSampledClusters(t *testing.T) {
	d := sampledGraph(t)
	g, err := sample.NewGraph(d.Edges)
	if err != nil {
		t.Fatal(err)
	}
	clusters, err := sample.Partition(g, 12)
	if err != nil {
		t.Fatal(err)
	}
	by := func(each int) saga.Sampling {
		return saga.Sampling{Sampler: sample.ClusterGCN(), Batch: each, Clusters: clusters}
	}
	for _, name := range []string{"sage", "gcn", "gat"} {
		m := sampledModel(t, name, d)
		p, err := saga.Compile(m, d, sampledConfig())
		want, _ := trained(t, p, err, 3)
		p, err = saga.CompileSampled(m, d, sampledConfig(), by(12))
		if got, _ := trained(t, p, err, 3); far(got, want) > 1e-5 {
			t.Errorf("%s: losses of all clusters %v, of the full graph %v", name, got, want)
		}
	}
	p := sampledProgram(t, "sage", d, sampledConfig(), by(5))
	var items []uint32
	for range 3 {
		if _, err := p.Step(); err != nil {
			t.Fatal(err)
		}
		for _, v := range p.Seeds() {
			if slices.Contains(d.Train, v) {
				items = append(items, v)
			}
		}
	}
	slices.Sort(items)
	if !slices.Equal(items, slices.Sorted(slices.Values(d.Train))) {
		t.Error("an epoch does not have every training vertex once")
	}
	// the training vertices in four of twelve clusters
	few := *d
	few.Train = slices.DeleteFunc(slices.Clone(d.Train), func(v uint32) bool { return clusters[v] > 3 })
	want, r := batchLosses(t, sampledProgram(t, "sage", &few, sampledConfig(), by(2)), saga.TrainOptions{})
	if len(want) != 24 || !(r.Loss < want[0]+want[1]) {
		t.Errorf("losses %v", want)
	}
	path := filepath.Join(t.TempDir(), "c.safetensors")
	for _, stop := range []int{1, 6, 11} {
		q := sampledProgram(t, "sage", &few, sampledConfig(), by(2))
		for range stop {
			if _, err := q.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Save(path, ""); err != nil {
			t.Fatal(err)
		}
		rest, again := batchLosses(t, sampledProgram(t, "sage", &few, sampledConfig(), by(2)), saga.TrainOptions{Resume: path})
		if !slices.Equal(rest, want[stop:]) || again.Final != r.Final {
			t.Errorf("after batch %d losses are %v, want %v", stop, rest, want[stop:])
		}
	}
	for _, x := range []struct {
		s    saga.Sampling
		want string
	}{
		{saga.Sampling{Sampler: sample.ClusterGCN(), Batch: 2}, "has no clusters"},
		{saga.Sampling{Sampler: sample.ClusterGCN(), Batch: 2, Clusters: clusters[:9]}, "clusters of 9 vertices"},
		{saga.Sampling{Sampler: sample.Neighbours(3, 3), Batch: 2, Clusters: clusters}, "clusters are for sample.ClusterGCN"},
		{saga.Sampling{Sampler: sample.ClusterGCN(), Batch: 2, Clusters: slices.Repeat([]uint32{700}, len(clusters))}, "is of cluster 700"},
	} {
		if _, err := saga.CompileSampled(sampledModel(t, "sage", d), d, sampledConfig(), x.s); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}
