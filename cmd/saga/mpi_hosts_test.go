package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sagann/internal/draw"
)

// twoHosts are two network namespaces with a link between them, as hosts of mpirun.
type twoHosts struct {
	t     *testing.T
	agent string // what mpirun reaches the second by
}

const (
	hostA, hostB   = "saga-a", "saga-b"
	linkA, linkB   = "saga-va", "saga-vb"
	addrA, addrB   = "10.77.1.1", "10.77.1.2"
	keepAlive      = "--mca oob_tcp_keepalive_time 2 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 2"
	onTheLink      = "--mca btl tcp,self --mca btl_tcp_if_include 10.77.1.0/24 --mca oob_tcp_if_include 10.77.1.0/24"
	hostsBytes     = "synthetic:vertices=20000,edges=200K,features=32,classes=4,seed=1"
	hostsEndWithin = 10 * time.Second
)

func newTwoHosts(t *testing.T) *twoHosts {
	mpirun(t, 1) // or skip
	if !draw.Soak() {
		t.Skip("ranks in two network namespaces: make soak runs them")
	}
	remove := func() {
		for _, ns := range []string{hostA, hostB} {
			_ = exec.Command("ip", "netns", "delete", ns).Run()
		}
	}
	remove()
	t.Cleanup(remove)
	for _, line := range []string{
		"ip netns add " + hostA, "ip netns add " + hostB,
		fmt.Sprintf("ip link add %s netns %s type veth peer name %s netns %s", linkA, hostA, linkB, hostB),
		fmt.Sprintf("ip -n %s addr add %s/24 dev %s", hostA, addrA, linkA), fmt.Sprintf("ip -n %s addr add %s/24 dev %s", hostB, addrB, linkB),
		fmt.Sprintf("ip -n %s link set %s up", hostA, linkA), fmt.Sprintf("ip -n %s link set %s up", hostB, linkB),
		"ip -n " + hostA + " link set lo up", "ip -n " + hostB + " link set lo up",
	} {
		if out, err := exec.Command("bash", "-c", line).CombinedOutput(); err != nil {
			t.Skipf("network namespaces cannot be made here: %s: %v %s", line, err, out)
		}
	}
	h := &twoHosts{t, filepath.Join(t.TempDir(), "agent")}
	text := fmt.Sprintf("#!/bin/bash\nshift\nexec ip netns exec %s unshare -u bash -c \"hostname hostb; $*\"\n", hostB)
	if err := os.WriteFile(h.agent, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

// command is saga on four ranks, two a host.
func (h *twoHosts) command(args ...string) *exec.Cmd { return h.ranks(2, args...) }

// ranks is saga on so many ranks of each host.
func (h *twoHosts) ranks(each int, args ...string) *exec.Cmd {
	exe, err := mpiBuild()
	if err != nil {
		h.t.Fatal(err)
	}
	line := fmt.Sprintf("hostname hosta; exec mpirun -n %d --host %s:%d,%s:%d --mca plm_rsh_agent %s %s %s %s %s", 2*each, addrA, each, addrB, each, h.agent, keepAlive, onTheLink, exe, strings.Join(args, " "))
	c := exec.Command("ip", "netns", "exec", hostA, "unshare", "-u", "bash", "-c", line)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// moved is what the first host's interface has sent, in bytes (counter tx_bytes), or received (rx_bytes).
func (h *twoHosts) moved(counter string) int64 {
	out, err := exec.Command("ip", "netns", "exec", hostA, "cat", "/sys/class/net/"+linkA+"/statistics/"+counter).Output()
	n, wrong := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err = errors.Join(err, wrong); err != nil {
		h.t.Fatal(err)
	}
	return n
}

// TestTwoHostsBytes: the interface between two hosts counts what the plan says, and at most a hundredth more: headers, acknowledgements,
// losses. What start, evaluation and end take is in two runs of different lengths alike.
func TestTwoHostsBytes(t *testing.T) {
	h := newTwoHosts(t)
	const short, long = 5, 45
	var bytes [2]int64
	var planned float64
	for k, epochs := range []int{short, long} {
		before := h.moved("tx_bytes") + h.moved("rx_bytes")
		out, err := h.ranks(1, "train", "--data", hostsBytes, "--model", "ggcn", "--owners", "4", "--chunks", "8",
			"--epochs", strconv.Itoa(epochs), "--eval-every", "1000", "--out", filepath.Join(t.TempDir(), "run")).CombinedOutput()
		bytes[k] = h.moved("tx_bytes") + h.moved("rx_bytes") - before
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, rest, _ := strings.Cut(string(out), "\nnetwork   ")
		if _, err := fmt.Sscanf(rest, "%f MiB between 2 ranks, an epoch", &planned); err != nil {
			t.Fatalf("no line of the network: %v\n%s", err, out)
		}
	}
	counted := float64(bytes[1]-bytes[0]) / (long - short) / (1 << 20)
	t.Logf("%.3f MiB an epoch, the plan says %.2f", counted, planned)
	if counted < 0.999*planned || counted > 1.01*planned {
		t.Errorf("%.3f times the plan's bytes", counted/planned)
	}
}

// TestTwoHosts: over a network the checkpoint is that of one process.
func TestTwoHosts(t *testing.T) {
	h := newTwoHosts(t)
	var files [2][]byte
	for k := range files {
		dir := filepath.Join(t.TempDir(), "run")
		args := []string{"train", "--data", hostsBytes, "--model", "ggcn", "--owners", "4", "--chunks", "8", "--epochs", "4", "--out", dir}
		c, before := command(t, args...), h.moved("tx_bytes")
		if k == 1 {
			c = h.command(args...)
		}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if files[k], err = os.ReadFile(filepath.Join(dir, checkpointFile)); err != nil {
			t.Fatal(err)
		}
		t.Logf("the first host has sent %d bytes", h.moved("tx_bytes")-before)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two hosts write another checkpoint than one process")
	}
}

// TestTwoHostsDeath: whatever of two hosts dies, all ranks and mpirun are gone within ten seconds, not with status 0, and one line names a
// rank of the host where that happened, its task and epoch: three times each.
func TestTwoHostsDeath(t *testing.T) {
	h := newTwoHosts(t)
	for range 3 {
		for _, c := range []struct {
			what string
			do   func(ranks map[int]int) error
		}{
			{"rank killed", func(r map[int]int) error { return syscall.Kill(r[2], syscall.SIGKILL) }},
			{"rank stopped", func(r map[int]int) error { return syscall.Kill(r[2], syscall.SIGSTOP) }},
			{"daemon killed", func(r map[int]int) error { return syscall.Kill(parentOf(r[2]), syscall.SIGKILL) }},
			{"link cut", func(map[int]int) error { return exec.Command("ip", "-n", hostA, "link", "set", linkA, "down").Run() }},
		} {
			t.Run(c.what, func(t *testing.T) {
				if err := exec.Command("ip", "-n", hostA, "link", "set", linkA, "up").Run(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				h.dies(t, c.do)
			})
		}
	}
}

func (h *twoHosts) dies(t *testing.T, do func(ranks map[int]int) error) {
	dir := filepath.Join(t.TempDir(), "run")
	c := h.command("train", "--data", mpiData, "--model", "ggcn", "--owners", "4", "--chunks", "8", "--epochs", "1000000", "--checkpoint-every", "2", "--net-timeout", "8s", "--out", dir)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }()
	for i := 0; ; i++ {
		if _, err := os.Stat(filepath.Join(dir, checkpointFile)); err == nil {
			break
		}
		if i == 600 {
			t.Fatalf("no checkpoint after a minute:\n%s", &out)
		}
		time.Sleep(100 * time.Millisecond)
	}
	ranks, start := ranksOf(t, dir), time.Now()
	if err := do(ranks); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	for _, pid := range ranks {
		for syscall.Kill(pid, 0) == nil && time.Since(start) < 2*hostsEndWithin {
			time.Sleep(50 * time.Millisecond)
		}
	}
	took := time.Since(start)
	if err == nil || took > hostsEndWithin {
		t.Errorf("ended after %.1f s: %v\n%s", took.Seconds(), err, &out)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "no sign of life") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "saga: rank 2 (host hostb) ") && !strings.HasPrefix(lines[0], "saga: rank 3 (host hostb) ") || !strings.Contains(lines[0], "it was at: epoch ") {
		t.Errorf("the ranks say %q\n%s", lines, &out)
	}
	t.Logf("%.1f s, %v: %s", took.Seconds(), err, strings.Join(lines, ""))
}

// parentOf is the process that started pid: of a rank the launcher's daemon.
func parentOf(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	var state string
	var parent int
	_, _ = fmt.Sscan(rest, &state, &parent)
	return parent
}
