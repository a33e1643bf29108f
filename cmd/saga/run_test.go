package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	d, err := dataset.Open(s.Data, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := saga.Model{Name: "vertices alone", Layers: []saga.Layer{
		layers.Linear(d.FeatureCols, int(s.Hidden), ops.ReLU), layers.Linear(int(s.Hidden), d.Classes, nil)}}
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

const killEpochs = "24"

// job is a run of some seconds with dropout, under a budget that streams.
func killJob(dir string) []string {
	return []string{"train", "--data", "synthetic:vertices=3000,edges=6e4,features=32", "--chunks", "3", "--dropout", "0.2",
		"--epochs", killEpochs, "--checkpoint-every", "1", "--patience", "20", "--out", dir}
}

// epochsIn counts the epochs that a run's metrics.csv holds.
func epochsIn(dir string) int {
	text, _ := os.ReadFile(filepath.Join(dir, "metrics.csv"))
	return max(0, strings.Count(string(text), "\n")-1)
}

// TestKill kills a run at several moments and goes on each time: the end has the
// bits of a run that nobody disturbed.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	whole, part := filepath.Join(dir, "whole"), filepath.Join(dir, "part")
	if text, err := command(t, killJob(whole)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Run("memory", func(t *testing.T) { killAndCompare(t, whole, part, killJob(part)) })
	if runtime.GOOS != "linux" {
		return
	}
	t.Run("files", func(t *testing.T) { // most of what is swapped lies in files
		scratch, whole := t.TempDir(), filepath.Join(dir, "whole, streamed")
		if text, err := command(t, append(killJob(whole), "--mem", "1600KB")...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		args := append(killJob(filepath.Join(dir, "files")), "--mem", "1600KB", "--host-mem", "1MB")
		killAndCompare(t, whole, filepath.Join(dir, "files"), args, "--scratch", scratch)
		if list, err := os.ReadDir(scratch); err != nil || len(list) > 0 {
			t.Errorf("the scratch folder holds %v (%v)", list, err)
		}
	})
}

// killAndCompare kills the run of args, in folder part, and goes on with it; more are
// flags of every start.
func killAndCompare(t *testing.T, whole, part string, args []string, more ...string) {
	args = append(args, more...)
	killed := 0
	for i, at := range []int{0, 1, 4, 9, 10, 15, 21} {
		c := command(t, args...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		ready := func() bool {
			if at == 0 { // as soon as there is something to go on with
				_, err := os.Stat(filepath.Join(part, "config.json"))
				return err == nil
			}
			return epochsIn(part) >= at
		}
		for !ready() {
			select {
			case err := <-done:
				if done <- err; !ready() {
					t.Fatalf("ended before epoch %d: %v", at, err)
				}
			case <-time.After(time.Millisecond):
			}
		}
		time.Sleep(time.Duration(i) * 3 * time.Millisecond) // meet the epoch, the evaluation and the checkpoint
		if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			killed++
		}
		args = append([]string{"train", "--resume", part, "--checkpoint-every", "1"}, more...)
	}
	if text, err := command(t, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if killed < 5 {
		t.Errorf("only %d processes were killed", killed)
	}
	if d := compareRuns(whole, part); d != "" {
		t.Error(d)
	}
	if a, b := epochsIn(whole), epochsIn(part); a != b {
		t.Errorf("metrics.csv has %d epochs, that of the undisturbed run %d", b, a)
	}
}

// TestInterrupt: SIGINT finishes the epoch, writes its checkpoint and exits with 130.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	whole, part := filepath.Join(dir, "whole"), filepath.Join(dir, "part")
	if text, err := command(t, killJob(whole)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	c := command(t, append(killJob(part), "--checkpoint-every", "0")...)
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); epochsIn(part) < 3; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.Process.Kill()
			t.Fatalf("no third epoch\n%s", &log)
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v, want exit status 130\n%s", err, &log)
	}
	ck, err := saga.ReadCheckpoint(filepath.Join(part, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := epochsIn(part); ck.Epoch != n || n < 3 {
		t.Errorf("the checkpoint is of epoch %d, metrics.csv has %d epochs", ck.Epoch, n)
	}
	if text, err := command(t, "train", "--resume", part).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if d := compareRuns(whole, part); d != "" {
		t.Error(d)
	}
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "233000": 233000, "233e3": 233000, "2.5M": 2500000, "8GiB": 8 << 30, "1gib": 1 << 30,
		"64MB": 64e6, "8Ki": 8192, "12 KiB": 12288, "100B": 100, "9007199254740993": 9007199254740993} {
		if got, err := parseCount(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.5", "GiB", "NaN", "Inf", "1e30", "0x10p", "8GiBB", "--"} {
		if got, err := parseCount(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
