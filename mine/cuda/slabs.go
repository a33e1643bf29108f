package cuda

import (
	"errors"
	"sync"
	"time"

	"sagann/device"
)

// slabs is pinned host memory that grows. Taking it takes time, in proportion to its bytes: large slabs are taken ahead, several at a time. They are pinned when a lane has
// submitted work (turn), as launches wait meanwhile.
type slabs struct {
	gpu     device.GPU
	bounded bool
	expect  func() int64 // how many bytes are expected in all

	mu    sync.Mutex
	left  int64 // bytes that may be taken, if bounded
	taken int64
	list  []device.HostMem
	rest  []uint32 // of the last slab
	ahead []chan slab
	ready []device.HostMem // pinned
	bytes int64            // of those ahead and ready
	waits time.Duration
}

// slab is memory that was taken ahead, and what pins it, or why not.
type slab struct {
	mem device.HostMem
	pin func() error
	err error
}

const (
	firstSlab  = 1 << 20 // smaller blocks are not pinned
	largeSlab  = 1 << 27
	slabsAhead = 4
	slabsReady = 1
)

// words takes up to n words: none if there is no memory left.
func (s *slabs) words(n int64) ([]uint32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rest) == 0 {
		begun := time.Now()
		m, err := s.next()
		s.waits += time.Since(begun)
		if err != nil || len(m.Bytes()) == 0 {
			return nil, err
		}
		s.list, s.rest = append(s.list, m), device.View[uint32](m.Bytes())
		s.taken += int64(len(m.Bytes()))
	}
	n = min(n, int64(len(s.rest)))
	list := s.rest[:n:n]
	s.rest = s.rest[n:]
	return list, nil
}

// next is the next slab, of no bytes if there is no memory left.
func (s *slabs) next() (device.HostMem, error) {
	s.fill()
	if len(s.ready) == 0 && len(s.ahead) > 0 {
		if err := s.pin(<-s.ahead[0]); err != nil {
			return device.HostMem{}, err
		}
	}
	if len(s.ready) == 0 {
		bytes := s.reserve(max(s.taken, firstSlab))
		if bytes == 0 {
			return device.HostMem{}, nil
		}
		return s.gpu.HostAlloc(bytes)
	}
	m := s.ready[0]
	s.ready, s.bytes = s.ready[1:], s.bytes-int64(len(m.Bytes()))
	s.fill()
	return m, nil
}

// pin pins the first slab that was taken ahead.
func (s *slabs) pin(x slab) error {
	s.ahead = s.ahead[1:]
	err := x.err
	if err == nil {
		err = x.pin()
	}
	if err != nil {
		if len(x.mem.Bytes()) > 0 {
			err = errors.Join(err, s.gpu.HostFree(x.mem))
		}
		return err
	}
	s.ready = append(s.ready, x.mem)
	return nil
}

// turn pins a slab if one may soon be needed: the caller has submitted work.
func (s *slabs) turn() error {
	if !s.mu.TryLock() {
		return nil
	}
	defer s.mu.Unlock()
	if len(s.ahead) == 0 || len(s.ready) >= slabsReady {
		return nil
	}
	select {
	case x := <-s.ahead[0]:
		return s.pin(x)
	default:
		return nil
	}
}

// begin begins to take slabs ahead, if some are expected to be used.
func (s *slabs) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fill()
}

// fill begins to take slabs ahead, as many as are expected to be used.
func (s *slabs) fill() {
	for len(s.ahead)+len(s.ready) < slabsAhead && s.taken+s.bytes+largeSlab/2 < s.expect() {
		bytes := s.reserve(largeSlab)
		if bytes == 0 {
			return
		}
		to := make(chan slab, 1)
		s.ahead, s.bytes = append(s.ahead, to), s.bytes+bytes
		go func() {
			m, pin, err := device.HostLater(s.gpu, bytes)
			to <- slab{m, pin, err}
		}()
	}
}

// reserve is up to so many of the bytes that may be taken.
func (s *slabs) reserve(bytes int64) int64 {
	bytes = min(bytes, largeSlab)
	if s.bounded {
		bytes = max(0, min(bytes, s.left)) &^ 3
		s.left -= bytes
	}
	return bytes
}

// end frees what was taken ahead.
func (s *slabs) end() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.ahead {
		x := <-c
		err = errors.Join(err, x.err)
		if len(x.mem.Bytes()) > 0 {
			err = errors.Join(err, s.gpu.HostFree(x.mem))
		}
	}
	for _, m := range s.ready {
		err = errors.Join(err, s.gpu.HostFree(m))
	}
	s.ahead, s.ready = nil, nil
	return err
}

// free frees the memory.
func (s *slabs) free() (err error) {
	for _, m := range s.list {
		err = errors.Join(err, s.gpu.HostFree(m))
	}
	s.list = nil
	return err
}
