package ring_test

import (
	"errors"
	"fmt"
	"math"
	"path"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"sagann/ring"
)

// fakePCI is sysfs of a host: two sockets, on the first a switch with two GPUs behind it,
// on the second a GPU on a root port of its own, in a slot of half its width.
func fakePCI() fstest.MapFS {
	sys := fstest.MapFS{}
	dev := func(dir, vendor, class, speed, width, numa string) {
		for name, text := range map[string]string{"vendor": vendor, "class": class, "max_link_speed": speed, "current_link_width": width, "numa_node": numa} {
			if text != "" {
				sys["devices/"+dir+"/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
			}
		}
	}
	port, gpu, gen4, gen3 := "0x060400", "0x030200", "16.0 GT/s PCIe", "8.0 GT/s PCIe"
	dev("pci0000:17/0000:17:00.0", "0x8086", port, gen4, "16", "0")
	dev("pci0000:17/0000:17:00.0/0000:18:00.0", "0x1000", port, gen4, "16", "0")
	dev("pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:00.0", "0x1000", port, gen4, "16", "0")
	dev("pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:00.0/0000:1a:00.0", "0x10de", gpu, gen4, "16", "0")
	dev("pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:04.0", "0x1000", port, gen4, "16", "0")
	dev("pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:04.0/0000:1b:00.0", "0x10de", gpu, gen4, "16", "0")
	dev("pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:04.0/0000:1b:00.1", "0x10de", "0x040300", gen4, "16", "0") // its sound
	dev("pci0000:ae/0000:ae:00.0", "0x8086", port, gen3, "8", "1")
	dev("pci0000:ae/0000:ae:00.0/0000:af:00.0", "0x10de", gpu, gen4, "8", "-1")
	dev("pci0000:00/0000:00:1f.0", "0x8086", "0x060100", "", "", "0")
	return sys
}

func TestFromSystem(t *testing.T) {
	got, err := ring.FromSystem(fakePCI(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rate := func(gts, width float64) float64 { return gts * 1e9 / 8 * width * (128.0 / 130) }
	link := func(name string, parent int, rate float64) ring.Link {
		return ring.Link{Name: name, Parent: parent, Down: rate, Up: rate}
	}
	switched, staged := ring.Peer{Kind: ring.Switched}, ring.Peer{}
	want := &ring.Tree{Name: "system",
		Links: []ring.Link{link("numa0", -1, 0), link("0000:18:00.0", 0, rate(16, 16)), link("0000:1a:00.0", 1, rate(16, 16)),
			link("0000:1b:00.0", 1, rate(16, 16)), link("numa1", -1, 0), link("0000:af:00.0", 4, rate(8, 8))},
		GPUs:  []ring.GPU{{Name: "gpu0", Link: 2}, {Name: "gpu1", Link: 3}, {Name: "gpu2", Link: 5}},
		Peers: [][]ring.Peer{{switched, switched, staged}, {switched, switched, staged}, {staged, staged, switched}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	r, err := ring.New(got)
	if err != nil || fmt.Sprint(r.Loaders, r.Order) != "[0 2] [0 1 2]" {
		t.Errorf("loaders and order: %v, %v, %v", r.Loaders, r.Order, err)
	}
}

// The driver numbers GPUs in its own way and writes addresses in its own form; peer
// attributes come from it, too.
func TestFromSystemByAddress(t *testing.T) {
	nvlink := func(from, to int) ring.Peer { return ring.Peer{Kind: ring.Direct, Rate: 20e9} }
	got, err := ring.FromSystem(fakePCI(), []string{"00000000:AF:00.0", "0000:1A:00.0"}, nvlink)
	if err != nil {
		t.Fatal(err)
	}
	if name := got.Links[got.GPUs[0].Link].Name; name != "0000:af:00.0" {
		t.Errorf("gpu0 hangs on %s", name)
	}
	if got := got.Rates([]ring.Copy{{From: 0, To: 1}})[0]; got != 20e9 {
		t.Errorf("a copy over NVLink runs at %g", got)
	}
	if _, err := ring.FromSystem(fakePCI(), []string{"0000:99:00.0"}, nil); err == nil {
		t.Error("a device that is not there: no error")
	}
	if _, err := ring.FromSystem(fstest.MapFS{"devices/pci0000:00/0000:00:1f.0/class": {}}, nil, nil); !errors.Is(err, ring.ErrNoGPU) {
		t.Errorf("no GPU: %v", err)
	}
	if _, err := ring.FromSystem(fstest.MapFS{}, nil, nil); err == nil {
		t.Error("no devices: no error")
	}
}

// Whatever stands in the files, reading them neither fails nor panics.
func TestFromSystemNonsense(t *testing.T) {
	for _, text := range []string{"", "Unknown", "-1", "1e999 GT/s", "NaN", "99999999999999999999"} {
		sys := fakePCI()
		for name := range sys {
			if file := path.Base(name); file != "vendor" && file != "class" {
				sys[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		tree, err := ring.FromSystem(sys, nil, nil)
		if err != nil || len(tree.GPUs) != 3 {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if _, err := ring.New(tree); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// host answers as a tree says that a host would.
type host struct {
	tree *ring.Tree
	err  error
}

func (h host) Names() []string {
	var out []string
	for _, g := range h.tree.GPUs {
		out = append(out, g.Name)
	}
	return out
}

func (h host) Time(c []ring.Copy) ([]float64, error) { return h.tree.Rates(c), h.err }

// A tree measured on a host is that of the host, as far as copies can tell.
func TestMeasure(t *testing.T) {
	root := ring.Link{Name: "root", Parent: -1, Down: 156e9, Up: 156e9, Both: 260e9}
	four := &ring.Tree{Links: []ring.Link{root}}
	two := &ring.Tree{Links: []ring.Link{{Name: "socket", Parent: -1}}}
	for i := range 4 {
		four.Links = append(four.Links, ring.Link{Name: fmt.Sprint("pcie", i), Down: 55e9, Up: 55e9, Both: 92e9})
		four.GPUs = append(four.GPUs, ring.GPU{Name: fmt.Sprint("gpu", i), Link: i + 1})
		if i%2 == 0 {
			two.Links = append(two.Links, ring.Link{Name: fmt.Sprint("switch", i/2), Down: 12e9, Up: 12e9})
		}
		two.Links = append(two.Links, ring.Link{Name: fmt.Sprint("slot", i), Parent: 1 + i/2*3, Down: 12e9, Up: 12e9})
		two.GPUs = append(two.GPUs, ring.GPU{Name: fmt.Sprint("gpu", i), Link: len(two.Links) - 1})
	}
	for _, tree := range []*ring.Tree{four, two} {
		var row []ring.Peer
		for range 4 {
			row = append(row, ring.Peer{Kind: ring.Direct, Rate: 380e9})
		}
		tree.Peers = [][]ring.Peer{row, row, row, row}
		m, err := ring.Measure(host{tree, nil})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Tree("measured")
		if err != nil {
			t.Fatal(err)
		}
		for _, copies := range [][]ring.Copy{
			{{From: -1, To: 0}}, {{From: 0, To: -1}}, {{From: -1, To: 0}, {From: 0, To: -1}}, {{From: -1, To: 0}, {From: -1, To: 1}},
			{{From: -1, To: 0}, {From: -1, To: 2}}, {{From: -1, To: 0}, {From: -1, To: 1}, {From: -1, To: 2}, {From: -1, To: 3}}, {{From: 1, To: 2}},
		} {
			want := tree.Rates(copies)
			for i, r := range got.Rates(copies) {
				if math.Abs(r-want[i]) > 1e-6*want[i] {
					t.Errorf("copies %v: %g, on the host %g", copies, r, want[i])
				}
			}
		}
		a, err := ring.New(tree)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ring.New(got)
		if err != nil || fmt.Sprint(a.Loaders) != fmt.Sprint(b.Loaders) {
			t.Errorf("loaders %v, of the measured tree %v (%v)", a.Loaders, b.Loaders, err)
		}
	}
	if _, err := ring.Measure(host{four, errors.New("a copy failed")}); err == nil {
		t.Error("a failed copy: no error")
	}
	if _, err := ring.Measure(host{&ring.Tree{}, nil}); err == nil {
		t.Error("no devices: no error")
	}
	if _, err := (&ring.Measured{Names: []string{"a"}}).Tree("x"); err == nil {
		t.Error("no numbers: no error")
	}
}
