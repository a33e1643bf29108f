package main

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPlanHosts: on 1 to 8 hosts simulated epochs of two layers on 111 M vertices lie between what kernels and copies take side
// by side and one after the other, by a formula, give or take a fifth; and it is said that the ring does not scale.
func TestPlanHosts(t *testing.T) {
	t.Parallel()
	const (
		rows     = 111059956 * 128 * 4 // bytes
		adapters = 360e9               // bytes a second, of a host
		peers    = 380e9
	)
	for _, m := range []struct {
		model  string
		passes float64 // of all rows along edges
		one    float64 // seconds of kernels on one GPU
	}{{"gcn", 2, 1.40}, {"ggcn", 6, 6.3}} {
		out, err := command(t, "plan", "--shape", "vertices=111059956,edges=1615685872,features=128,classes=172", "--model", m.model, "--hidden", "128", "--machine", "h200x8_ib", "--hosts", "8").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !strings.Contains(string(out), "The ring stops scaling at ") {
			t.Errorf("nothing is said of scaling:\n%s", out)
		}
		seen := 0
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) < 5 {
				continue
			}
			hosts, err := strconv.ParseFloat(f[0], 64)
			if err != nil {
				continue
			}
			took, err := time.ParseDuration(f[3])
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			seen++
			copies := m.passes * rows * max((hosts-1)/hosts/adapters, 7./8/peers)
			kernels := m.one / (8 * hosts)
			if low, high := max(copies, kernels)/1.2, 1.2*(copies+kernels); took.Seconds() < low || took.Seconds() > high {
				t.Errorf("%s on %v hosts: %v, not %.3f to %.3f s", m.model, hosts, took, low, high)
			}
		}
		if seen != 4 {
			t.Errorf("%d rows:\n%s", seen, out)
		}
	}
}
