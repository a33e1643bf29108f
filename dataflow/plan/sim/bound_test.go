package sim_test

import (
	"math"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/planner"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
	"sagann/ring"
)

// The closed form on the paper's server, by hand. One phase gathers x, of which S bytes
// are streamed in each of P/k rounds of visits; cells take C bytes in all. Rates: every
// uplink and every slot D down. Results go up, W bytes in all, beside what comes down.
//
//	one device       all of it over slot0:               (P·S + C)/D
//	two, one uplink  without the ring both load all:     2·(P/2·S + C/2)/D: no gain at all
//	                 with it x crosses the uplink once:  (P/2·S + C)/D, ratio 2 but for C
//	four, two        without:                            2·(P/4·S + C/4)/D
//	                 with: an uplink carries the loads of its loader, half of x, and the
//	                 hop from the other switch, the other half: (P/4·S + C/2)/D
//	eight            the same again, halved; a hop between sockets takes the uplink as any
//	                 other does, and memory and QPI are faster than four uplinks together
func TestClosedFormByHand(t *testing.T) {
	m, err := sim.LoadMachine("p100x8")
	if err != nil {
		t.Fatal(err)
	}
	s := plantest.StreamSpec()
	const p, v = 24, 24 * 4000
	S, D := float64(v*64), m.LinkKinds["pcie3"].Down.Value
	for _, k := range []int{1, 2, 4, 8} {
		c := plantest.FullCells(v, p, 1000, 0)
		C := 0.0
		for _, b := range c.Bytes[plan.CSC] {
			C += float64(b)
		}
		top, err := sim.RingOf(m, k)
		if err != nil {
			t.Fatal(err)
		}
		pl, err := planner.New(s, plantest.Always(c), plan.Options{P: p, Devices: k, Ring: true, Stream: true, Straight: true})
		if err != nil {
			t.Fatal(err)
		}
		g := float64(min(k, 2)) // devices an uplink
		n := float64(p / k)     // visits of a device
		for _, x := range []struct {
			what string
			r    *ring.Ring
			want float64
		}{
			{"without the ring", nil, g * (n*S + C/float64(k)) / D},
			{"in the ring", top, (n*S + g*C/float64(k)) / D},
		} {
			if got := sim.ClosedForm(pl, m, x.r, true).Seconds; math.Abs(got-x.want) > 1e-9*x.want {
				t.Errorf("%d devices, %s: %g s, want %g", k, x.what, got, x.want)
			}
			// Memory of the first socket only: QPI carries the loads of two uplinks and is
			// faster than both together, so nothing changes.
			if got := sim.ClosedForm(pl, m, x.r, false).Seconds; math.Abs(got-x.want) > 1e-9*x.want {
				t.Errorf("%d devices, %s, one memory: %g s, want %g", k, x.what, got, x.want)
			}
		}
	}
}

// Without NUMA-aware allocation a slow bridge holds the devices of the second socket.
func TestFirstTouch(t *testing.T) {
	m, err := sim.LoadMachine("p100x8")
	if err != nil {
		t.Fatal(err)
	}
	q := m.LinkKinds["qpi"]
	q.Down.Value, q.Up.Value, q.Both.Value = 5e9, 5e9, 1e10
	m.LinkKinds["qpi"] = q
	c := plantest.FullCells(24*100000, 24, 1000, 0)
	pl, err := planner.New(plantest.StreamSpec(), plantest.Always(c), plan.Options{P: 24, Devices: 8, Stream: true, Straight: true})
	if err != nil {
		t.Fatal(err)
	}
	near, far := sim.Simulate(pl, m).Seconds(), sim.SimulateFirstTouch(pl, m).Seconds()
	formNear, formFar := sim.ClosedForm(pl, m, nil, true).Seconds, sim.ClosedForm(pl, m, nil, false).Seconds
	// Four devices read at 5 GB/s together what each uplink's two read at 11.7.
	if want := 2 * 11.6882 / 5; math.Abs(formFar/formNear-want) > 1e-3*want || math.Abs(far/near-want) > 0.05*want {
		t.Errorf("first touch takes %.3g times as long, by the form %.3g, want %.3g", far/near, formFar/formNear, want)
	}
}
