package chunk

import "sync/atomic"

// someOf is how many times fewer vertices than all are counted one by one.
const someOf = 16

// DegreesOf counts the edges that end in vertices of list, which differ, as InDegrees does or, with loops, as InDegrees of WithSelfLoops does
// without its copy. Of other vertices the result says nothing. It is an error if an edge ends at no vertex, and ends alone are looked at.
func (e *Edges) DegreesOf(list []uint32, loops bool) ([]uint32, error) {
	wanted, has := newBitset(e.V), newBitset(e.V)
	for _, v := range list {
		wanted.add(int(v))
	}
	var n []uint32
	if len(list) > e.V/someOf {
		if e.lastEnd() >= e.V {
			return nil, e.Validate()
		}
		n = e.InDegrees()
		if loops {
			e.markLoops(has)
		}
	} else {
		n = make([]uint32, 64*len(wanted))
		var wrong atomic.Bool
		Ranges(e.E(), func(lo, hi int) {
			for k, v := range e.Dst[lo:hi] {
				if int(v>>6) >= len(wanted) {
					wrong.Store(true)
					return
				}
				if wanted[v>>6]>>(v&63)&1 == 1 {
					if atomic.AddUint32(&n[v], 1); loops && e.always(lo+k) {
						has.addShared(int(v))
					}
				}
			}
		})
		if wrong.Load() {
			return nil, e.Validate()
		}
		n = n[:e.V]
	}
	if !loops {
		return n, nil
	}
	for _, v := range list {
		if has[v>>6]>>(v&63)&1 == 0 {
			n[v]++
		}
	}
	return n, nil
}

// lastEnd is the largest vertex where an edge ends.
func (e *Edges) lastEnd() int {
	var most atomic.Uint32
	Ranges(e.E(), func(lo, hi int) {
		last := uint32(0)
		for _, v := range e.Dst[lo:hi] {
			last = max(last, v)
		}
		for {
			old := most.Load()
			if last <= old || most.CompareAndSwap(old, last) {
				return
			}
		}
	})
	return int(most.Load())
}
