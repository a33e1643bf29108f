package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sagann/backend"
	"sagann/dataflow/plan/sim"
	"sagann/device"
	"sagann/ring"
)

// fakeHost is a host whose GPUs copy at the rates of a tree, and its driver.
type fakeHost struct {
	tree  *ring.Tree
	ways  [][]device.PeerAccess
	buses []string
	now   time.Duration
	open  []*fakeQueue
	trace []func(device.Span)
}

// fakeGPU is a null device whose copies take time, all devices of a host together.
type fakeGPU struct {
	device.Device
	host  *fakeHost
	index int
}

type fakeQueue struct {
	device.Queue
	spans []device.Span
	way   ring.Copy
}

func (h *fakeHost) GPUs() int                   { return len(h.tree.GPUs) }
func (h *fakeHost) Name(int) (string, error)    { return "Fake", nil }
func (h *fakeHost) Bus(gpu int) (string, error) { return h.buses[gpu], nil }
func (h *fakeHost) Card(int) (device.Card, error) {
	return device.Card{Total: 1 << 34, Free: 1 << 33}, nil
}
func (h *fakeHost) Peer(from, to int) (device.PeerAccess, error) {
	return h.ways[from][to], nil
}

func (h *fakeHost) devices(t *testing.T, index ...int) []device.Device {
	var out []device.Device
	h.trace = make([]func(device.Span), h.GPUs())
	for _, i := range index {
		d, err := device.NewNull(i, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, &fakeGPU{d, h, i})
	}
	return out
}

func (d *fakeGPU) Info() device.Info {
	info := d.Device.Info()
	info.Kind, info.Name = "cuda", "Fake"
	return info
}

func (d *fakeGPU) SetTrace(f func(device.Span)) { d.host.trace[d.index] = f }

func (d *fakeGPU) NewQueue(name string) (device.Queue, error) {
	q, err := d.Device.NewQueue(name)
	own := &fakeQueue{Queue: q}
	d.host.open = append(d.host.open, own)
	return own, err
}

func (d *fakeGPU) copy(q device.Queue, way ring.Copy, bytes int64) error {
	own := q.(*fakeQueue)
	own.way = way
	own.spans = append(own.spans, device.Span{Device: d.Info(), Tag: q.Tag(), Bytes: bytes})
	return nil
}

func (d *fakeGPU) CopyH2D(q device.Queue, _ device.Mem, _ int64, src []byte) error {
	return d.copy(q, ring.Copy{From: ring.Host, To: d.index}, int64(len(src)))
}

func (d *fakeGPU) CopyD2H(q device.Queue, dst []byte, _ device.Mem, _ int64) error {
	return d.copy(q, ring.Copy{From: d.index, To: ring.Host}, int64(len(dst)))
}

func (d *fakeGPU) CopyD2D(q device.Queue, _ device.Mem, _ int64, from device.Device, _ device.Mem, _, bytes int64) error {
	return d.copy(q, ring.Copy{From: from.(*fakeGPU).index, To: d.index}, bytes)
}

// Sync runs what all devices have: the first copy of every queue at its rate beside the
// others, until one ends, and so on.
func (d *fakeGPU) Sync() error {
	h := d.host
	left := map[*fakeQueue]float64{}
	for {
		var list []ring.Copy
		var heads []*fakeQueue
		for _, q := range h.open {
			if len(q.spans) > 0 {
				list, heads = append(list, q.way), append(heads, q)
			}
		}
		if len(heads) == 0 {
			return nil
		}
		rates := h.tree.Rates(list)
		next := time.Duration(1 << 62)
		for i, q := range heads {
			if _, ok := left[q]; !ok {
				left[q], q.spans[0].Start = float64(q.spans[0].Bytes), h.now
			}
			next = min(next, 1+time.Duration(left[q]/rates[i]*1e9))
		}
		h.now += next
		for i, q := range heads {
			if left[q] -= rates[i] * next.Seconds(); left[q] <= 0 {
				s := q.spans[0]
				s.End = h.now
				q.spans = q.spans[1:]
				delete(left, q)
				if f := h.trace[s.Device.Index]; f != nil {
					f(s)
				}
			}
		}
	}
}

// fourGPUs share a root; two and two have links of their own, the others the bus, but for
// 0 and 3, which have no access.
func fourGPUs() *fakeHost {
	h := &fakeHost{tree: &ring.Tree{Name: "fake", Links: []ring.Link{{Name: "root", Parent: -1, Down: 30e9, Up: 36e9, Both: 50e9}}}}
	for i := range 4 {
		h.tree.Links = append(h.tree.Links, ring.Link{Name: fmt.Sprint("slot", i), Down: 12e9, Up: 13e9, Both: 20e9})
		h.tree.GPUs = append(h.tree.GPUs, ring.GPU{Name: fmt.Sprint("g", i), Link: i + 1})
		h.buses = append(h.buses, fmt.Sprintf("0000:0%d:00.0", i+1))
		row, ways := make([]ring.Peer, 4), make([]device.PeerAccess, 4)
		for j := range 4 {
			switch {
			case i == j || i+j == 3 && i*j == 0:
			case i/2 == j/2:
				row[j], ways[j] = ring.Peer{Kind: ring.Direct, Rate: 40e9 + 10e9*float64(i/2)}, device.PeerLink
			default:
				row[j], ways[j] = ring.Peer{Kind: ring.Switched}, device.PeerBus
			}
		}
		h.tree.Peers, h.ways = append(h.tree.Peers, row), append(h.ways, ways)
	}
	return h
}

func quietApp() *app { return &app{Log: slog.New(slog.DiscardHandler)} }

// What is measured on a host is the host, also by way of the machine file: rates, who
// loads, and what copies between devices run over.
func TestMeasureGPUs(t *testing.T) {
	h := fourGPUs()
	file := filepath.Join(t.TempDir(), "four.json")
	c := &topoCmd{Device: "cuda", Measure: true, Out: file}
	g, err := c.gpus(h)
	if err != nil {
		t.Fatal(err)
	}
	if spec := backend.Of(c.Device).Spec(g.index...); spec != "cuda:0,1,2,3" {
		t.Errorf("%s", spec)
	}
	h200, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.measure(quietApp(), h200, h.devices(t, g.index...), &copies{bytes: 1 << 19, inFlight: 16, runs: 2, ways: g.kinds()}); err != nil {
		t.Fatal(err)
	}
	m, err := sim.LoadMachine(file)
	if err != nil {
		t.Fatal(err)
	}
	if *m.Kind(3) != *h200.Kind(0) {
		t.Error("kernel rates are not those of the machine named")
	}
	source := m.LinkKinds["root"].Down.Source
	for _, want := range []string{"measured: ", "cuda:3 (Fake)", time.Now().Format("2006-")} {
		if !strings.Contains(source, want) {
			t.Errorf("source %q does not say %q", source, want)
		}
	}
	got, err := m.Tree(0)
	if err != nil {
		t.Fatal(err)
	}
	down := func(gpus ...int) (list []ring.Copy) {
		for _, g := range gpus {
			list = append(list, ring.Copy{From: ring.Host, To: g})
		}
		return list
	}
	for _, list := range [][]ring.Copy{down(0), down(0, 1, 2, 3), down(1, 3), {{From: 2, To: ring.Host}}, append(down(1), ring.Copy{From: 1, To: ring.Host}),
		{{From: 0, To: 1}}, {{From: 3, To: 2}}, {{From: 0, To: 2}}, {{From: 3, To: 0}}} {
		want := h.tree.Rates(list)
		for i, r := range got.Rates(list) {
			if r < 0.97*want[i] || r > 1.03*want[i] {
				t.Errorf("copies %v: %.4g B/s, on the host %.4g", list, r, want[i])
			}
		}
	}
	for i, row := range got.Peers {
		for j, p := range row {
			if p.Kind != h.tree.Peers[i][j].Kind {
				t.Errorf("%d to %d goes %v, on the host %v", i, j, p.Kind, h.tree.Peers[i][j].Kind)
			}
		}
	}
	r, err := ring.New(got)
	if err != nil || len(r.Loaders) != 4 || !strings.Contains(strings.Join(r.Why, "\n"), "gpu0, gpu1, gpu2 and gpu3 load instead") {
		t.Errorf("loaders %v, %v, %v", r.Loaders, r.Why, err)
	}
}

// What is known without measuring: the tree of the system, or where it shows none, one
// root under all.
func TestTopologyOfGPUs(t *testing.T) {
	h := fourGPUs()
	c := &topoCmd{Device: "cuda:2,0"}
	g, err := c.gpus(h)
	if err != nil {
		t.Fatal(err)
	}
	sys := fstest.MapFS{}
	for i, bus := range h.buses {
		dir := fmt.Sprintf("devices/pci0000:00/0000:00:0%d.0/%s/", i, bus)
		sys[dir+"max_link_speed"] = &fstest.MapFile{Data: []byte("16.0 GT/s PCIe\n")}
		sys[dir+"current_link_width"] = &fstest.MapFile{Data: []byte("16\n")}
	}
	tree, err := g.tree(quietApp(), sys)
	if err != nil {
		t.Fatal(err)
	}
	if tree.GPUs[0].Name != "gpu2" || tree.Links[tree.GPUs[0].Link].Name != "0000:03:00.0" || tree.Peers[0][1].Kind != ring.Switched {
		t.Errorf("%+v", tree)
	}
	c = &topoCmd{Device: "cuda", Devices: 2}
	if g, err = c.gpus(h); err != nil {
		t.Fatal(err)
	}
	if tree, err = g.tree(quietApp(), os.DirFS(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	r, err := ring.New(tree)
	if err != nil || len(tree.GPUs) != 2 || tree.Peers[0][1].Kind != ring.Direct || len(r.Loaders) != 2 {
		t.Errorf("%+v, %v", tree, err)
	}
	if _, err := json.Marshal(topoObject(r)); err != nil { // rates that nothing limits
		t.Error(err)
	}
	for _, bad := range []*topoCmd{{Device: "cuda:0,4"}, {Device: "cuda:1", Devices: 2}} {
		if _, err := bad.gpus(h); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}
