package sample

import (
	"errors"

	"sagann/sample/cuda"
)

// streams tells whether a sampler is drawn from rows that come piece by piece: it has one root, trees or walks
// with a bound, and reads no more than the row of its transit and the vertex before.
func (x *GPU) streams(needs cuda.Needs) bool {
	p, w := x.p, x.walk
	return w != nil && !w.Unique && !w.Transits && len(w.Fields) == 0 && w.Roots == 1 && w.Steps > 0 && !needs.Weight &&
		p.tables.alias == nil && p.tables.inverse == nil && p.tables.most == nil && !p.counts && !p.reads(opMost, opRoot) && !p.readsFar() && !p.looksBack()
}

// readsFar tells whether Next reads rows of other vertices than the transit.
func (p *Program) readsFar() bool {
	for _, x := range p.code.list {
		if x.op == opHas || (x.op == opDegree || x.op == opNeighbour) && p.code.list[x.a].op != opAt {
			return true
		}
	}
	return false
}

// Streams tells whether the graph's edges stay on the host: see OnGPU.
func (x *GPU) Streams() bool { return x.stream != nil }

// Into is Run into memory that to gives: for what step k+1 adds to samples lo to lo+n-1, n times the step's width. It is filled when Into
// returns. Copies are fastest where it is pinned (device.Device's HostAlloc). It is for samplers whose graph streams.
func (x *GPU) Into(roots []uint32, first uint64, key Key, to func(step, lo, n int) []uint32) error {
	_, wrong, err := x.streamed(roots, first, key, to)
	if err != nil || !wrong {
		return err
	}
	var s Samples
	if err := x.p.Run(&s, roots, first, key); err != nil { // the reference knows where and why
		return err
	}
	return x.p.errorf("a draw failed on the GPU, and not on the CPU")
}

// Sum draws samples and drops them: it returns what Samples.Sum would.
func (x *GPU) Sum(roots []uint32, first uint64, key Key) (uint64, error) {
	if x.stream == nil {
		var s Samples
		err := x.Run(&s, roots, first, key)
		return s.Sum(first), err
	}
	sum, wrong, err := x.streamed(roots, first, key, nil)
	if wrong && err == nil {
		err = x.p.errorf("a draw failed on the GPU")
	}
	return sum, err
}

func (x *GPU) streamed(roots []uint32, first uint64, key Key, to func(step, lo, n int) []uint32) (sum uint64, wrong bool, err error) {
	if _, err := x.p.samplesOf(roots, first); err != nil || x.stream == nil {
		return 0, false, errors.Join(err, x.needsStream())
	}
	k := key.stream()
	sum, wrong, err = x.stream.Draw(roots, first, k.k0, k.k1, to)
	if err != nil {
		err = x.p.errorf("%d samples: %w", len(roots), err)
	}
	return sum, wrong, err
}

// Passes are what Into does, or without results Sum, for a sampler whose graph streams.
func (x *GPU) Passes(roots []uint32, results bool) ([]cuda.Pass, error) {
	if x.stream == nil {
		return nil, x.needsStream()
	}
	return x.stream.Passes(roots, results)
}

func (x *GPU) needsStream() error {
	if x.stream == nil {
		return x.p.errorf("its graph lies on the GPU: call Run")
	}
	return nil
}

// Sum is a number that names samples of which the first is named first: the sum of a number for each vertex that was added and its
// place, so that it does not depend on the order in which they are drawn.
func (s *Samples) Sum(first uint64) (sum uint64) {
	for k, list := range s.Steps[1:] {
		w := s.Widths[k+1]
		for at, v := range list {
			if v != NoVertex {
				of := uint32(first) + uint32(at/w)
				sum += mixed(mixed(uint64(of)<<32|uint64(v)) ^ (uint64(k)<<32 | uint64(at%w)))
			}
		}
	}
	return sum
}

// mixed is a number that looks random (SplitMix64: Steele, Lea and Flood, 2014).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
