package main

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"
)

// TestPeersSampledShards: ranks over sockets that have shards train batches to the parameters of one process with the whole graph.
func TestPeersSampledShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, shards := filepath.Join(dir, "graph.saga"), filepath.Join(dir, "shards")
	train := []string{"--model", "sage", "--sample", "5,3", "--eval-sample", "5,3", "--batch", "200", "--accumulate", "4", "--owners", "4", "--epochs", "2"}
	for _, args := range [][]string{
		{"data", "generate", "--out", store, "vertices=4000,edges=40K,features=20,classes=4,seed=1"},
		{"data", "shard", "--data", store, "--owners", "4", "--out", shards},
		append([]string{"train", "--data", store, "--without", "invariant", "--out", filepath.Join(dir, "1")}, train...),
	} {
		if out, err := command(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	startPeers(t, 4, append([]string{"--data", shards, "--out", filepath.Join(dir, "4")}, train...)...).wait(t)
	numbers := func(run string) []byte { // without the header, which names the data
		file := checkpointOf(t, filepath.Join(dir, run))
		return file[8+binary.LittleEndian.Uint64(file):]
	}
	if !bytes.Equal(numbers("1"), numbers("4")) {
		t.Error("four ranks over shards have other parameters than one process")
	}
}
