package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sagann/internal/draw"
)

// signalled is a run over ranks that is disturbed by a signal.
type signalled struct {
	job    string
	ranks  int
	signal syscall.Signal
	to     string        // one, all, apart: all, 50 ms apart
	rank   int           // with one
	after  time.Duration // since the start
}

// signalJobs are the runs; ranks share four devices.
var signalJobs = map[string][]string{
	"full":            {"--model", "gcn", "--dropout", "0.2", "--chunks", "8", "--epochs", "60", "--checkpoint-every", "5"},
	"sampled":         {"--model", "sage", "--sample", "4,3", "--batch", "100", "--accumulate", "4", "--epochs", "12", "--checkpoint-batches", "1", "--checkpoint-every", "1"},
	"shards":          {"--model", "sage", "--dropout", "0.2", "--epochs", "60", "--checkpoint-every", "5"},
	"sampled, shards": {"--model", "sage", "--sample", "4,3", "--eval-sample", "4,3", "--batch", "100", "--accumulate", "4", "--epochs", "12", "--checkpoint-batches", "3"},
}

const signalTimeout = 4 * time.Second

// TestSignals: INT, TERM, HUP, KILL and STOP to one rank, to all at once and to all 50 ms apart, at random moments of runs over ranks. All
// processes are gone within the timeout and two seconds, one line names the cause, and --resume or, before the first checkpoint, the same
// command gives the bytes of a run that nothing has disturbed. Fifteen cases have every signal in each of the three ways, and every job
// in each of them; make soak draws 200.
func TestSignals(t *testing.T) {
	dir := t.TempDir()
	store, shards := filepath.Join(dir, "g.saga"), filepath.Join(dir, "shards")
	for _, args := range [][]string{
		{"data", "generate", "--out", store, "vertices=2000,edges=20K,features=12,classes=4,seed=1"},
		{"data", "shard", "--data", store, "--owners", "4", "--out", shards},
	} {
		if out, err := command(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	args := map[string][]string{}
	for name, job := range signalJobs {
		data := store
		if strings.Contains(name, "shards") {
			data = shards
		}
		args[name] = slices.Clip(slices.Concat([]string{"--data", data, "--owners", "4"}, job))
	}
	whole, slack := map[string][]byte{}, time.Second
	for name := range args {
		run, start := filepath.Join(dir, "whole "+name), time.Now()
		startPeers(t, 2, append(args[name], "--out", run, "--net-timeout", "1m")...).wait(t)
		whole[name], slack = valuesIn(t, run), max(slack, time.Since(start))
	}
	r, n := rand.New(rand.NewPCG(draw.Seed(t), 1)), 15
	if draw.Soak() {
		n = 200
	}
	for i := range n {
		x := drawSignalled(r, i)
		t.Run(fmt.Sprintf("%d/%v to %s of %d/%s", i, x.signal, x.to, x.ranks, x.job), func(t *testing.T) {
			t.Parallel()
			run := filepath.Join(dir, fmt.Sprint(i))
			x.disturb(t, slack, append(args[x.job], "--out", run, "--net-timeout", signalTimeout.String()))
			again := append(args[x.job], "--out", run)
			if _, err := os.Stat(filepath.Join(run, checkpointFile)); err == nil {
				again = []string{"--resume", run}
			}
			startPeers(t, x.ranks, append(again, "--net-timeout", "1m")...).wait(t)
			if !bytes.Equal(valuesIn(t, run), whole[x.job]) {
				t.Errorf("after %v: other values than those of a run that nothing has disturbed", x.after)
			}
			if left, _ := filepath.Glob(filepath.Join(run, ".*")); len(left) > 0 {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

// drawSignalled is case i: jobs, signals and ways go round, and what is left is drawn.
func drawSignalled(r *rand.Rand, i int) signalled {
	jobs := slices.Sorted(maps.Keys(signalJobs))
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL, syscall.SIGSTOP}
	x := signalled{job: jobs[i%len(jobs)], ranks: 2 + 2*r.IntN(2), signal: signals[i%len(signals)],
		to: []string{"one", "all", "apart"}[i%3], after: time.Duration(r.Int64N(int64(1800 * time.Millisecond)))}
	x.rank = r.IntN(x.ranks)
	return x
}

// disturb starts the run and sends the signal. slack is what a busy machine may take longer: as long as a run that nothing disturbs.
func (x *signalled) disturb(t *testing.T, slack time.Duration, args []string) {
	t.Helper()
	p := startPeers(t, x.ranks, args...)
	ended := make([]chan struct{}, x.ranks)
	for r, c := range p.cmds {
		ended[r] = make(chan struct{})
		go func() {
			_ = c.Wait()
			close(ended[r])
		}()
	}
	time.Sleep(x.after)
	send := func(s syscall.Signal) {
		for r, c := range p.cmds {
			if x.to != "one" || r == x.rank {
				_ = c.Process.Signal(s)
			}
			if x.to == "apart" {
				time.Sleep(50 * time.Millisecond)
			}
		}
	}
	send(x.signal)
	gone := func(r int, within time.Duration) {
		t.Helper()
		select {
		case <-ended[r]:
		case <-time.After(within):
			t.Errorf("rank %d lives %v after %v (sent at %v)\n%s", r, within, x.signal, x.after, p.text())
			_ = p.cmds[r].Process.Signal(syscall.SIGQUIT)
			<-ended[r]
			t.Logf("%s", p.out[r])
		}
	}
	stops := x.signal == syscall.SIGSTOP
	if stops && x.to != "one" { // all sleep, and go on
		time.Sleep(time.Second)
		send(syscall.SIGCONT)
	}
	for r := range p.cmds {
		switch {
		case stops && x.to != "one":
			gone(r, time.Minute)
		case !stops || r != x.rank:
			gone(r, signalTimeout+2*time.Second+slack)
		}
	}
	if stops && x.to == "one" {
		send(syscall.SIGCONT)
		gone(x.rank, 2*time.Second+slack)
	}
	x.checkLines(t, p)
}

// checkLines checks that the ranks say once what has happened.
func (x *signalled) checkLines(t *testing.T, p *peerRun) {
	t.Helper()
	text, failed := p.text(), false
	for r, c := range p.cmds { // one that is killed when all is done fails nobody
		failed = failed || c.ProcessState.ExitCode() != 0 && (x.to != "one" || r != x.rank)
	}
	stops := x.signal == syscall.SIGSTOP && x.to == "one" || x.signal == syscall.SIGKILL && x.to == "one"
	if stops && failed {
		n := 0
		for line := range strings.Lines(text) {
			if strings.Contains(line, fmt.Sprintf("rank %d", x.rank)) && strings.HasPrefix(line, "saga: ") {
				n++
			}
		}
		if n == 0 {
			t.Errorf("no line names rank %d after %v:\n%s", x.rank, x.after, text)
		}
	}
	if strings.Contains(text, "goroutine ") {
		t.Errorf("a panic:\n%s", text)
	}
}

// text is what all ranks have printed.
func (p *peerRun) text() string {
	text := ""
	for r, out := range p.out {
		text += fmt.Sprintf("-- rank %d (%v)\n%s", r, p.cmds[r].ProcessState, out)
	}
	return text
}

// valuesIn are the values of a run's checkpoint, without the header, which names the data.
func valuesIn(t *testing.T, run string) []byte {
	t.Helper()
	file := checkpointOf(t, run)
	return file[8+binary.LittleEndian.Uint64(file):]
}
