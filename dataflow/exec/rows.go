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
func (c *copies) listRows() error {
	p, total := c.plan.Cells.P, int64(0)
	type cell struct {
		side *chunk.Side
		at   int
		room []uint32
	}
	var cells []cell
	if c.arena.rows == nil {
		c.arena.rows = rowLists{}
	}
	seen := make([][]bool, len(c.sides)) // by plan.Dir, then cell
	c.needs = make([][][]uint32, len(c.sides))
	for i := range c.plan.Tasks {
		t := &c.plan.Tasks[i]
		if !t.Is.Gather {
			continue
		}
		side, at := c.sides[t.Dir], int(t.Other)*p+int(t.Own)
		lists := c.arena.rows[side]
		if lists == nil {
			lists = make([][]uint32, p*p)
			c.arena.rows[side] = lists
		}
		c.needs[t.Dir] = lists
		if seen[t.Dir] == nil {
			seen[t.Dir] = make([]bool, p*p)
		}
		if lists[at] == nil && !seen[t.Dir][at] {
			seen[t.Dir][at] = true
			cells = append(cells, cell{side: side, at: at})
			total += int64(side.Cells[at].Needs)
		}
	}
	if total == 0 {
		return nil
	}
	h, err := c.arena.devices[0].dev.HostAlloc(4 * total)
	if err != nil {
		return err
	}
	c.arena.owned = append(c.arena.owned, h)
	room := device.View[uint32](h.Bytes())
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range cells {
		x := &cells[i]
		n := x.side.Cells[x.at].Needs
		x.room, room = room[:n:n], room[n:]
		g.Go(func() error {
			copy(x.room, x.side.OtherRows(x.at, c.plan.Cells.Rows(x.at%p)))
			return nil
		})
	}
	err = g.Wait()
	for _, x := range cells {
		c.arena.rows[x.side][x.at] = x.room
	}
	return err
}
