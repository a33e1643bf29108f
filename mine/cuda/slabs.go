package cuda

import (
	"errors"
	"sync"
	"time"

	"sagann/device"
)

// slabs is pinned host memory that grows. Taking it takes time, in proportion to its bytes: large slabs are taken ahead, several at a time.
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
	bytes int64 // of those ahead
	waits time.Duration
}

// slab is memory that was taken ahead, or why not.
type slab struct {
	mem device.HostMem
	err error
}

const (
	firstSlab  = 1 << 20 // smaller blocks are not pinned
	largeSlab  = 1 << 27
	slabsAhead = 4
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
	if len(s.ahead) == 0 {
		bytes := s.reserve(max(s.taken, firstSlab))
		if bytes == 0 {
			return device.HostMem{}, nil
		}
		return s.gpu.HostAlloc(bytes)
	}
	x := <-s.ahead[0]
	s.ahead, s.bytes = s.ahead[1:], s.bytes-int64(len(x.mem.Bytes()))
	s.fill()
	return x.mem, x.err
}

// begin begins to take slabs ahead, if some are expected to be used.
func (s *slabs) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fill()
}

// fill begins to take slabs ahead, as many as are expected to be used.
func (s *slabs) fill() {
	for len(s.ahead) < slabsAhead && s.taken+s.bytes+largeSlab/2 < s.expect() {
		bytes := s.reserve(largeSlab)
		if bytes == 0 {
			return
		}
		to := make(chan slab, 1)
		s.ahead, s.bytes = append(s.ahead, to), s.bytes+bytes
		go func() {
			m, err := s.gpu.HostAlloc(bytes)
			to <- slab{m, err}
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
	s.ahead = nil
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
