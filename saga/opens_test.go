package saga

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"sagann/backend"
	"sagann/dataset"
	"sagann/device"
	"sagann/net"
	"sagann/net/local"
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

// buses are GPUs by their addresses.
type buses []string

func (b buses) GPUs() int                              { return len(b) }
func (buses) Name(int) (string, error)                 { return "test", nil }
func (b buses) Bus(i int) (string, error)              { return b[i], nil }
func (buses) Peer(int, int) (device.PeerAccess, error) { return 0, nil }
func (buses) Card(int) (device.Card, error)            { return device.Card{Total: 1, Free: 1}, nil }

// TestSharedGPUs: ranks that see one list of as many GPUs as each opens all open the first of them, and are told so.
func TestSharedGPUs(t *testing.T) {
	cuda := backend.Of("cuda")
	was := cuda.System
	t.Cleanup(func() { cuda.System = was })
	cuda.System = func() (device.System, error) { return buses{"0000:17:00.0", "0000:18:00.0"}, nil }
	for _, x := range []struct{ device, visible, want string }{
		{"cuda:0,1", "0", "ranks 0 and 1 share the GPU 0000:17:00.0 of host "},
		{"cuda:0,1", "0,1", ""}, // they divide the two
		{"cuda:0,0", "0", ""},   // as it was asked for
		{"cuda:0,1", "MIG-1c2d", ""},
		{"cpu:2", "0", ""},
	} {
		t.Setenv("CUDA_VISIBLE_DEVICES", x.visible)
		_, links := local.New(2)
		var texts [2]string
		var errs [2]error
		var all sync.WaitGroup
		for r := range links {
			all.Go(func() {
				p := &Program{definition: &definition{request: request{cfg: Config{Device: x.device, Mem: 1 << 30, Net: net.Over(links[r])}}}}
				texts[r], errs[r] = p.SharedGPUs()
			})
		}
		all.Wait()
		if texts[0] != texts[1] || errs[0] != nil || errs[1] != nil || (texts[0] == "") != (x.want == "") || !strings.HasPrefix(texts[0], x.want) {
			t.Errorf("%s, %s visible: %q, %v", x.device, x.visible, texts, errs)
		}
	}
}

// TestFree: what bounds training where Config.Mem does not, and a budget above what a card has.
func TestFree(t *testing.T) {
	cuda := backend.Of("cuda")
	was := cuda.System
	t.Cleanup(func() { cuda.System = was })
	h200, err := (&Config{Machine: "h200"}).machine()
	if err != nil {
		t.Fatal(err)
	}
	model := int64(h200.Kind(0).Memory.Value)
	for _, x := range []struct {
		driver bool
		ranks  int
		c      Config
		want   cards
	}{
		{true, 1, Config{Device: "cuda:0,1"}, cards{30, 100}}, // the least that is free
		{true, 1, Config{Device: "cuda:0,1", Machine: "h200"}, cards{30, 100}},
		{true, 1, Config{Device: "cuda:0,1", Mem: 5}, cards{0, 100}},
		{true, 2, Config{Device: "cuda:0,1"}, cards{30, 100}}, // the least of all ranks
		{true, 1, Config{Device: "cpu:2"}, cards{}},
		{false, 1, Config{Device: "cuda", Machine: "h200"}, cards{model, model}},
		{false, 1, Config{Device: "cuda"}, cards{}},
	} {
		cuda.System = func() (device.System, error) {
			if !x.driver {
				return nil, errors.New("no driver")
			}
			return memories{40, 30}, nil
		}
		_, links := local.New(x.ranks)
		var all sync.WaitGroup
		for r := range links {
			all.Go(func() {
				on := planTarget{definition: &definition{request: request{cfg: x.c, data: &dataset.Data{}}}}
				if x.ranks > 1 {
					on.cfg.Net = net.Over(links[r])
				}
				if err := on.findCards(true); on.cards != x.want || err != nil {
					t.Errorf("%+v: %+v, %v, want %+v", x, on.cards, err, x.want)
				}
			})
		}
		all.Wait()
	}
	cuda.System = func() (device.System, error) { return memories{40, 30}, nil }
	var wrong *device.MemoryError
	on := planTarget{definition: &definition{request: request{cfg: Config{Device: "cuda:1", Mem: 101}, data: &dataset.Data{}}}}
	if err := on.findCards(true); !errors.As(err, &wrong) || wrong.Device != "cuda:1" || wrong.Card.Free != 30 {
		t.Errorf("a budget above all memory: %v", err)
	}
}

// memories are GPUs of 100 bytes with so many free.
type memories []int64

func (m memories) GPUs() int                              { return len(m) }
func (memories) Name(int) (string, error)                 { return "test", nil }
func (memories) Bus(int) (string, error)                  { return "", nil }
func (memories) Peer(int, int) (device.PeerAccess, error) { return 0, nil }
func (m memories) Card(i int) (device.Card, error)        { return device.Card{Total: 100, Free: m[i]}, nil }
