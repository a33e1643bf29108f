package plan

import (
	"cmp"
	"fmt"
	"slices"

	"sagann/internal/units"
)

// Host memory: what does not fit its budget lies in files on a disk. What copies move
// least of, for each byte that it takes, goes there first.

// Tenant is something that lies in host memory for as long as plans run.
type Tenant struct {
	Name  string
	Bytes int64
	Moved int64 // bytes that copies of an epoch read and write of it
	Stays bool  // is in memory always
	Disk  bool  // lies in a file; PlaceHost leaves what does so already and adds to it

	From, To int // phases in which an epoch needs it; Whole, Whole: it is needed from epoch to epoch

	values [][]int // by plan of Tenants: the values that lie there
}

// HostPlan says what lies in memory and what in files.
type HostPlan struct {
	Tenants []Tenant
	Budget  int64 // bytes of host memory; 0: no bound
	Memory  int64 // bytes in memory, buffers between files and devices included
	Disk    int64 // bytes in files
	Staging int64 // of Memory: those buffers
}

// HostError says that what must stay in host memory does not fit.
type HostError struct {
	Budget   int64
	Smallest int64 // the smallest budget that would do
}

// Error names the smallest budget that would do.
func (e *HostError) Error() string {
	return fmt.Sprintf("plan: %s of host memory are too few: the smallest budget that would do is %s, for what cannot lie on a disk",
		units.Size(e.Budget), units.Least(e.Smallest))
}

// PlaceHost decides what of list lies in files so that the rest is within budget bytes; 0
// is no bound. Staging is what buffers take as soon as one tenant lies in a file. What
// is moved most for each byte that it takes stays, then what is smaller. The order of
// list is kept, and the result a pure function of the arguments.
func PlaceHost(list []Tenant, budget, staging int64) (*HostPlan, error) {
	h := &HostPlan{Tenants: slices.Clone(list), Budget: budget}
	var stay, all int64
	movable := make([]*Tenant, 0, len(list))
	files := false
	for i := range h.Tenants {
		t := &h.Tenants[i]
		if t.Disk {
			files = true
			continue
		}
		if all += t.Bytes; t.Stays {
			stay += t.Bytes
		} else if t.Bytes > 0 {
			movable = append(movable, t)
		}
	}
	if files {
		all += staging
	}
	if budget > 0 && all > budget {
		left := budget - stay - staging
		if len(movable) == 0 || left < 0 {
			small := all
			if len(movable) > 0 {
				small = min(all, stay+staging)
			}
			return nil, &HostError{Budget: budget, Smallest: small}
		}
		slices.SortStableFunc(movable, func(a, b *Tenant) int {
			return cmp.Or(cmp.Compare(float64(b.Moved)/float64(b.Bytes), float64(a.Moved)/float64(a.Bytes)), cmp.Compare(a.Bytes, b.Bytes))
		})
		for _, t := range movable {
			if t.Disk = t.Bytes > left; !t.Disk {
				left -= t.Bytes
			}
		}
	}
	for i := range h.Tenants {
		if t := &h.Tenants[i]; t.Disk {
			h.Disk += t.Bytes
			h.Staging = staging
		} else {
			h.Memory += t.Bytes
		}
	}
	h.Memory += h.Staging
	return h, nil
}

// OnHost tells whether value id has host memory of its own: it is swapped, or wanted
// after the step, and lies in no other value's place, of this plan or of its base.
func (p *Plan) OnHost(id int) bool { return p.HasPlace(id) && p.Host.Lent[id] < 0 }

// HasPlace is OnHost, or that the place is lent.
func (p *Plan) HasPlace(id int) bool {
	v := &p.Spec.Values[id]
	return p.Host.Of[id] == id && (v.Output || v.Kind == Stored && !p.Places.Resident[id])
}

// HostSharers are the values, in ascending order, whose host memory is that of value id.
func (p *Plan) HostSharers(id int) []int {
	var list []int
	for k, of := range p.Host.Of {
		if of == id {
			list = append(list, k)
		}
	}
	return list
}

// OnDisk tells whether the host memory of value id is a file.
func (p *Plan) OnDisk(id int) bool { return p.Host.Disk != nil && p.Host.Disk[id] }

// HostBytesOf is what value id takes in host memory, alone or in another's place.
func (p *Plan) HostBytesOf(id int) int64 { return int64(p.Cells.V) * p.Spec.Values[id].RowBytes }

// HostMoves is how many bytes a step copies from and to the host memory of each value,
// and of the cells.
func (p *Plan) HostMoves() (values []int64, cells int64) {
	values = make([]int64, len(p.Spec.Values))
	for i := range p.Tasks {
		switch t := &p.Tasks[i]; {
		case t.Kind != Load && t.Kind != Save:
		case t.Value < 0:
			cells += t.Bytes
		default:
			values[t.Value] += t.Bytes
		}
	}
	return values, cells
}

// Apart tells whether each of several ranks has the rows of value id on its host for its own intervals alone. Of outputs, and
// of inputs that steps write, all have all rows.
func (p *Plan) Apart(id int) bool {
	for _, s := range p.HostSharers(id) {
		if v := &p.Spec.Values[s]; v.Output || v.State {
			return false
		}
	}
	return true
}

// hostShare is HostBytesOf, of several ranks at most on one.
func (p *Plan) hostShare(id, ranks int) int64 {
	if ranks < 2 || !p.Apart(id) {
		return p.HostBytesOf(id)
	}
	rows := make([]int, ranks)
	for j := range p.Cells.P {
		rows[p.Owner(j)*ranks/p.Devices] += p.Cells.Rows(j)
	}
	return int64(slices.Max(rows)) * p.Spec.Values[id].RowBytes
}

// cellShare is CellBytes, of several ranks at most on one.
func (p *Plan) cellShare(ranks int) int64 {
	bytes := make([]int64, max(1, ranks))
	for _, side := range p.Cells.Bytes {
		for i, b := range side {
			bytes[p.Owner(i/p.Cells.P)*len(bytes)/max(1, p.Devices)] += b
		}
	}
	return slices.Max(bytes)
}

// ListBytes is what the lists of the rows that loads gather take in host memory. Plans
// of one session share the lists of a cell.
func ListBytes(plans ...*Plan) int64 { return listShare(1, plans...) }

// listShare is ListBytes, of several ranks at most on one.
func listShare(ranks int, plans ...*Plan) int64 {
	type cell struct {
		p          int
		dir        Dir
		own, other int32
	}
	seen := map[cell]bool{}
	n := make([]int64, max(1, ranks))
	for _, p := range plans {
		for i := range p.Tasks {
			t := &p.Tasks[i]
			if c := (cell{p.Cells.P, t.Dir, t.Other, t.Own}); t.Is.Gather && !seen[c] {
				seen[c] = true
				n[int(t.Device)*len(n)/max(1, p.Devices)] += 4 * p.Cells.Needs[t.Dir][int(t.Other)*p.Cells.P+int(t.Own)]
			}
		}
	}
	return slices.Max(n)
}

// CellBytes is what the cells take in host memory.
func (c *Cells) CellBytes() int64 {
	var n int64
	for _, side := range c.Bytes {
		for _, b := range side {
			n += b
		}
	}
	return n
}
