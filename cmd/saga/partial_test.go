package main

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sagann/saga"
)

// TestInterruptWriting: SIGINT, SIGTERM or SIGHUP while a graph or a table is written exits with 130 and
// leaves nothing of it.
func TestInterruptWriting(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	if text, err := command(t, "train", "--data", "synthetic:vertices=200000,edges=200000,features=4,classes=30", "--model", "gcn", "--layers", "1", "--epochs", "1", "--out", run).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	spec := "vertices=200000,edges=2e6,features=64"
	for what, args := range map[string][]string{
		"store":  {"data", "generate", spec, "--out"},
		"npy":    {"data", "generate", spec, "--format", "npy", "--out"},
		"rows":   {"mine", "match", "--data", "synthetic:vertices=3000,edges=60000,features=1", "--undirected", "--pattern", "path6", "--out"},
		"shards": {"data", "shard", "--data", "synthetic:" + spec, "--owners", "2", "--out"},
		"csv":    {"predict", "--checkpoint", run, "--write", "logits", "--out"},
	} {
		t.Run(what, func(t *testing.T) {
			for range 5 {
				if interruptWriting(t, what, args) {
					return
				}
			}
			t.Fatal("written five times before the signal could be sent")
		})
	}
}

// interruptWriting runs the command and sends it a signal when it has begun to write. It is false if the command had
// written everything by then.
func interruptWriting(t *testing.T, what string, args []string) bool {
	dir := t.TempDir()
	c := command(t, append(args, filepath.Join(dir, "out.csv"))...)
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); len(names(t, dir)) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.Process.Kill()
			t.Fatalf("nothing is written\n%s", &log)
		}
	}
	signal := map[string]syscall.Signal{"npy": syscall.SIGTERM, "shards": syscall.SIGHUP}[what]
	if err := c.Process.Signal(cmp.Or(signal, syscall.SIGINT)); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err, list := c.Wait(), names(t, dir)
	if err == nil && len(list) == 1 && list[0] == "out.csv" {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v, want exit status 130\n%s", err, &log)
	}
	if len(list) > 0 {
		t.Errorf("left behind: %s\n%s", list, &log)
	}
	return true
}

// names lists the files of dir.
func names(t *testing.T, dir string) (list []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// TestOneProcessARun: a folder in which a process trains is refused to another one, and
// free again when the first is killed.
func TestOneProcessARun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("folders are locked on Linux")
	}
	run := filepath.Join(t.TempDir(), "run")
	c := command(t, "train", "--data", "synthetic:vertices=3000,edges=60000,features=32", "--epochs", "100000", "--checkpoint-every", "1", "--out", run)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); epochsIn(run) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			c.Process.Kill()
			t.Fatal("no second epoch")
		}
	}
	text, err := command(t, "train", "--resume", run).CombinedOutput()
	if err == nil || !strings.Contains(string(text), "another process is training in this folder") {
		t.Errorf("a second process: %v\n%s", err, text)
	}
	before := epochsIn(run)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	ck, err := saga.ReadCheckpoint(filepath.Join(run, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := command(t, "train", "--resume", run, "--epochs", strconv.Itoa(ck.Epoch+1)).CombinedOutput(); err != nil {
		t.Errorf("after the first was killed: %v\n%s", err, text)
	}
	if before < 2 {
		t.Errorf("%d epochs", before)
	}
}
