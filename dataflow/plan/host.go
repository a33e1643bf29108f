package plan

import (
	"cmp"
	"fmt"
	"slices"

	"sagann/internal/units"
)

// Host memory: what does not fit the budget lies in files on a disk. What is copied least often
// goes there first.

// Tenant is a piece of host memory that plans of a session need.
type Tenant struct {
	Name  string
	Bytes int64
	Moved int64 // bytes that the copies of an epoch read from it and write to it
	Stays bool  // must be in memory
	Disk  bool  // lies in a file; PlaceHost sets it, and leaves it where it is set already

	From, To int // phases in which an epoch needs it; Whole, Whole: it is needed from epoch to epoch

	values [][]int // by plan given to Tenants: the values that lie there
}

// HostPlan says what lies in memory and what in files.
type HostPlan struct {
	Tenants []Tenant
	Budget  int64 // bytes of host memory; 0: no bound
	Memory  int64 // bytes in memory, Staging included
	Disk    int64 // bytes in files
	Staging int64 // bytes of buffers between files and devices
}

// HostError says that what must stay in host memory does not fit.
type HostError struct {
	Budget   int64 // bytes
	Smallest int64 // the smallest budget that works, in bytes
}

// Error names the smallest budget that works.
func (e *HostError) Error() string {
	return fmt.Sprintf("plan: %s of host memory are too few: the smallest budget that would do is %s, for what cannot lie on a disk",
		units.Size(e.Budget), units.Least(e.Smallest))
}

// PlaceHost decides which tenants of list lie in files so that the rest fits into budget bytes;
// budget 0 is no bound. staging is the bytes that buffers take as soon as one tenant lies in a
// file. Of what lies in files little is moved: at most twice as much as in the best case (toFiles). The order
// of list is kept, and the result depends on nothing but the arguments. The error is a *HostError if tenants that must stay do not fit.
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
		if len(movable) == 0 || budget < stay+staging {
			small := all
			if len(movable) > 0 {
				small = min(all, stay+staging)
			}
			return nil, &HostError{Budget: budget, Smallest: small}
		}
		over := all - budget
		if !files {
			over += staging
		}
		toFiles(movable, over)
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

// toFiles puts tenants of at least over bytes into files. It goes through list, those first that are moved least for their size, and
// takes what does not suffice; each of the others suffices with what was taken before it, and the best of these sets is taken.
// What is not needed then stays in memory.
func toFiles(list []*Tenant, over int64) {
	slices.SortStableFunc(list, func(a, b *Tenant) int {
		return cmp.Or(cmp.Compare(float64(a.Moved)/float64(a.Bytes), float64(b.Moved)/float64(b.Bytes)), cmp.Compare(b.Bytes, a.Bytes))
	})
	var taken, best []*Tenant
	var bytes, moved, least int64
	for _, t := range list {
		switch {
		case bytes+t.Bytes < over:
			taken, bytes, moved = append(taken, t), bytes+t.Bytes, moved+t.Moved
		case best == nil || moved+t.Moved < least:
			best, least = append(slices.Clone(taken), t), moved+t.Moved
		}
	}
	for _, t := range best {
		over -= t.Bytes
		t.Disk = true
	}
	for _, t := range slices.Backward(best) {
		if over+t.Bytes <= 0 {
			over += t.Bytes
			t.Disk = false
		}
	}
}

// OnHost tells whether value id has host memory of its own: it is stored and swapped, or an
// output, and uses the memory of no other value, neither of this plan nor of its base.
func (p *Plan) OnHost(id int) bool { return p.HasPlace(id) && p.Host.Lent[id] < 0 }

// HasPlace is OnHost, but also true if the memory is lent by a value of the base.
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

// HostBytesOf is how many bytes value id takes in host memory, its own or another value's.
func (p *Plan) HostBytesOf(id int) int64 { return int64(p.Span(id).V) * p.Spec.Values[id].RowBytes }

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

// Apart tells whether each of several ranks holds the rows of value id for its own intervals only. If value
// id, or one that shares its memory, is an output or an input that steps write, every rank holds all rows.
func (p *Plan) Apart(id int) bool {
	for _, s := range p.HostSharers(id) {
		if v := &p.Spec.Values[s]; v.Output || v.State {
			return false
		}
	}
	return true
}

// hostShare is HostBytesOf on the rank that needs most of it.
func (p *Plan) hostShare(id, ranks int) int64 {
	if ranks < 2 || !p.Apart(id) {
		return p.HostBytesOf(id)
	}
	rows := make([]int, ranks)
	s := p.Span(id)
	for j := s.First; j < s.First+s.N; j++ {
		rows[p.Owner(j)*ranks/p.Devices] += s.Rows(j)
	}
	return int64(slices.Max(rows)) * p.Spec.Values[id].RowBytes
}

// cellShare is CellBytes on the rank that needs most of it.
func (p *Plan) cellShare(ranks int) int64 {
	bytes := make([]int64, max(1, ranks))
	for _, side := range p.Cells.Bytes {
		for i, b := range side {
			bytes[p.Owner(i/p.Cells.P)*len(bytes)/max(1, p.Devices)] += b
		}
	}
	return slices.Max(bytes)
}

// ListBytes is how many bytes of host memory the lists of rows take that loads gather, 4 per row.
// Plans of one session share the lists of a cell.
func ListBytes(plans ...*Plan) int64 { return listShare(1, plans...) }

// listShare is ListBytes on the rank that needs most of it.
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

// CellBytes is how many bytes all cells take in host memory.
func (c *Cells) CellBytes() int64 {
	var n int64
	for _, side := range c.Bytes {
		for _, b := range side {
			n += b
		}
	}
	return n
}
