package saga

import (
	"os"
	"testing"

	"sagann/net"
)

// host is a link of ranks on one host.
type host struct {
	net.Link
	rank, ranks int
}

func (h host) Rank() int  { return h.rank }
func (h host) Ranks() int { return h.ranks }
func (h host) Hosts() []string {
	list := make([]string, h.ranks)
	for i := range list {
		list[i] = "a"
	}
	return list
}

// TestOpens: ranks of one host divide its GPUs, unless each sees only those that are its own.
func TestOpens(t *testing.T) {
	for _, x := range []struct {
		device, visible string // "none": it is not set
		ranks           int
		first           []int // by rank
	}{
		{"cuda:0,1,2,3", "none", 2, []int{0, 2}},
		{"cuda:0,1,2,3", "0,1,2,3", 2, []int{0, 2}},
		{"cuda:0,1,2,3", "4,5", 2, []int{0, 0}},
		{"cuda:0,1,2,3", "GPU-8f2a,GPU-91b3", 2, []int{0, 0}},
		{"cuda:0,1", "0", 2, []int{0, 0}},
		{"cuda:0,1", "0,-1,1", 2, []int{0, 0}},
		{"cuda:0,1,2,3", "0", 2, []int{0, 2}}, // too few: opening the second says so
		{"cuda:0,1", "", 2, []int{0, 1}},
		{"cuda:0,1", "0,1", 1, []int{0}},
		{"cpu:4", "0,1", 2, []int{0, 2}},
	} {
		if t.Setenv("CUDA_VISIBLE_DEVICES", x.visible); x.visible == "none" {
			if err := os.Unsetenv("CUDA_VISIBLE_DEVICES"); err != nil { // until the test ends
				t.Fatal(err)
			}
		}
		for rank, want := range x.first {
			c := Config{Device: x.device, Net: net.Over(host{rank: rank, ranks: x.ranks})}
			if first, _ := c.opens(); first != want {
				t.Errorf("%s, %s visible, rank %d of %d: opens from number %d on, want %d", x.device, x.visible, rank, x.ranks, first, want)
			}
		}
	}
}
