package order

import "sagann/dataflow/plan"

// Whole chunks or single rows. For a cell that reads few rows of a source interval, just those rows
// can be gathered from host memory, in ascending order, instead of copying the whole chunk. Rows
// gathered for one cell are of no use to the next. So residency is decided first, and rows are
// compared with a whole chunk that a slot would keep for later cells, too.

// gatherLeast is how many bytes a gathered row counts at least. On an H200 rows of 128 bytes came
// over the link as fast as longer ones (plan.GatherOverhead); shorter rows share a sector with
// bytes that are not wanted.
const gatherLeast = 128

// wanted is the cell that a fetch is for, and the rows of the streamed interval that it reads.
type wanted struct {
	dir   plan.Dir
	own   int   // the cell's own interval
	rows  int64 // rows that the cell reads
	later int64 // rows that later cells read, of this and the next visit, which would find a whole chunk in its slot
	all   int64 // rows of the interval
	known bool  // rows is known, and gathering is allowed
}

// gather tells whether gathering rows of rowBytes bytes is cheaper than copying the whole chunk.
func (w wanted) gather(rowBytes int64) bool {
	if !w.known {
		return false
	}
	return plan.GatherOverhead*float64(w.rows+w.later)*float64(max(rowBytes, gatherLeast)) < float64(w.all*rowBytes)
}

// rows is what cell (j, order[k]) wants. The last chunks of a visit count for the next visit, too: slots
// keep them, and that visit begins with them, as it goes backwards.
func (e *emitter) rows(dir plan.Dir, order []int, k, j int) wanted {
	p, c := e.p, e.p.Cells
	if e.opt.Whole || c.Wide > 0 || c.Needs[dir] == nil || p.Devices > 1 && e.opt.Ring {
		return wanted{}
	}
	i := order[k]
	w := wanted{dir: dir, own: j, rows: c.Needs[dir][j*c.P+i], all: int64(c.Rows(i)), known: c.NNZ[dir][j*c.P+i] > 0}
	at := p.Devices * p.Groups[e.phase] // of a visit
	from, to := j+p.Devices, (j/at+1)*at
	if k >= len(order)-e.ps.Slots && !e.opt.Straight {
		to += at
	}
	for next := from; next < min(to, c.P); next += p.Devices {
		w.later += c.Needs[dir][next*c.P+i]
	}
	return w
}

// loadRows gathers the rows of chunk i of value id that the current cell reads.
func (e *emitter) loadRows(id, i, d int, at int64) {
	row := e.p.Spec.Values[id].RowBytes
	e.copy(plan.Task{Kind: plan.Load, Queue: plan.H2D, Is: plan.Marks{Gather: true}, Device: uint16(d), Dir: e.wanted.dir, Value: int32(id), Own: int32(i), Other: int32(e.wanted.own),
		Rows: int32(e.wanted.rows), Addr: at, Bytes: e.wanted.rows * row})
}
