package table

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"sagann/mine/pattern"
	"sagann/mine/run"
)

// totals are counts by canonical pattern, to which several workers add.
type totals struct {
	mu    sync.Mutex
	of    map[pattern.Pattern]run.Total
	meter *run.Meter // nil: no bound
	stop  *atomic.Bool
}

// Bytes of entries of maps, which take up to 7/3: of a count by pattern, of a code of rows, of a step to one, of a counter by slot, and of a code in a list of shared ones.
const (
	TotalBytes   = int64(unsafe.Sizeof(pattern.Pattern{})+unsafe.Sizeof(run.Total{})+1) * 7 / 3
	codeBytes    = int64(unsafe.Sizeof(code{})) + 48 + int64(unsafe.Sizeof(codeKey{})+9)*7/3
	stepBytes    = int64(unsafe.Sizeof(step{})+9) * 7 / 3
	groupBytes   = int64(unsafe.Sizeof(group{})) + 48 + int64(unsafe.Sizeof(ending{})+9)*7/3
	counterBytes = int64(17) * 7 / 3
	sharedBytes  = int64(unsafe.Sizeof(codeKey{})+9) * 7 / 3
	endingBytes  = int64(unsafe.Sizeof(ending{})+9) * 7 / 3
)

// add adds n to a pattern's count.
func (t *totals) add(p pattern.Pattern, n run.Total) { t.addCanonical(p.Canonical(), n) }

// addCanonical adds n to the count of a pattern in canonical form. If there is no room for another pattern, the work stops.
func (t *totals) addCanonical(p pattern.Pattern, n run.Total) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum, ok := t.of[p]
	if !ok && !t.meter.Take(TotalBytes) {
		t.meter.Stop()
		t.stop.Store(true)
		return
	}
	sum.AddTotal(n)
	t.of[p] = sum
}

// err is why the counts are not whole; ended is the error of the walk.
func (t *totals) err(ended error) error {
	if ended == nil && t.stop.Load() {
		return t.meter.Err()
	}
	return ended
}

// allowance is what a worker takes of the meter for codes and counters, of at most half of the bytes. They are memory for
// speed: where there is none, rows are counted without.
type allowance struct {
	meter *run.Meter
	taken int64
	left  int // counters in tables that it may still take
	more  int // steps in lists that it may still take
}

func newAllowance(m *run.Meter) allowance { return allowance{meter: m, left: tables, more: lists} }

func (a *allowance) take(bytes int64) bool {
	ok := a.meter.TakeHalf(bytes)
	if ok {
		a.taken += bytes
	}
	return ok
}

// table makes a table of so many counters, nil if there is no room.
func (a *allowance) table(n int) []uint64 {
	if n > a.left || !a.take(8*int64(n)) {
		return nil
	}
	a.left -= n
	return make([]uint64, n)
}

// steps makes a list of n steps, nil if there is no room.
func (a *allowance) steps(n int) []step {
	if n > a.more || !a.take(int64(n)*int64(unsafe.Sizeof(step{}))) {
		return nil
	}
	a.more -= n
	return make([]step, n)
}

// give gives everything back.
func (a *allowance) give() {
	a.meter.Give(a.taken)
	a.taken, a.left, a.more = 0, tables, lists
}
