package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
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
	if runtime.GOOS != "linux" {
		t.Skip("the state of a process is read as on Linux")
	}
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
			interruptWriting(t, what, args)
		})
	}
}

// stopsIn is the variable of the folder in which a saga-that-stops sees that it has begun to write.
const stopsIn = "SAGA_TEST_STOPS_IN"

// mainThatStops is the command, which stops when a file is in that folder. It has one thread of Go, so it stops after some milliseconds
// of work, however busy the machine is.
func mainThatStops() {
	runtime.GOMAXPROCS(1)
	go func() {
		for ; ; time.Sleep(time.Millisecond) {
			if list, err := os.ReadDir(os.Getenv(stopsIn)); err != nil || len(list) > 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				return
			}
		}
	}()
	main()
}

// stopped waits until a process is stopped, and tells whether it is: it may have ended.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, state, _ := strings.Cut(string(text), ") ")
		switch state[0] {
		case 'T':
			return true
		case 'Z':
			return false
		}
	}
	t.Fatal("nothing is written")
	return false
}

// interruptWriting runs the command and sends it a signal when it has begun to write.
func interruptWriting(t *testing.T, what string, args []string) {
	dir := t.TempDir()
	c := command(t, append(args, filepath.Join(dir, "out.csv"))...)
	c.Args[0] = "saga-that-stops"
	c.Env = append(os.Environ(), stopsIn+"="+dir)
	var log bytes.Buffer
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	if !stopped(t, c.Process.Pid) {
		t.Fatalf("%v before it was stopped\n%s", c.Wait(), &log)
	}
	sent := map[string]syscall.Signal{"npy": syscall.SIGTERM, "shards": syscall.SIGHUP}[what]
	if sent == syscall.SIGHUP && signal.Ignored(sent) { // under nohup, and so by the command
		sent = syscall.SIGTERM
	}
	for _, s := range []syscall.Signal{cmp.Or(sent, syscall.SIGINT), syscall.SIGCONT} {
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	err, list := c.Wait(), names(t, dir)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v, want exit status 130\n%s", err, &log)
	}
	if len(list) > 0 {
		t.Errorf("left behind: %s\n%s", list, &log)
	}
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

// TestInterruptPlanning: a signal while a graph is made, ordered or laid out, or a plan made, ends the process with 130 and a line.
func TestInterruptPlanning(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the time of a process is read as on Linux")
	}
	const spec = "synthetic:vertices=1000000,edges=16000000,features=8"
	for name, args := range map[string][]string{"plan": {"plan", "--data", spec}, "train": {"train", "--data", spec, "--out", filepath.Join(t.TempDir(), "run")}} {
		var text bytes.Buffer
		c := command(t, append(args, "--model", "gcn")...)
		c.Stderr = &text
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for worked := 0; worked < 30; time.Sleep(time.Millisecond) { // 0.3 s
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(stat), ") ")
			if worked, err = strconv.Atoi(strings.Fields(rest)[11]); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if _ = c.Wait(); c.ProcessState.ExitCode() != exitInterrupted || !strings.HasSuffix(text.String(), "saga: interrupted\n") {
			t.Errorf("%s: %v\n%s", name, c.ProcessState, &text)
		}
	}
}
