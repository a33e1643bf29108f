package sample

import (
	"errors"
	"sync"

	"sagann/device"
)

// GPUs are several GPUs that draw in parallel. Each holds the whole graph and draws an equal,
// contiguous part of the samples. The samples are the same as those of one GPU. One goroutine at a time
// may use them.
type GPUs []*GPU

// OnGPUs is OnGPU for each of several GPUs.
func (p *Program) OnGPUs(list []device.GPU) (GPUs, error) {
	x := make(GPUs, len(list))
	err := x.each(func(i int) (err error) {
		x[i], err = p.OnGPU(list[i])
		return err
	})
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// each calls f for each GPU in parallel.
func (x GPUs) each(f func(i int) error) error {
	var wait sync.WaitGroup
	errs := make([]error, len(x))
	for i := range x {
		wait.Go(func() { errs[i] = f(i) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// part is the range of the n samples that GPU i draws: lo to hi-1.
func (x GPUs) part(i, n int) (lo, hi int) { return i * n / len(x), (i + 1) * n / len(x) }

// parts calls f with the roots of each GPU's part, and the number of its first sample.
func (x GPUs) parts(roots []uint32, first uint64, f func(i int, roots []uint32, first uint64) error) error {
	r := x[0].p.s.roots()
	if len(roots)%r != 0 {
		return f(0, roots, first) // which returns the error
	}
	return x.each(func(i int) error {
		lo, hi := x.part(i, len(roots)/r)
		return f(i, roots[lo*r:hi*r], first+uint64(lo))
	})
}

// Run is Program.Run.
func (x GPUs) Run(s *Samples, roots []uint32, first uint64, key Key) error {
	if len(x) == 1 {
		return x[0].Run(s, roots, first, key)
	}
	list := make([]Samples, len(x))
	err := x.parts(roots, first, func(i int, roots []uint32, first uint64) error { return x[i].Run(&list[i], roots, first, key) })
	if err != nil {
		return err
	}
	*s = Samples{N: len(roots) / x[0].p.s.roots(), Steps: [][]uint32{roots}}
	for _, part := range list {
		if len(part.Widths) > len(s.Widths) {
			s.Widths = part.Widths
		}
	}
	for k := 1; k < len(s.Widths); k++ {
		step := make([]uint32, 0, s.N*s.Widths[k])
		for _, part := range list {
			if k < len(part.Steps) {
				step = append(step, part.Steps[k]...)
				continue
			}
			for range part.N * s.Widths[k] { // all samples of this part have ended
				step = append(step, NoVertex)
			}
		}
		s.Steps = append(s.Steps, step)
	}
	return nil
}

// Draw is GPU.Draw.
func (x GPUs) Draw(roots []uint32, first uint64, key Key) error {
	return x.parts(roots, first, func(i int, roots []uint32, first uint64) error { return x[i].Draw(roots, first, key) })
}

// Close frees the memory. The GPUs stay open.
func (x GPUs) Close() (err error) {
	for _, g := range x {
		if g != nil {
			err = errors.Join(err, g.Close())
		}
	}
	return err
}
