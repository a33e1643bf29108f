package device

import (
	"fmt"
	"math"
	"unsafe"
)

// pages is memory aligned to Align, off the heap if mapped is set.
type pages struct {
	b      []byte
	mapped []byte // with the pages around b
}

// newPages returns so many bytes, on the heap if heap is set or the platform
// has nothing else. Mapped pages take physical memory when first touched.
func newPages(bytes int64, heap bool) (*pages, error) {
	if bytes < 0 || bytes > math.MaxInt-Align || bytes > 1<<46 {
		return nil, fmt.Errorf("cannot address %d bytes", bytes)
	}
	if !heap && canMap && !(raceEnabled && bytes <= raceHeap) {
		b, all, err := mapPages(int(bytes))
		if err != nil {
			return nil, fmt.Errorf("cannot map %d bytes: %w", bytes, err)
		}
		return &pages{b: b, mapped: all}, nil
	}
	b := make([]byte, bytes+Align-1)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (Align - 1)
	end := skip + uintptr(bytes)
	return &pages{b: b[skip:end:end]}, nil
}

// raceHeap is the size up to which the race detector gets heap memory, the only
// kind it watches: tasks that touch the same bytes without an event between
// them are then reported.
const raceHeap = 1 << 30

func (p *pages) free() error {
	m := p.mapped
	p.b, p.mapped = nil, nil
	if m == nil {
		return nil
	}
	return unmapPages(m)
}
