package order_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
	"sagann/internal/draw"
	"sagann/ring"
)

// drawRing is the ring of some devices of a machine.
func drawRing(t *rapid.T) *ring.Ring {
	m, err := sim.LoadMachine(rapid.SampledFrom([]string{"p100x8", "h200x4"}).Draw(t, "machine"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.RingOf(m, rapid.IntRange(2, 4).Draw(t, "devices"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// With the ring of a machine every operand is there when it is read, with every number
// of slots and budget; off and on, destinations sum in the same order.
func TestRingInterleaving(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
		o := plantest.DrawOptions(t, c)
		o.Topology = drawRing(t)
		o.Devices = len(o.Topology.Order)
		if rapid.Bool().Draw(t, "bounded") {
			o.Budget = plantest.Smallest(t, s, c, o) + rapid.Int64Range(0, 1<<14).Draw(t, "slack")
		}
		var orders [2][][3]int32
		for i, on := range []bool{false, true} {
			o.Ring = on
			p, err := o.Plan(s, plantest.Always(c))
			if err != nil {
				t.Fatal(err)
			}
			if err := plantest.Check(p, nil); err != nil {
				t.Fatalf("%+v\n%v", o, err)
			}
			orders[i] = plantest.SumOrder(p)
		}
		if !slices.Equal(orders[0], orders[1]) {
			t.Fatalf("off and on sum in different orders:\n%v\n%v", orders[0], orders[1])
		}
	})
}

// Forward mode on the paper's server: with two slots or more only loaders load chunks, and each
// chunk comes from host memory once a visit.
func TestLoadersOnly(t *testing.T) {
	m, err := sim.LoadMachine("p100x8")
	if err != nil {
		t.Fatal(err)
	}
	s := plantest.StreamSpec()
	for _, n := range []int{2, 3, 4, 8} {
		top, err := sim.RingOf(m, n)
		if err != nil {
			t.Fatal(err)
		}
		for slots := 2; slots <= 4; slots++ {
			c := plantest.FullCells(48*4, 24, 10, 0)
			p, err := planner.New(s, plantest.Always(c), plan.Options{P: 24, Devices: n, Ring: true, Topology: top, Slots: slots, Stream: true, Straight: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := plantest.Check(p, nil); err != nil {
				t.Fatal(err)
			}
			loads := map[int32]int{}
			for _, k := range p.Tasks {
				if k.Kind == plan.Load && k.Value == 0 {
					loads[k.Own]++
					if !slices.Contains(top.Loaders, int(k.Device)) {
						t.Fatalf("%d devices, %d slots: device %d loads, loaders are %v", n, slots, k.Device, top.Loaders)
					}
				}
			}
			for i := range int32(24) {
				if visits := 24 / n; loads[i] != visits {
					t.Fatalf("%d devices, %d slots: chunk %d comes from the host %d times in %d visits", n, slots, i, loads[i], visits)
				}
			}
		}
	}
}

// Simulated, the ring is within a tenth of the closed form, and so is every device for
// itself: see TestClosedFormByHand for the form.
func TestRingIsClosedForm(t *testing.T) {
	for _, name := range []string{"p100x8", "h200x4"} {
		m, err := sim.LoadMachine(name)
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k <= len(m.Devices); k++ {
			top, err := sim.RingOf(m, k)
			if err != nil {
				t.Fatal(err)
			}
			for i, on := range []bool{true, false, true, false} {
				group := 1 + i/2
				n := (48*group + k - 1) / k * k // whole rounds
				v := n * 100000 * group * group // against as many cells, whose copies take time to set up
				p, err := planner.New(plantest.StreamSpec(), plantest.Always(plantest.FullCells(v, n, 1000, 0)),
					plan.Options{P: n, Devices: k, Ring: on, Topology: top, Slots: 6, Group: group, Stream: true, Straight: true}) // a loader of h200x4 is busy while four chunks pass
				if err != nil {
					t.Fatal(err)
				}
				r := top
				if !on {
					r = nil
				}
				form, got := sim.ClosedForm(p, m, r, true).Seconds, sim.Simulate(p, m).Seconds()
				if math.Abs(got/form-1) > 0.1 {
					t.Errorf("%s, %d devices, ring %v, group %d: %g s, by the form %g", name, k, on, group, got, form)
				}
			}
		}
	}
}
