package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sagann/internal/draw"
	"sagann/internal/runpage"
	"sagann/saga"
)

// killJob is a run with dropout under a budget that streams: on the CPU, or where
// SAGANN_DEVICE says. It has so many epochs.
type killJob struct {
	epochs int
	args   []string // without the folder
}

// newKillJob finds the least memory for three intervals and takes a tenth more; nothing
// stays that can stream.
func newKillJob(t *testing.T) *killJob {
	t.Helper()
	dev := cmp.Or(os.Getenv("SAGANN_DEVICE"), "cpu")
	j := &killJob{epochs: 24}
	data := "synthetic:vertices=3000,edges=6e4,features=32"
	if strings.HasPrefix(dev, "cuda") { // epochs must be long enough to be met
		j.epochs, data = 120, "synthetic:vertices=40000,edges=1e6,features=64"
	}
	j.args = []string{"train", "--data", data, "--device", dev, "--chunks", "3", "--dropout", "0.2",
		"--epochs", strconv.Itoa(j.epochs), "--checkpoint-every", "1", "--patience", "100"}
	least, err := strconv.ParseInt(smallest(t, j.plan("--mem", "1")), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	j.args = append(j.args, "--mem", strconv.FormatInt(least+least/10, 10), "--without", "residency")
	return j
}

// plan plans the job.
func (j *killJob) plan(more ...string) []string {
	args := slices.Clone(j.args[1:])
	for _, only := range []string{"--checkpoint-every", "--patience"} { // of training
		if i := slices.Index(args, only); i >= 0 {
			args = slices.Delete(args, i, i+2)
		}
	}
	return slices.Concat([]string{"plan"}, args, more)
}

// smallest is the budget that the error of a plan names.
func smallest(t *testing.T, args []string) string {
	t.Helper()
	text, err := command(t, args...).CombinedOutput()
	m := regexp.MustCompile(`would do is .*?(\d+) bytes`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("no smallest budget is named: %v\n%s", err, text)
	}
	return string(m[1])
}

func (j *killJob) in(dir string, more ...string) []string {
	return slices.Concat(j.args, []string{"--out", dir}, more)
}

// whole runs the job undisturbed; chunks must stream.
func (j *killJob) whole(t *testing.T, dir string, more ...string) {
	t.Helper()
	var log, out bytes.Buffer
	c := command(t, j.in(dir, append(more, "--json")...)...)
	c.Stdout, c.Stderr = &out, &log
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	var r struct {
		Chunks int
		H2D    int64 `json:"h2d_bytes"`
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Chunks != 3 || r.H2D == 0 {
		t.Fatalf("%+v, %v: want three intervals that stream", r, err)
	}
}

// epochsIn counts the epochs that a run's metrics.csv holds.
func epochsIn(dir string) int {
	text, _ := os.ReadFile(filepath.Join(dir, "metrics.csv"))
	return max(0, strings.Count(string(text), "\n")-1)
}

// TestKill kills a run at several moments and goes on each time: the checkpoint is
// whole and never of an earlier epoch than the one before, and the end has the bits of
// a run that nobody disturbed.
//
// Once with what is swapped in memory, once with most of it in files: of those a kill
// leaves nothing behind.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	j := newKillJob(t)
	j.whole(t, whole)
	t.Run("memory", func(t *testing.T) { j.killAndCompare(t, whole, filepath.Join(dir, "part"), nil) })
	t.Run("files", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("host memory in files needs Linux")
		}
		scratch, host := t.TempDir(), []string{"--host-mem", j.leastHost(t)}
		// A GPU needs memory for the host memory that it pins. Kernels get what is left, and the order of
		// their sums depends on it: there a run with less host memory has other bits.
		if strings.HasPrefix(os.Getenv("SAGANN_DEVICE"), "cuda") {
			whole = filepath.Join(dir, "whole in files")
			j.whole(t, whole, append(host, "--scratch", scratch)...)
		}
		j.killAndCompare(t, whole, filepath.Join(dir, "files"), host, "--scratch", scratch)
		if list, err := os.ReadDir(scratch); err != nil || len(list) > 0 {
			t.Errorf("the scratch folder holds %v (%v)", list, err)
		}
	})
}

// A run over batches of neighbours with learned rows goes on from within its epochs; so does one whose batches a GPU draws, where
// SAGANN_DEVICE names one.
func TestKillSampled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	data := []string{"synthetic:vertices=3000,edges=6e4", "--features", "embedding:8"}
	more := []string{"--checkpoint-batches", "1"}
	if dev := os.Getenv("SAGANN_DEVICE"); strings.HasPrefix(dev, "cuda") { // rows come over the link where the run goes on, which changes no bit
		data, more = []string{"synthetic:vertices=40000,edges=1e6,features=64", "--device", dev}, append(more, "--cache=-1")
	}
	j := &killJob{epochs: 16, args: slices.Concat([]string{"train", "--data"}, data, []string{"--model", "sage", "--dropout", "0.2",
		"--sample", "5,3", "--batch", "200", "--epochs", "16", "--checkpoint-every", "1", "--patience", "100"})}
	if text, err := command(t, j.in(whole)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	j.killAndCompare(t, whole, filepath.Join(dir, "part"), nil, more...)
}

// leastHost is the smallest --host-mem of the job; files must come of it.
func (j *killJob) leastHost(t *testing.T) string {
	t.Helper()
	least := smallest(t, j.plan("--host-mem", "1"))
	text, err := command(t, j.plan("--host-mem", least, "--json")...).Output()
	var r struct {
		Disk int64 `json:"disk_bytes"`
	}
	if err = errors.Join(err, json.Unmarshal(text, &r)); err != nil || r.Disk == 0 {
		t.Fatalf("%s bytes of host memory: %d in files, %v\n%s", least, r.Disk, err, text)
	}
	return least
}

// killAndCompare kills the job, in folder part, and goes on with it; first are flags
// of its first start, more of every one.
func (j *killJob) killAndCompare(t *testing.T, whole, part string, first []string, more ...string) {
	random := rand.New(rand.NewPCG(draw.Seed(t), 0))
	// Once as soon as there is something to go on with, then after random epochs.
	times := []int{0, 1}
	for range 5 {
		times = append(times, 2+random.IntN(j.epochs*9/10-2))
	}
	slices.Sort(times)
	args := j.in(part, slices.Concat(first, more)...)
	killed, last := 0, 0
	for _, at := range times {
		c := command(t, args...)
		var log bytes.Buffer
		c.Stdout, c.Stderr = &log, &log
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		ready := func() bool {
			if at == 0 {
				_, err := os.Stat(filepath.Join(part, "config.json"))
				return err == nil
			}
			return epochsIn(part) >= at
		}
		for !ready() {
			select {
			case err := <-done:
				if done <- err; !ready() {
					t.Fatalf("ended before epoch %d: %v\n%s", at, err, &log)
				}
			case <-time.After(time.Millisecond):
			}
		}
		time.Sleep(time.Duration(random.Int64N(int64(20 * time.Millisecond)))) // meet the epoch, the evaluation and the checkpoint
		if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			killed++
		}
		switch ck, err := saga.ReadCheckpoint(filepath.Join(part, checkpointFile)); {
		case err == nil:
			if n := epochsIn(part); ck.Epoch < last || ck.Epoch > n {
				t.Errorf("killed after epoch %d: the checkpoint is of epoch %d, after one of %d, and metrics.csv has %d", at, ck.Epoch, last, n)
			}
			last = ck.Epoch
		case !errors.Is(err, fs.ErrNotExist) || last > 0:
			t.Fatalf("killed after epoch %d: %v", at, err)
		}
		args = slices.Concat([]string{"train", "--resume", part, "--checkpoint-every", "1"}, more)
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
	j := newKillJob(t)
	j.whole(t, whole)
	c := command(t, j.in(part, "--checkpoint-every", "0")...)
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
	reported(t, part, runpage.Interrupted, ck.Epoch)
	if text, err := command(t, "train", "--resume", part).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	reported(t, part, runpage.Finished, epochsIn(whole))
	if d := compareRuns(whole, part); d != "" {
		t.Error(d)
	}
}

// reported checks that the page of a run says how it ended, with so many epochs and classes.
func reported(t *testing.T, dir, state string, epochs int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, runpage.PageFile))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	if !strings.Contains(page, ">"+state+"</span>") || len(pageRows(page, "epochs")) != epochs || len(pageRows(page, "classes")) == 0 {
		t.Errorf("the page is not of a run that has %s after %d epochs: it has %d, and %d rows of classes", state, epochs, len(pageRows(page, "epochs")), len(pageRows(page, "classes")))
	}
}
