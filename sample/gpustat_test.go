package sample

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"sagann/device"
)

// The statistics are taken of a GPU's draws where SAGANN_DEVICE names one, such as cuda:0. Samplers that
// GPUs do not draw are left to the CPU.
var statGPU struct {
	gpu  device.GPU
	last *Program // on is of it; nil where a GPU does not draw it
	on   *GPU
}

func gpuOf(t testing.TB, p *Program) *GPU {
	t.Helper()
	spec, ok := strings.CutPrefix(os.Getenv("SAGANN_DEVICE"), "cuda")
	if !ok {
		return nil
	}
	s := &statGPU
	if s.gpu == nil {
		index, _ := strconv.Atoi(strings.TrimPrefix(spec, ":"))
		d, err := device.OpenCUDA(index, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		s.gpu = d.(device.GPU)
	}
	if s.last == p {
		return s.on
	}
	if s.on != nil {
		if err := s.on.Close(); err != nil {
			t.Fatal(err)
		}
	}
	x, err := p.OnGPU(s.gpu)
	if errors.Is(err, ErrNotOnGPU) {
		x, err = nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	s.last, s.on = p, x
	return x
}

// drawBlocks and drawSteps draw where the statistics are taken.
func drawBlocks(t testing.TB, p *Program, b *Blocks, seeds []uint32, key Key) error {
	t.Helper()
	if x := gpuOf(t, p); x != nil {
		return x.Blocks(b, seeds, key)
	}
	return p.Blocks(b, seeds, key)
}

func drawSteps(t testing.TB, p *Program, s *Samples, roots []uint32, first uint64, key Key) error {
	t.Helper()
	if x := gpuOf(t, p); x != nil {
		return x.Run(s, roots, first, key)
	}
	return p.Run(s, roots, first, key)
}
