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

// TestSharesRead: shares of --split and --split-time are read to the end of the text: what stands behind them is not passed over.
func TestSharesRead(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"0.6,0.2": true, " 0.6 , 2e-1": true, "0.6,0.2,0.2": true, "0.6,0.2,0.1": false, "0.6,0.2,0.1,0.1": false, "0.6,0.2x": false, "0.6,0.2,": false,
		"0.6,": false, "0.6": false, "0.6,0.4": false, "NaN,0.1": false, "0.1,NaN": false, "Inf,0.1": false, "0.6,-0.2": false, "0.6,0.2,nosuch": false, "0.6 0.2": false} {
		d, err := parseSplit(text)
		if (err == nil) != ok || ok && (d.train != 0.6 || d.val != 0.2) {
			t.Errorf("--split %q: %v, %v, %v", text, d.train, d.val, err)
		}
	}
	for text, ok := range map[string]bool{"60%,20%": true, "60%, 20%": true, "60%,20%,20%": true, "60%,20%,10%": false, "60%,20%x": false, "60%,20": false, "6%0%,20%": false, "60%,20%,": false,
		"60%": false, "60%,40%": false, "NaN%,20%": false} {
		b, err := parseSplitTime(text)
		if (err == nil) != ok || ok && (b.train != 0.6 || b.val != 0.2) {
			t.Errorf("--split-time %q: %v, %v, %v", text, b.train, b.val, err)
		}
	}
}
