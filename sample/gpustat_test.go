package sample

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sagann/device"
)

// The statistics are taken of a GPU's draws where SAGANN_DEVICE names one, such as cuda:0: those of neighbours, weighted neighbours by alias, inverse and
// rejection, layer, FastGCN, LADIES, PinSAGE, walks (DeepWalk, node2vec, PPR, MultiRW) and growing layers. Samplers that GPUs do not draw are left to the CPU:
// SAINT, ShaDow, the method Race, and rows of which more than cuda.MostDraws edges are drawn. ClusterGCN draws nothing.
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

// eachBlocks draws n batches of seeds, the first with the key's Batch and the others after it, where the statistics are taken: on a GPU many at a time
// where it can, else on it a tenth of them, as each takes a launch.
func eachBlocks(t testing.TB, p *Program, seeds []uint32, n int, key Key, see func(b *Blocks)) {
	t.Helper()
	draw := p.Blocks
	x := gpuOf(t, p)
	if x != nil && x.drawsTogether([][]uint32{seeds}) {
		const many = 5000
		for i := 0; i < n; i += many {
			k := key
			k.Batch += uint32(i)
			list, err := x.BlocksOf(slices.Repeat([][]uint32{seeds}, min(many, n-i)), k)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range list {
				see(b)
			}
		}
		return
	}
	if x != nil {
		n, draw = n/10, x.Blocks
	}
	var b Blocks
	for i := range n {
		k := key
		k.Batch += uint32(i)
		if err := draw(&b, seeds, k); err != nil {
			t.Fatal(err)
		}
		see(&b)
	}
}

// drawSteps draws where the statistics are taken.
func drawSteps(t testing.TB, p *Program, s *Samples, roots []uint32, first uint64, key Key) error {
	t.Helper()
	if x := gpuOf(t, p); x != nil {
		return x.Run(s, roots, first, key)
	}
	return p.Run(s, roots, first, key)
}
