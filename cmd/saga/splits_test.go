package main

import (
	"path/filepath"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// TestShardSplits: a rank that opens one of two shards knows the whole splits, so it says nothing of one that is empty, and refuses to
// wait for its loss.
func TestShardSplits(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "shards")
	whole, _, err := dataset.WriteShards(dataset.Sharding{Conversion: dataset.Conversion{From: "karate", Out: out}, Owners: 2})
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.OpenShards(out, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Shard.Close()
	for i, part := range whole.Splits(saga.VertexTask) {
		if n := len(d.Splits(saga.VertexTask)[i]); n != len(part) || n == 0 {
			t.Errorf("split %d has %d members, a rank knows %d", i, len(part), n)
		}
	}
	j, s := &job{data: d}, &settings{}
	s.Training.Patience = 2
	if !j.has(1) || j.waits(s, len(d.Val)) != nil {
		t.Error("the validation split is not seen")
	}
	if d.Val = nil; j.has(1) || j.waits(s, 0) == nil {
		t.Error("an empty validation split is scored")
	}
}
