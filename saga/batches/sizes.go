package batches

import (
	"time"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

// What batches are expected to take: bytes of host memory, bytes over the link, and time.

// HostBytes is how many bytes of host memory the batches that are prepared ahead take at most: rows of inputs, cells
// and drawn blocks, each up to an eighth larger than needed.
func (m *Maker) HostBytes() int64 {
	z, spec := m.plan.Places.Sets, m.low.Spec
	var n int64
	for id, v := range spec.Values {
		if v.Kind == plan.Input {
			n += int64(z.Room(spec, id)) * v.RowBytes
		}
	}
	for e := 1; e < len(z.Cells); e++ {
		_, dst := m.ends(e)
		n += z.Cells[e][plan.CSC] + z.Cells[e][plan.CSR] + 8*int64(z.Edges[e]) + 8*int64(z.Rows[dst]) // sample.Block
	}
	if m.way.Drawn { // the host fills the inputs of seeds only
		return n + n/8
	}
	return int64(m.way.prepared()+1) * (n + n/8)
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
	return m.rooms.came.rows(t.Hot, m.In.Edges.OutDegrees())
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
