package batches

import (
	"fmt"
	"runtime"
	"time"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/internal/units"
)

// What batches are expected to take: bytes of host memory, bytes over the link, and time.

// HostBytes is how many bytes of host memory the batches that are prepared ahead take at most.
func (m *Maker) HostBytes() int64 {
	if m.way.Drawn { // the host fills the inputs of seeds only
		return m.batchBytes()
	}
	return int64(m.prepared()+1) * m.batchBytes()
}

// batchBytes is what one of them takes at most: rows of inputs, cells and drawn blocks, up to an eighth larger than needed.
func (m *Maker) batchBytes() int64 {
	z, spec := m.plan.Places.Sets, m.low.Spec
	var n int64
	for id, v := range spec.Values {
		if v.Kind == plan.Input && z.TableOf(id) == nil {
			n += int64(z.Room(spec, id)) * v.RowBytes
		}
	}
	for e := 1; e < len(z.Cells); e++ {
		_, dst := m.ends(e)
		n += z.Cells[e][plan.CSC] + z.Cells[e][plan.CSR] + 8*int64(z.Edges[e]) + 8*int64(z.Rows[dst]) // sample.Block
	}
	return n + n/8
}

// fewest is how many batches are prepared beside the one that is computed, at least: one is being filled and one is ready.
const fewest = 2

// prepared is how many batches are prepared beside the one that is computed: one a processor, as far as half the free memory goes. On a CPU,
// where they share the processors with the step, the fewest; so, too, where none is copied ahead and host memory is bounded.
func (m *Maker) prepared() int {
	if !m.GPU && !m.Forced || m.HostMem > 0 && !m.way.Two {
		return fewest
	}
	n := runtime.GOMAXPROCS(0)
	if m.Free > 0 {
		n = int(min(int64(n), m.Free/2/max(1, m.batchBytes())-1))
	}
	return max(fewest, n)
}

// fits returns an error if the batches that are prepared ahead take more host memory than is free.
func (m *Maker) fits() error {
	if need := m.HostBytes(); m.Free > 0 && m.HostMem == 0 && need > m.Free {
		return fmt.Errorf("batches that are prepared ahead take %s of host memory, of which %s are free: %d of up to %s; take a smaller --batch or draw fewer neighbours",
			units.Size(need), units.Size(m.Free), need/max(1, m.batchBytes()), units.Size(m.batchBytes()))
	}
	return nil
}

// Tenants lists what drawing and filling batches holds in host memory.
func (m *Maker) Tenants() []plan.Tenant {
	whole := func(name string, bytes int64) plan.Tenant {
		return plan.Tenant{Name: name, Bytes: bytes, Stays: true, From: plan.Whole, To: plan.Whole}
	}
	list := []plan.Tenant{whole("rows to draw from", m.graph.Bytes()), whole("batches prepared ahead", m.HostBytes())}
	if k := m.graph.shard; k != nil {
		list = append(list, k.tenants()...)
	}
	for _, t := range m.plan.Places.Sets.Ahead.Tables {
		if v := &m.low.Spec.Values[t.Value]; t.Host {
			list = append(list, whole("rows of "+v.Name+" that a GPU reads", int64(t.Rows)*v.RowBytes))
		}
	}
	ranks := int64(0)
	for r := range m.each {
		if m.low.Want.Of(r).Rank {
			ranks += 4 * int64(m.each[r].In.Edges.E())
		}
	}
	if ranks > 0 {
		list = append(list, whole("ranks of edges", ranks))
	}
	return list
}

// TableBytes is how many bytes of device memory rows take that never change.
func (m *Maker) TableBytes() (bytes int64) {
	for _, t := range m.plan.Places.Sets.Ahead.Tables {
		n := t.Rows
		if t.Host {
			n = t.Hot
		}
		bytes += int64(n) * m.low.Spec.Values[t.Value].RowBytes
	}
	return bytes
}

// LinkBytes is how many bytes are expected to come over the link for a batch, without the padding of rows; 0 if all
// tables are on the device.
func (m *Maker) LinkBytes() (bytes float64) {
	for i := range m.plan.Places.Sets.Ahead.Tables {
		t := &m.plan.Places.Sets.Ahead.Tables[i]
		bytes += m.linkRows(t) * float64(4*m.low.Spec.Values[t.Value].Cols)
	}
	return bytes
}

// linkRows is how many rows of a table are expected to come over the link for a batch.
func (m *Maker) linkRows(t *plan.Table) float64 {
	if !t.Host {
		return 0
	}
	return m.rooms.came.rows(t.Hot, t.Kept, m.In.Edges.OutDegrees())
}

// Bringing is how long a device of kind k is expected to take, for a batch, to find which rows come over the link and to
// copy the other rows.
func (m *Maker) Bringing(k *sim.DeviceKind) (all time.Duration) {
	list := m.rooms.Expected.Vertices
	for i := range m.plan.Places.Sets.Ahead.Tables {
		if t := &m.plan.Places.Sets.Ahead.Tables[i]; t.Host {
			n := list[len(list)-1]
			all += k.Bring(n, max(0, n-int(m.linkRows(t))), m.low.Spec.Values[t.Value].RowBytes)
		}
	}
	return all
}

// Drawing is how long a device of kind k is expected to take to draw a batch; 0 if the host draws.
func (m *Maker) Drawing(k *sim.DeviceKind) time.Duration {
	if !m.way.Drawn {
		return 0
	}
	var moves []int // by step: how many moves the walks from a vertex make
	for s, step := &m.Sampler, 0; s.Top > 0 && step < s.Steps; step++ {
		moves = append(moves, s.Size(step)*s.Length)
	}
	return k.Draw(m.rooms.Expected.Vertices, m.rooms.Expected.Edges, moves)
}
