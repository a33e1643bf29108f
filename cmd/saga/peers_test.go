package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sagann/internal/draw"
	"sagann/internal/runfolder"
	"sagann/saga"
)

// peerRun is saga on ranks that are processes of this host, joined over sockets.
type peerRun struct {
	cmds []*exec.Cmd
	out  []*bytes.Buffer
}

// startPeers starts so many ranks of saga train with args.
func startPeers(t *testing.T, ranks int, args ...string) *peerRun {
	t.Helper()
	return startPeersBy(t, ranks, func(c *exec.Cmd) *exec.Cmd { return c }, args...)
}

// startPeersBy is startPeers of commands that by changes.
func startPeersBy(t *testing.T, ranks int, by func(*exec.Cmd) *exec.Cmd, args ...string) *peerRun {
	t.Helper()
	return startPeersOf(t, ranks, by, append([]string{"train"}, args...)...)
}

// startPeersOf starts so many ranks of a command.
func startPeersOf(t *testing.T, ranks int, by func(*exec.Cmd) *exec.Cmd, args ...string) *peerRun {
	t.Helper()
	peers, p := freePorts(t, ranks), &peerRun{}
	for r := range ranks {
		c := by(command(t, append(slices.Clip(args), "--peers", strings.Join(peers, ","), "--rank", strconv.Itoa(r))...))
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		p.cmds, p.out = append(p.cmds, c), append(p.out, &out)
	}
	for _, c := range p.cmds {
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() })
	}
	return p
}

// freePorts are addresses of this host at which nobody listens.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	var list []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // when all are other ones
		list = append(list, l.Addr().String())
	}
	return list
}

// wait returns what each rank printed; an error of one is t's.
func (p *peerRun) wait(t *testing.T) {
	t.Helper()
	for r, c := range p.cmds {
		if err := c.Wait(); err != nil {
			t.Fatalf("rank %d: %v\n%s", r, err, p.out[r])
		}
	}
}

// checkpointOf is the checkpoint of a run.
func checkpointOf(t *testing.T, dir string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestPeers: ranks over sockets write the checkpoint of one process, and only the first prints.
func TestPeers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"--data", mpiData, "--model", "ggcn", "--dropout", "0.2", "--owners", "4", "--chunks", "8", "--epochs", "3", "--out"}
	one := filepath.Join(dir, "one")
	if out, err := command(t, append(append([]string{"train"}, args...), one)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, n := range []int{2, 4} {
		run := filepath.Join(dir, fmt.Sprint(n))
		p := startPeers(t, n, append(args, run)...)
		p.wait(t)
		if !bytes.Equal(checkpointOf(t, one), checkpointOf(t, run)) {
			t.Errorf("%d ranks: another checkpoint than that of one process", n)
		}
		if text := p.out[1].String(); text != "" || !strings.Contains(p.out[0].String(), "\nmodel ") && !strings.HasPrefix(p.out[0].String(), "model ") {
			t.Errorf("%d ranks: the second says %q, the first\n%s", n, text, p.out[0])
		}
	}
}

// TestPeersResume: a run of four ranks goes on with two, which share it as its first ranks did, and with four.
func TestPeersResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"--data", mpiData, "--model", "sage", "--owners", "4", "--chunks", "8"}
	one, run := filepath.Join(dir, "one"), filepath.Join(dir, "run")
	if out, err := command(t, append(append([]string{"train"}, args...), "--epochs", "6", "--out", one)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	startPeers(t, 4, append(args, "--epochs", "2", "--out", run)...).wait(t)
	for epochs := 4; epochs <= 6; epochs += 2 {
		n := epochs - 2
		p := startPeers(t, n, "--resume", run, "--epochs", fmt.Sprint(epochs))
		p.wait(t)
		if text := fmt.Sprintf("between %d ranks", n); !strings.Contains(p.out[0].String(), text) {
			t.Errorf("the run that goes on is not shared %s:\n%s", text, p.out[0])
		}
	}
	if !bytes.Equal(checkpointOf(t, one), checkpointOf(t, run)) {
		t.Error("another checkpoint than that of one process")
	}
}

// TestPeersWithoutFolder: where one rank cannot read the run that goes on, all end; the first used to wait for it in planning.
func TestPeersWithoutFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"--data", "karate", "--owners", "2"}
	startPeersBy(t, 2, func(c *exec.Cmd) *exec.Cmd { c.Dir = dir; return c }, append(args, "--epochs", "2", "--out", "run")...).wait(t)
	rank, elsewhere := 0, t.TempDir()
	p := startPeersBy(t, 2, func(c *exec.Cmd) *exec.Cmd {
		if c.Dir = dir; rank == 1 {
			c.Dir = elsewhere
		}
		rank++
		return c
	}, "--resume", "run", "--epochs", "4")
	for r, c := range p.cmds {
		if err := c.Wait(); err == nil || r == 0 && !strings.Contains(p.out[0].String(), "rank 1") {
			t.Errorf("rank %d: %v\n%s", r, err, p.out[r])
		}
	}
}

// TestPeersUsage: a list of peers and a number that do not go together.
func TestPeersUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--rank", "1"}, {"--peers", "localhost:1,localhost:2", "--rank", "2"},
		{"--peers", "localhost", "--rank", "0"}, {"--peers", "localhost:1,localhost:1", "--rank", "1"}, {"--peers", ":1,localhost:1", "--rank", "1"},
		{"--peers-secret", "x"}, {"--peers-open"}, {"--listen", "localhost:1"},
		{"--peers-open", "--peers", "localhost:1,localhost:2", "--peers-secret", "x"}, {"--peers-secret", "absent", "--peers", "localhost:1,localhost:2"},
		{"--peers-secret", "--peers", "203.0.113.5:1,localhost:2", "--rank", "1"}, // which the error names
	} {
		out, err := command(t, append([]string{"train"}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), args[0]) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// TestPeersDeath: a rank that is killed or stopped ends the others, with one line that names rank, host, epoch and task. From the checkpoint
// three ranks and one go on to what a run is that nothing has disturbed.
func TestPeersDeath(t *testing.T) {
	t.Parallel() // it waits most of its time
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			train := []string{"--data", mpiData, "--model", "ggcn", "--owners", "3", "--chunks", "6", "--checkpoint-every", "2"}
			p := startPeers(t, 3, append(train, "--epochs", "1000000", "--net-timeout", "4s", "--out", dir)...)
			for i := 0; ; i++ {
				if _, err := os.Stat(filepath.Join(dir, checkpointFile)); err == nil {
					break
				}
				if i == 600 {
					t.Fatalf("no checkpoint after a minute:\n%s", p.out[0])
				}
				time.Sleep(100 * time.Millisecond)
			}
			time.Sleep(time.Second) // some heartbeats
			start := time.Now()
			if err := p.cmds[2].Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			lines := 0
			for r, c := range p.cmds[:2] {
				if err := c.Wait(); err == nil {
					t.Errorf("rank %d ends with status 0", r)
				}
				for line := range strings.Lines(p.out[r].String()) {
					if strings.Contains(line, "rank 2 (host ") && strings.Contains(line, "it was at: epoch ") {
						t.Logf("rank %d after %.1f s: %s", r, time.Since(start).Seconds(), line)
						lines++
					}
				}
			}
			if lines != 1 {
				t.Errorf("%d lines tell of rank 2:\n%s\n%s", lines, p.out[0], p.out[1])
			}
			_ = p.cmds[2].Process.Kill()
			goesOn(t, dir, 3, train)
		})
	}
}

// goesOn has so many ranks, and then one, go on for some epochs with the run in dir, and compares with a run of train without a stop.
func goesOn(t *testing.T, dir string, ranks int, train []string) {
	t.Helper()
	c, err := saga.ReadCheckpoint(filepath.Join(dir, checkpointFile))
	if err != nil {
		t.Fatal(err)
	}
	startPeers(t, ranks, "--resume", dir, "--epochs", fmt.Sprint(c.Epoch+3)).wait(t)
	whole := filepath.Join(t.TempDir(), "whole")
	end := []string{"--epochs", fmt.Sprint(c.Epoch + 6)}
	for _, args := range [][]string{append([]string{"train", "--resume", dir}, end...), append(append([]string{"train", "--out", whole}, train...), end...)} {
		if out, err := command(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if !bytes.Equal(checkpointOf(t, dir), checkpointOf(t, whole)) {
		t.Errorf("after epoch %d %d ranks, then one, go on to another checkpoint", c.Epoch, ranks)
	}
	t.Logf("it has gone on after epoch %d", c.Epoch)
}

// TestPeersBusy: a rank that loads, orders and plans for longer than the timeout, with all processors, is not given up. make soak
// has it do so for a minute at the default timeout.
func TestPeersBusy(t *testing.T) {
	timeout, least := 2*time.Second, time.Duration(0)
	data := "synthetic:vertices=200K,edges=2M,features=4,classes=4,seed=1"
	if draw.Soak() {
		timeout, least = 30*time.Second, time.Minute
		data = "synthetic:vertices=10M,edges=160M,features=4,classes=4,seed=1"
	}
	start, run := time.Now(), filepath.Join(t.TempDir(), "run")
	startPeers(t, 2, "--data", data, "--model", "gcn", "--owners", "2", "--epochs", "1", "--net-timeout", timeout.String(), "--out", run).wait(t)
	list, err := runfolder.ReadMetrics(run)
	if err != nil {
		t.Fatal(err)
	}
	epoch := time.Duration(list[0].Seconds * float64(time.Second))
	took := time.Since(start) - 2*epoch // and an evaluation, which takes less
	t.Logf("%v before the epoch, which took %v", took, epoch)
	if took < least {
		t.Errorf("loading and planning took %v: too short to show anything", took)
	}
}

// TestPeersUnlike: where one rank was started with other settings or data than the first, or without data, all end and say why. They
// used to wait for each other, or to end without a word.
func TestPeersUnlike(t *testing.T) {
	t.Parallel()
	const small = "synthetic:vertices=200,edges=1000,features=4,classes=2"
	dir := t.TempDir()
	for _, x := range []struct {
		flag, first, second, want string
	}{
		{"--mem", "1GiB", "1KiB", "rank 1: started with other settings than the first rank: --mem 1024 (it has 1073741824)"},
		{"--chunks", "1", "2", "--chunks 2 (it has 1)"},
		{"--epochs", "2", "3", "--epochs 3 (it has 2)"},
		{"--sample", "5,5", "5,4", `--sample "5,4" (it has "5,5")`},
		{"--data", small, filepath.Join(dir, "none"), "rank 1: stat " + filepath.Join(dir, "none")},
		{"--data", small, small + ",seed=2", "ranks 0 and 1 differ in their data"},
	} {
		t.Run(x.flag, func(t *testing.T) {
			t.Parallel()
			rank := 0
			p := startPeersBy(t, 2, func(c *exec.Cmd) *exec.Cmd {
				c.Args = append(c.Args, x.flag+"="+[]string{x.first, x.second}[rank])
				rank++
				return c
			}, "--data", small, "--model", "gcn", "--owners", "2", "--net-timeout", "20s", "--out", filepath.Join(t.TempDir(), "run"))
			late := time.AfterFunc(30*time.Second, func() {
				t.Error("the ranks wait")
				for _, c := range p.cmds {
					_ = c.Process.Kill()
				}
			})
			defer late.Stop()
			for r, c := range p.cmds {
				if err := c.Wait(); err == nil {
					t.Errorf("rank %d ends with status 0", r)
				}
			}
			if !strings.Contains(p.out[0].String(), x.want) {
				t.Errorf("the first rank says\n%sand not %q", p.out[0], x.want)
			}
		})
	}
}

// TestPeersLinks: links over the whole graph, of one type of vertices and of a relation between two types, are learned
// by two processes with the bits of one, which goes on from their checkpoint.
func TestPeersLinks(t *testing.T) {
	dir := t.TempDir()
	typed := filepath.Join(dir, "typed.saga")
	if out, err := command(t, "data", "generate", "paper=60x6,author=30x4,author:writes:paper=150,paper:cites:paper=120,target=paper,classes=3,reverse=yes", "--out", typed).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, args := range map[string][]string{
		"plain": {"--data", "karate", "--model", "gcn", "--head", "mlp"},
		"typed": {"--data", typed, "--relation", "writes", "--model", "sage", "--head", "distmult"},
	} {
		args = append(args, "--task", "link", "--hidden", "8", "--chunks", "8", "--epochs", "4")
		two, one := filepath.Join(dir, name+"2"), filepath.Join(dir, name+"1")
		startPeers(t, 2, append(args, "--owners", "2", "--out", two)...).wait(t)
		if out, err := command(t, append([]string{"train", "--device", "cpu:2", "--out", one}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !bytes.Equal(checkpointOf(t, two), checkpointOf(t, one)) {
			t.Errorf("%s: two ranks write another checkpoint than one process", name)
		}
		startPeers(t, 2, "--resume", one, "--epochs", "6").wait(t)
		if out, err := command(t, "train", "--resume", two, "--epochs", "6").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !bytes.Equal(checkpointOf(t, two), checkpointOf(t, one)) {
			t.Errorf("%s: gone on, two ranks write another checkpoint than one process", name)
		}
	}
}

// TestFPMPeers: two and three processes that share a search write what one writes, and say how much they have sent.
func TestFPMPeers(t *testing.T) {
	for _, more := range [][]string{nil, {"--by", "instances"}, {"--by", "instances", "--engine", "census", "--edges", "3"}} {
		fpmPeers(t, append([]string{"mine", "fpm", "--data", "karate", "--support", "4", "--edges", "4"}, more...))
	}
}

func fpmPeers(t *testing.T, search []string) {
	t.Helper()
	dir := t.TempDir()
	want := filepath.Join(dir, "want.csv")
	if text, err := command(t, append(search, "--out", want)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for ranks := 2; ranks <= 3; ranks++ {
		got := filepath.Join(dir, fmt.Sprint(ranks, ".csv"))
		p := startPeersOf(t, ranks, func(c *exec.Cmd) *exec.Cmd { return c }, append(search, "--out", got)...)
		p.wait(t)
		a, err := os.ReadFile(want)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(got)
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%d ranks: %d bytes, %v; want %d", ranks, len(b), err, len(a))
		}
		for r, out := range p.out {
			if says := strings.Contains(out.String(), fmt.Sprintf("ranks     %d, which sent each other ", ranks)); says != (r == 0) {
				t.Errorf("rank %d of %d says\n%s", r, ranks, out)
			}
		}
	}
}
