package sample

import (
	"errors"

	"sagann/sample/cuda"
)

// streams tells whether a GPU can draw a sampler while the graph's edges stay on the host. The sampler
// must have one root and bounded steps, and read only the row of the transit and the vertex before it.
func (x *GPU) streams(needs cuda.Needs) bool {
	p, w := x.p, x.walk
	return w != nil && !w.Unique && !w.Transits && len(w.Fields) == 0 && w.Roots == 1 && w.Steps > 0 && !needs.Weight &&
		p.tables.alias == nil && p.tables.inverse == nil && p.tables.most == nil && !p.counts && !p.reads(opMost, opRoot) && !p.readsFar() && !p.looksBack()
}

// readsFar tells whether Next reads the row of another vertex than the transit.
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

// Into is Run, but writes to memory that to returns. to(k, lo, n) returns memory for the vertices that
// step k, from 0, adds to samples lo to lo+n-1: n times the step's width. The memory is filled when Into
// returns. Copies are fastest to pinned memory (HostAlloc of device.Device). It is for graphs that
// stream (see Streams); for others it is an error.
func (x *GPU) Into(roots []uint32, first uint64, key Key, to func(step, lo, n int) []uint32) error {
	_, wrong, err := x.streamed(roots, first, key, to)
	if err != nil || !wrong {
		return err
	}
	var s Samples
	if err := x.p.Run(&s, roots, first, key); err != nil { // an error of the CPU names the file and line
		return err
	}
	return x.p.errorf("a draw failed on the GPU, and not on the CPU")
}

// Sum draws samples, drops them and returns their Samples.Sum.
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

// Passes lists the passes over the graph that Into makes, or Sum if results is false. It is for graphs
// that stream.
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

// Sum is a checksum of samples, the first of which has the number first. It adds up a hash of each added
// vertex and its position, so it does not depend on the order of drawing.
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

// mixed is a hash of x (SplitMix64: Steele, Lea and Flood, 2014).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
