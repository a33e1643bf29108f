package batches

import (
	"fmt"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/internal/units"
)

// Batches on GPUs. Goroutines fill the inputs and cells of several batches at a time, in pinned memory. They are copied
// while the device computes the previous batch. Rows of vertices that never change, such as features, stay in tables
// on the device if they fit, and kernels read the rows of a batch from there.

// Way is a way in which batches come to the device.
type Way struct {
	Two    bool    // the device has room for further batches, which are copied while one is computed
	Tables bool    // rows of vertices that never change are in tables
	Far    bool    // the tables are in host memory; the device has only their hot rows
	Hot    float64 // with Far: the share of rows that are hot
	Deep   bool    // with Far: rows of three batches before are copied on the device, not of two
	Drawn  bool    // the device draws the batches
	Bytes  int64   // with Drawn: device memory in bytes that drawing takes beside the plan
}

// Ways lists the ways in which batches of l may come, the fastest first.
func (r *Rooms) Ways(l *dataflow.Lowered) (list []Way) {
	d := r.d
	if !d.Forced && (!d.GPU || d.Without("stream")) {
		return []Way{{}}
	}
	if d.far != nil || d.Kinds != nil && d.Cache < 0 { // ranks have some of the features only: rows come with each batch
		return []Way{{Two: true}, {}}
	}
	if d.Kinds != nil { // tables in host memory are of one type
		return []Way{{Two: true, Tables: true}, {Two: true}, {}}
	}
	add := func(x Way) {
		x.Two, x.Tables = true, true
		if d.Cache == 0 || d.Forced {
			list = append(list, x)
		}
		x.Far = true
		for _, x.Hot = range []float64{0.5, 0.2, 0.05, 0} {
			if d.Cache != 0 {
				x.Hot = max(0, d.Cache)
			}
			for _, x.Deep = range []bool{true, false} {
				list = append(list, x)
			}
			if d.Cache != 0 {
				break
			}
		}
	}
	if bytes, err := r.drawsThere(l); err == nil && !d.Forced {
		add(Way{Drawn: true, Bytes: bytes})
	}
	add(Way{})
	return append(list, Way{Two: true}, Way{})
}

// Ahead says what a plan of l, with room for z, provides for batches that come in the way x.
func (d *Draws) Ahead(l *dataflow.Lowered, x Way, z *plan.Sets) plan.Ahead {
	a := plan.Ahead{On: x.Two, Buffers: 2}
	if x.Far || d.Forced {
		a.Buffers = 3
	}
	if x.Deep {
		a.Buffers = 4
	}
	if !x.Tables {
		return a
	}
	for id := range l.Spec.Values { // tables have the order of values, not of the map
		for in, of := range l.Inputs {
			v := &l.Spec.Values[id]
			if of == id && int(v.Set) == z.DeepestOf(z.TypeOf(int(v.Set))) && v.RowBytes%16 == 0 && d.stays(in.Name) {
				from, _ := d.source(in)
				t := plan.Table{Value: id, Rows: from.Edges.V, Again: d.repeats(), All: d.Without("in-place")}
				if t.Host = x.Far && int64(t.Rows)*v.RowBytes >= leastFar; t.Host {
					t.Hot = int(min(1, x.Hot) * float64(t.Rows))
				}
				a.Tables = append(a.Tables, t)
			}
		}
	}
	return a
}

// leastFar is the size in bytes from which a table may be in host memory; smaller tables are not pinned.
const leastFar = 1 << 20

// HostDraws says why the host draws the batches that a GPU trains on. It is "" if the GPU draws them, or if there is no
// GPU.
func (m *Maker) HostDraws() string {
	if !m.GPU || m.way.Drawn {
		return ""
	}
	if m.Kinds != nil {
		return "a GPU draws from one type of vertices and one relation"
	}
	if m.far != nil {
		return "rows of features come over the network with a batch"
	}
	bytes, err := m.rooms.drawsThere(m.low)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("the memory has no room for the %s that the GPU takes to draw", units.Size(bytes))
}
