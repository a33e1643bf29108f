package exec

import (
	"errors"
	"fmt"

	"sagann/dataflow/plan"
	"sagann/device"
)

// hosted is what a plan's values have in host memory, and memory there that goes with it.
type hosted struct {
	plan    *plan.Plan
	arena   *Arena
	rows    [][]byte    // by value: rows in new vertex order, RowBytes each; nil: an input that was not set, or no place
	results [][]float32 // by plan.Spec.Results
	owns    []bool      // by value: rows has only those of the rank's own intervals
	mem     []device.HostMem
	files   []*device.HostFile
}

func newHosted(a *Arena, p *plan.Plan) *hosted {
	return &hosted{plan: p, arena: a, rows: make([][]byte, len(p.Spec.Values)), owns: make([]bool, len(p.Spec.Values))}
}

// open takes memory for results, and for the values that have a place on the host. base has the values of the plan's base; nil: it has none.
func (h *hosted) open(base *hosted) (err error) {
	p := h.plan
	for _, id := range p.Spec.Results {
		g := p.Spec.Globals[id]
		h.results = append(h.results, make([]float32, g.Rows*g.Cols))
	}
	for id, v := range p.Spec.Values {
		if !p.HasPlace(id) {
			continue
		}
		if of := p.Host.Lent[id]; of >= 0 && base != nil && (!base.owns[of] || h.apart(id)) {
			n := p.HostBytesOf(id)
			if h.owns[id] = base.owns[of]; h.owns[id] {
				n = h.ownedRows(id) * v.RowBytes
			}
			h.rows[id] = base.rows[of][:n]
			continue
		}
		if p.Places.Sets != nil {
			h.rows[id] = make([]byte, p.Places.Sets.RoomBytes(p.Spec, id))
			continue
		}
		n := p.HostBytesOf(id)
		if h.owns[id] = h.apart(id); h.owns[id] {
			n = h.ownedRows(id) * v.RowBytes
		}
		if p.OnDisk(id) {
			h.rows[id], err = h.file(n)
		} else {
			h.rows[id], err = h.take(n)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	for id, of := range p.Host.Of {
		h.rows[id], h.owns[id] = h.rows[of], h.owns[of]
	}
	return nil
}

// take takes n bytes of memory until close.
func (h *hosted) take(n int64) ([]byte, error) {
	m, err := h.arena.devices[0].dev.HostAlloc(n)
	if err != nil {
		return nil, err
	}
	h.mem = append(h.mem, m)
	return m.Bytes(), nil
}

// leastPinned is the least size in bytes with which HostAlloc returns pinned memory.
const leastPinned = 1 << 20

// pinned takes n bytes of pinned memory until close.
func (h *hosted) pinned(n int64) ([]byte, error) {
	b, err := h.take(max(n, leastPinned))
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}

// file takes n bytes in a file until close.
func (h *hosted) file(n int64) ([]byte, error) {
	f, err := device.NewHostFile(h.arena.scratch, n)
	if err != nil {
		return nil, err
	}
	h.files = append(h.files, f)
	return f.Bytes(), nil
}

// close gives memory and files back. No copy may be queued that reads or writes them.
func (h *hosted) close() (err error) {
	for _, f := range h.files {
		err = errors.Join(err, f.Close())
	}
	for _, m := range h.mem {
		err = errors.Join(err, h.arena.devices[0].dev.HostFree(m))
	}
	h.files, h.mem = nil, nil
	return err
}

// set sets the rows of input id: of all vertices or, if apart(id), of the rank's own intervals.
func (h *hosted) set(id int, rows []byte) error {
	n := h.plan.HostBytesOf(id)
	if h.owns[id] = h.apart(id) && int64(len(rows)) != n; h.owns[id] {
		n = h.ownedRows(id) * h.plan.Spec.Values[id].RowBytes
	}
	if int64(len(rows)) != n {
		return fmt.Errorf("exec: input %s: %d bytes, want %d", h.plan.Spec.Values[id].Name, len(rows), n)
	}
	h.rows[id] = rows
	return h.arena.pin(rows)
}

// interval is the rows of interval i of value id; for a value with a table, the whole table.
func (h *hosted) interval(id, i int) ([]byte, error) {
	p := h.plan
	v := &p.Spec.Values[id]
	if h.rows[id] == nil {
		return nil, fmt.Errorf("input %s was not set", v.Name)
	}
	if z := p.Places.Sets; z != nil && z.TableOf(id) != nil { // tables are not divided into intervals
		return h.rows[id], nil
	}
	place := i - p.Span(id).First
	if h.owns[id] { // among the rank's own intervals
		place = h.ownBefore(i) - h.ownBefore(p.Span(id).First)
	}
	at := int64(place) * int64(p.Span(id).Width) * v.RowBytes
	return h.rows[id][at : at+int64(p.Cells.Rows(i))*v.RowBytes], nil
}

// apart tells whether this rank needs only the rows of its own intervals of value id (plan.Plan.Apart).
func (h *hosted) apart(id int) bool {
	return h.arena.ranks.Ranks() > 1 && h.plan.Apart(id)
}

// ownBefore is how many of the rank's own intervals are before interval i.
func (h *hosted) ownBefore(i int) int {
	n := len(h.arena.devices)
	return i/h.plan.Devices*n + min(n, max(0, h.plan.Owner(i)-h.arena.first))
}

// ownedRows is the number of rows of value id in the rank's own intervals.
func (h *hosted) ownedRows(id int) (n int64) {
	s := h.plan.Span(id)
	for i := s.First; i < s.First+s.N; i++ {
		if h.arena.rankOf(h.plan.Owner(i)) == h.arena.ranks.Rank() {
			n += int64(s.Rows(i))
		}
	}
	return n
}
