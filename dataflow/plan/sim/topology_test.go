package sim_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sagann/dataflow/plan/sim"
	"sagann/ring"
)

// The built-in machines: who loads, in which order chunks are handed on.
func TestRingOfMachines(t *testing.T) {
	for _, c := range []struct {
		name           string
		n              int
		loaders, order string
	}{
		{"p100x8", 8, "gpu0 2, gpu2 2, gpu4 2, gpu6 2", "0 1 2 3 4 5 6 7"},
		{"p100x8", 4, "gpu0 2, gpu2 2", "0 1 2 3"}, // Figure 8
		{"p100x8", 2, "gpu0 2", "0 1"},
		{"p100x8", 6, "gpu0 2, gpu2 2, gpu4 2", "0 1 2 3 4 5"},
		{"h200x4", 0, "gpu0 1, gpu1 1, gpu2 1, gpu3 1", "0 1 2 3"},
		{"h200x4", 2, "gpu0 1, gpu1 1", "0 1"},
		{"h200", 0, "gpu0 1", "0"},
		{"cpu", 0, "cpu0 1", "0"},
	} {
		m, err := sim.LoadMachine(c.name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.RingOf(m, c.n)
		if err != nil {
			t.Fatal(err)
		}
		var loaders []string
		for i, g := range r.Loaders {
			loaders = append(loaders, fmt.Sprintf("%s %d", r.Tree.GPUs[g].Name, r.Takes[i]))
		}
		if got := strings.Join(loaders, ", "); got != c.loaders {
			t.Errorf("%s, %d devices: loaders %s, want %s", c.name, c.n, got, c.loaders)
		}
		if got := strings.Trim(fmt.Sprint(r.Order), "[]"); got != c.order {
			t.Errorf("%s, %d devices: order %s, want %s", c.name, c.n, got, c.order)
		}
		if _, err := sim.RingOf(m, len(m.Devices)+1); err == nil {
			t.Errorf("%s: more devices than there are: no error", c.name)
		}
	}
}

// prober times copies on a tree.
type prober struct{ *ring.Tree }

func (p prober) Names() []string {
	var names []string
	for _, g := range p.GPUs {
		names = append(names, g.Name)
	}
	return names
}

func (p prober) Time(c []ring.Copy) ([]float64, error) { return p.Rates(c), nil }

// A machine file made of measurements reads back, and its ring is that of the machine
// measured.
func TestMeasuredMachine(t *testing.T) {
	for _, name := range []string{"h200x4", "h200", "p100x8", "h200x8_ib"} {
		m, err := sim.LoadMachine(name)
		if err != nil {
			t.Fatal(err)
		}
		m.Disk = &sim.Number{Value: 3e9, Unit: "B/s", Source: "made up for a test"}
		tree, err := m.Tree(0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ring.Measure(prober{tree})
		if err != nil {
			t.Fatal(err)
		}
		made, err := sim.MeasuredMachine(m, got, name+"-measured", "copies of a machine model")
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		back, err := sim.ParseMachine("measured", text)
		if err != nil {
			t.Fatal(err)
		}
		want, err := sim.RingOf(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.RingOf(back, 0)
		if err != nil || !slices.Equal(r.Loaders, want.Loaders) {
			t.Errorf("%s: loaders %v, of the measured machine %v (%v)", name, want.Loaders, r.Loaders, err)
		}
		if back.Disk == nil || *back.Disk != *m.Disk || back.LinkKinds[back.NICs] != m.LinkKinds[m.NICs] {
			t.Errorf("%s: disk %v and adapters %v, of the measured machine %v and %v",
				name, m.Disk, m.LinkKinds[m.NICs], back.Disk, back.LinkKinds[back.NICs])
		}
	}
}

// The ring of several hosts has the devices that are asked for, 0 meaning all.
func TestRingOfHosts(t *testing.T) {
	m, err := sim.LoadMachine("h200x8_ib:2")
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]int{0: 16, 4: 4, 8: 8, 16: 16} {
		r, err := sim.RingOf(m, n)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Order) != want {
			t.Errorf("a ring of %d devices: order %v, want %d devices", n, r.Order, want)
		}
	}
	for _, n := range []int{-8, 12, 17, 24} {
		if r, err := sim.RingOf(m, n); err == nil {
			t.Errorf("a ring of %d of 16 devices, 8 a host: order %v, want an error", n, r.Order)
		}
	}
}
