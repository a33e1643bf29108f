package order

import "sagann/dataflow/plan"

// Whole chunk or sorted rows: a cell that reads few rows of a source interval can have
// just those, gathered from host memory in ascending order, instead of the whole chunk.
// What was gathered for one cell is of no use to the next, so residency is decided
// first, and a chunk that a slot would keep for the next visit counts for both.

// Costs of a row gather beside a whole copy. On an H200 rows sorted by address came over
// the link at 50 GB/s beside 55 for whole chunks, and no slower with rows of 128 bytes;
// shorter rows share a sector of the link with what is not wanted.
const (
	gatherLeast = 128 // bytes
)

// wanted is what a fetch is for: a cell that reads some rows of the streamed interval.
type wanted struct {
	dir   plan.Dir
	own   int
	rows  int64 // that the cell reads; 0: all
	later int64 // that cells read which would find the whole chunk: of the same visit, and of the next
	all   int64 // rows of the interval
	known bool
}

// gather tells whether sorted rows are cheaper than the whole chunk.
func (w wanted) gather(rowBytes int64) bool {
	if !w.known {
		return false
	}
	return plan.GatherOverhead*float64(w.rows+w.later)*float64(max(rowBytes, gatherLeast)) < float64(w.all*rowBytes)
}

// rows says what cell (j, order[k]) wants. Slots keep the last chunks of a visit, which
// the next visit of the device begins with when it goes backwards.
func (e *emitter) rows(dir plan.Dir, order []int, k, j int) wanted {
	p, c := e.p, e.p.Cells
	if e.opt.Whole || c.Needs[dir] == nil || p.Devices > 1 && e.opt.Ring {
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

// loadRows copies the rows of chunk i of value id that the cell in hand reads.
func (e *emitter) loadRows(id, i, d int, at int64) {
	row := e.p.Spec.Values[id].RowBytes
	e.copy(plan.Task{Kind: plan.Load, Queue: plan.H2D, Is: plan.Marks{Gather: true}, Device: uint16(d), Dir: e.wanted.dir, Value: int32(id), Own: int32(i), Other: int32(e.wanted.own),
		Rows: int32(e.wanted.rows), Addr: at, Bytes: e.wanted.rows * row})
}
