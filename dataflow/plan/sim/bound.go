package sim

import (
	"slices"

	"sagann/dataflow/plan"
)

// Bound is an estimate of an epoch's time on several devices that does not depend on the order
// of tasks: phase by phase, the time of the busiest link or device. A plan is slower, as each
// phase's pipeline has to fill and to drain and as tasks wait for each other. It can be slightly
// faster where the end of a phase overlaps the start of the next.
type Bound struct {
	Seconds float64 // sum over the phases
	Phases  []PhaseBound
}

// PhaseBound is the bound of one phase: the busiest of all links and all devices.
type PhaseBound struct {
	Seconds  float64
	Critical string // the link with "down", "up" or "both ways", or the device with the longest kernels
}

// ClosedForm computes, from what is streamed and not from the order of the tasks, how long each
// link and each device is busy in every phase of p on m. r is the ring; nil: every device loads for
// itself. near says that each device copies from the memory of its own socket; otherwise all host
// memory is in the first socket (see SimulateFirstTouch).
//
// For a phase in which device d makes n(d) visits, each of one interval or of several at the same
// time (Plan.Groups), let n be the largest n(d), S the bytes of all chunks of the values that
// stream, C(d) the bytes of the cells that d loads, and O(d) the bytes of own rows that d loads.
// Then d copies from the host
//
//	n(d)·S + C(d) + O(d)            without the ring
//	n·S·takes(d)/k + C(d) + O(d)    in a ring of k devices, where takes(d) is 0 if d is no loader
//
// and in the ring it gets the rest of the chunks from the device before it. A link carries the sum
// of the copies that cross it. If g devices share one uplink that is as fast as their own links,
// the uplink carries g·(n·S+C+O) without the ring and n·S + g·(C+O) with it, whichever of them
// load: the ring is at most g times as fast.
func ClosedForm(p *plan.Plan, m *Machine, r *plan.Topology, near bool) *Bound {
	n := newNetwork(m)
	if !near {
		n.atFirstRoot(m)
	}
	acc := plan.Accesses(p.Spec)
	kernels := kernelTimes(p, m)
	b := &Bound{}
	for i := range p.Spec.Phases {
		t := newTraffic(n)
		phaseTraffic(p, t, i, acc[i], r)
		pb := t.busiest()
		for d, ns := range kernels[i] {
			if s := ns / 1e9; s > pb.Seconds {
				pb = PhaseBound{s, m.Devices[d].Name}
			}
		}
		b.Seconds += pb.Seconds
		b.Phases = append(b.Phases, pb)
	}
	return b
}

// phaseTraffic adds the copies of one phase.
func phaseTraffic(p *plan.Plan, t *traffic, phase int, acc []plan.Access, r *plan.Topology) {
	c := p.Cells
	mine := make([][]int, p.Devices) // by device: its own intervals
	for j := range c.P {
		if c.Rows(j) > 0 {
			mine[p.Owner(j)] = append(mine[p.Owner(j)], j)
		}
	}
	row := func(id int) float64 { return float64(p.Spec.Values[id].RowBytes) }
	for _, st := range p.Spec.Phases[phase].Steps {
		if st.Kind != plan.Stream {
			continue
		}
		whole := 0.0 // S: bytes of all chunks
		for id := range p.Spec.Values {
			if gathered(p, &st, id) && !p.Places.Resident[id] {
				whole += row(id) * float64(p.Span(id).V)
			}
		}
		for d := range mine {
			for _, j := range mine[d] {
				for i := range c.P { // cells of other types have no edges
					if c.NNZ[st.Dir][j*c.P+i] > 0 && !p.Places.CellsIn[st.Dir] {
						t.down(d, float64(c.Bytes[st.Dir][j*c.P+i]))
					}
				}
			}
			if r == nil || p.Devices == 1 {
				t.down(d, whole*float64(p.Visits(phase, len(mine[d]))))
			}
		}
		if r != nil && p.Devices > 1 {
			ringTraffic(p, t, phase, r, whole, mine)
		}
	}
	for id, v := range p.Spec.Values {
		for d := range mine {
			for _, j := range mine[d] {
				s := p.Span(id)
				if !s.Has(j) {
					continue
				}
				n := row(id) * float64(c.Rows(j))
				if acc[id].OwnRead && !p.Places.Resident[id] {
					t.down(d, n)
				}
				if acc[id].OwnWrite && (v.Output || v.Kind != plan.Temp && !p.Places.Resident[id]) {
					t.up(d, n)
				}
			}
		}
	}
}

// gathered tells whether st streams value id, to read it or to derive another value from it.
func gathered(p *plan.Plan, st *plan.Step, id int) bool {
	if p.Spec.Values[id].Derive != nil {
		return false
	}
	if st.Reads(id) {
		return true
	}
	for other := range p.Spec.Values {
		if d := p.Spec.Values[other].Derive; d != nil && st.Reads(other) &&
			slices.ContainsFunc(d.Operands, func(o plan.Operand) bool { return o.Kind == plan.OtherValue && !o.Write && o.ID == id }) {
			return true
		}
	}
	return false
}

// ringTraffic adds the copies of all chunks around the ring, once for each round of visits. A chunk
// goes from its loader to the last device that has an interval in the round.
func ringTraffic(p *plan.Plan, t *traffic, phase int, r *plan.Topology, whole float64, mine [][]int) {
	k := len(r.Order)
	for visit := range p.Visits(phase, int(p.Share())) {
		for l, g := range r.Loaders {
			bytes := whole * float64(r.Takes[l]) / float64(k)
			at := slices.Index(r.Order, g)
			last := -1
			for far := range k {
				if visit < p.Visits(phase, len(mine[r.Order[(at+far)%k]])) {
					last = far
				}
			}
			if last >= 0 {
				t.down(g, bytes)
			}
			for far := 1; far <= last; far++ {
				t.peer(r.Order[(at+far-1)%k], r.Order[(at+far)%k], bytes)
			}
		}
	}
}

// kernelTimes sums, by phase and device, the times (ns) of kernel calls.
func kernelTimes(p *plan.Plan, m *Machine) [][]float64 {
	out := make([][]float64, len(p.Spec.Phases))
	for i := range out {
		out[i] = make([]float64, p.Devices)
	}
	for d := range p.Devices {
		clock := newClock(p, m.Kind(d))
		for i := range p.Tasks {
			if k := &p.Tasks[i]; k.Queue == plan.Compute && int(k.Device) == d && k.Kind == plan.Run {
				out[k.Phase][d] += clock.ns(k)
			}
		}
	}
	return out
}

// traffic is bytes by resource of a network, which are three per link: down, up and both.
type traffic struct {
	n     *network
	bytes []float64
}

func newTraffic(n *network) *traffic { return &traffic{n, make([]float64, len(n.capacity))} }

func (t *traffic) add(r *route, bytes float64) {
	for _, u := range r.uses {
		t.bytes[u] += bytes
	}
}

func (t *traffic) down(d int, bytes float64)    { t.add(&t.n.hosts[d], bytes) }
func (t *traffic) up(d int, bytes float64)      { t.add(&t.n.hostsUp[d], bytes) }
func (t *traffic) peer(a, b int, bytes float64) { t.add(&t.n.peers[a][b], bytes) }

// busiest is the resource that takes longest.
func (t *traffic) busiest() PhaseBound {
	var b PhaseBound
	for u, bytes := range t.bytes {
		if s := bytes / t.n.capacity[u] / 1e9; s > b.Seconds {
			b = PhaseBound{s, t.n.names[u/3] + [...]string{" down", " up", " both ways"}[u%3]}
		}
	}
	return b
}

// Critical names the link or device that bounds phases for the longest time in total.
func (b *Bound) Critical() string {
	sum := map[string]float64{}
	most := ""
	for _, p := range b.Phases {
		if sum[p.Critical] += p.Seconds; most == "" || sum[p.Critical] > sum[most] {
			most = p.Critical
		}
	}
	return most
}
