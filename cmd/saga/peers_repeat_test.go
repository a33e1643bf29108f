package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPeersRepeat: runs of several seeds over ranks have the bits of each alone in one process, also where they go on, and where more seeds are
// asked for.
func TestPeersRepeat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"--data", mpiData, "--model", "sage", "--dropout", "0.2", "--owners", "2", "--chunks", "4"}
	many := filepath.Join(dir, "many")
	startPeers(t, 2, append(args, "--epochs", "2", "--repeat", "2", "--out", many)...).wait(t)
	p := startPeers(t, 2, "--resume", many, "--epochs", "3", "--repeat", "3")
	p.wait(t)
	if text := p.out[0].String(); !strings.Contains(text, "mean and deviation of 3 runs, seeds 1 to 3") || p.out[1].Len() > 0 {
		t.Errorf("the first rank says\n%s, the second %q", text, p.out[1])
	}
	for seed := 1; seed <= 3; seed++ {
		one := filepath.Join(dir, fmt.Sprint(seed))
		if out, err := command(t, append([]string{"train", "--epochs", "3", "--seed", fmt.Sprint(seed), "--out", one}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		run := filepath.Join(many, fmt.Sprint("seed-", seed))
		if !bytes.Equal(checkpointOf(t, one), checkpointOf(t, run)) {
			t.Errorf("seed %d: another checkpoint than that of one process", seed)
		}
		if _, err := os.Stat(filepath.Join(run, "log.rank1.txt")); err != nil {
			t.Error(err)
		}
	}
	p = startPeers(t, 2, "--resume", many) // all have ended
	p.wait(t)
	if !strings.Contains(p.out[0].String(), "no epoch was run") {
		t.Errorf("the first rank says\n%s", p.out[0])
	}
}

// TestPeersRepeatStopped: a signal to one rank, in any run, ends all ranks, and no other run begins.
func TestPeersRepeatStopped(t *testing.T) {
	t.Parallel()
	many := filepath.Join(t.TempDir(), "many")
	p := startPeers(t, 2, "--data", "karate", "--owners", "2", "--epochs", "100000", "--repeat", "2", "--eval-every", "100000", "--out", many)
	for i := 0; ; i++ {
		if _, err := os.Stat(filepath.Join(many, "seed-1", "metrics.csv")); err == nil {
			break
		}
		if time.Sleep(50 * time.Millisecond); i == 600 {
			t.Fatalf("no run began:\n%s\n%s", p.out[0], p.out[1])
		}
	}
	if err := p.cmds[1].Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for r, c := range p.cmds {
		if _ = c.Wait(); c.ProcessState.ExitCode() != exitInterrupted {
			t.Errorf("rank %d: %v\n%s", r, c.ProcessState, p.out[r])
		}
	}
	if _, err := os.Stat(filepath.Join(many, "seed-2")); err == nil {
		t.Error("the second run has begun")
	}
}
