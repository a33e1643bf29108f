package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sagann/dataset"
	"sagann/layers"
	"sagann/ops"
	"sagann/saga"
)

// command is the program as a process of its own; see TestMain.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, args...)
	c.Args[0] = "saga"
	return c
}

// TestMainJob: the job that needs no flag learns from the edges. The same width,
// epochs and optimiser without edges do not get far.
func TestMainJob(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("trains on the built-in graph, which takes some seconds")
	}
	var out, log bytes.Buffer
	c := command(t, "train", "--json", "--out", filepath.Join(t.TempDir(), "run"))
	c.Stdout, c.Stderr = &out, &log
	start := time.Now()
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	took := time.Since(start)
	lines := 1 // that of the JSON object
	for line := range strings.Lines(log.String()) {
		if !strings.HasPrefix(line, "epoch ") {
			lines++
		}
	}
	if lines > 25 {
		t.Errorf("%d lines beside the epochs, want at most 25:\n%s", lines, &log)
	}
	var r struct {
		Chunks       int
		Budget       int64   `json:"budget_bytes"`
		Peak         int64   `json:"peak_device_bytes"`
		H2D          int64   `json:"h2d_bytes"`
		TestAccuracy float64 `json:"test_accuracy"`
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v in %q", err, &out)
	}
	t.Logf("%v, %+v", took, r)
	if r.TestAccuracy < 0.90 || r.Chunks < 4 || r.H2D == 0 || r.Peak > r.Budget || r.Peak == 0 {
		t.Errorf("%+v: want accuracy from 0.90, chunks from 4, transfers, a peak within the budget", r)
	}

	var cli commands
	if _, err := newParser(&cli, io.Discard, io.Discard).Parse([]string{"train"}); err != nil {
		t.Fatal(err)
	}
	s := &cli.Train.settings
	cfg, err := s.config()
	if err != nil {
		t.Fatal(err)
	}
	cfg.EvalEvery = cfg.Epochs
	d, err := dataset.Open(s.Data.Path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := saga.Model{Name: "vertices alone", Layers: []saga.Layer{
		layers.Linear(d.FeatureCols, int(s.Model.Hidden), ops.ReLU), layers.Linear(int(s.Model.Hidden), d.Classes, nil)}}
	p, err := saga.Compile(m, d, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	res, err := p.Train(t.Context(), saga.TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ApplyVertex alone: test accuracy %.4f", res.Final.Test.Accuracy)
	if res.Final.Test.Accuracy >= 0.70 {
		t.Errorf("without edges the test accuracy is %v; the graph is too easy", res.Final.Test.Accuracy)
	}
}
