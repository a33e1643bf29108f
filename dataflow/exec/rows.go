package exec

import (
	"runtime"

	"golang.org/x/sync/errgroup"

	"sagann/chunk"
	"sagann/device"
)

// rowLists lists for each side, by cell, the rows of the other interval that the cell reads; nil: not listed,
// as no load gathers them.
type rowLists map[*chunk.Side][][]uint32

// listRows lists, in host memory for fast copies, the rows that the plan's gathering loads copy: those of the
// other interval that their cell reads. The runners of an arena share the lists.
func (r *Runner) listRows() error {
	p, total := r.plan.Cells.P, int64(0)
	type cell struct {
		side *chunk.Side
		at   int
		room []uint32
	}
	var cells []cell
	if r.arena.rows == nil {
		r.arena.rows = rowLists{}
	}
	seen := [2][]bool{make([]bool, p*p), make([]bool, p*p)}
	for i := range r.plan.Tasks {
		t := &r.plan.Tasks[i]
		if !t.Is.Gather {
			continue
		}
		side, at := r.sides[t.Dir], int(t.Other)*p+int(t.Own)
		lists := r.arena.rows[side]
		if lists == nil {
			lists = make([][]uint32, p*p)
			r.arena.rows[side] = lists
		}
		r.needs[t.Dir] = lists
		if lists[at] == nil && !seen[t.Dir][at] {
			seen[t.Dir][at] = true
			cells = append(cells, cell{side: side, at: at})
			total += int64(side.Cells[at].Needs)
		}
	}
	if total == 0 {
		return nil
	}
	h, err := r.arena.devices[0].dev.HostAlloc(4 * total)
	if err != nil {
		return err
	}
	r.arena.owned = append(r.arena.owned, h)
	room := device.View[uint32](h.Bytes())
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range cells {
		c := &cells[i]
		n := c.side.Cells[c.at].Needs
		c.room, room = room[:n:n], room[n:]
		g.Go(func() error {
			copy(c.room, c.side.OtherRows(c.at, r.plan.Cells.Rows(c.at%p)))
			return nil
		})
	}
	err = g.Wait()
	for _, c := range cells {
		r.arena.rows[c.side][c.at] = c.room
	}
	return err
}
