package exec

import (
	"sagann/chunk"
	"sagann/device"
)

// listRows lists, in host memory that copies reach at full speed, the rows that the
// plan's gathering loads want of the other interval of their cells.
func (r *Runner) listRows() error {
	p, total := r.plan.Cells.P, int64(0)
	cells := [2][]int{}
	for d, side := range r.sides {
		if side == nil {
			continue
		}
		r.needs[d] = make([][]uint32, p*p)
		seen := make([]bool, p*p)
		for i := range r.plan.Tasks {
			t := &r.plan.Tasks[i]
			if c := int(t.Other)*p + int(t.Own); t.Gather && int(t.Dir) == d && !seen[c] {
				seen[c] = true
				cells[d] = append(cells[d], c)
				total += int64(side.Cells[c].Needs)
			}
		}
	}
	if total == 0 {
		return nil
	}
	h, err := r.arena.devices[0].dev.HostAlloc(4 * total)
	if err != nil {
		return err
	}
	r.owned = append(r.owned, h)
	room := device.View[uint32](h.Bytes())
	for d, side := range r.sides {
		for _, c := range cells[d] {
			n := r.fill(room, side, c)
			r.needs[d][c], room = room[:n:n], room[n:]
		}
	}
	return nil
}

func (r *Runner) fill(room []uint32, side *chunk.Side, c int) int {
	return copy(room, side.OtherRows(c, r.plan.Cells.Rows(c%side.P)))
}
