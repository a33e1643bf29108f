package tables

import (
	"errors"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/device/launch"
)

// readsText reads 4 bytes at random places. A thread reads 64 places, four at a time; places
// do not depend on values read before.
const readsText = `
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(256) random_reads(const u32 *list, u64 n, u32 *out, u64 seed) {
	u64 t = blockIdx.x * (u64)blockDim.x + threadIdx.x, x = (64 * t + seed) * 0x9e3779b97f4a7c15ull;
	u32 sum = 0;
	for (u32 i = 0; i < 64; i += 4) {
		u32 got[4];
		#pragma unroll
		for (u32 j = 0; j < 4; j++) {
			x += 0x9e3779b97f4a7c15ull;
			u64 y = (x ^ x >> 32) * 0xbf58476d1ce4e5b9ull;
			y = (y ^ y >> 29) * 0x94d049bb133111ebull;
			got[j] = list[__umul64hi(y ^ y >> 32, n)];
		}
		sum += got[0] + got[1] + got[2] + got[3];
	}
	out[t] = sum;
}

`

// reads measures random reads from lists of several sizes. They bound walks, as each step along
// an edge reads a random place.
func (m *gpuSamples) reads() (*sheet, error) {
	s := &sheet{title: "Random reads of 4 bytes", key: "random_reads", head: table.Row{"list", "G reads/s", "GB/s of 32-byte sectors"}}
	q, err := m.gpu.NewQueue("reads")
	if err != nil {
		return nil, err
	}
	c := &launch.Card{GPU: m.gpu, Queue: q}
	for _, mb := range []int64{32, 128, 512, 2048, 7168} {
		if mb<<20 > m.gpu.Info().Budget/2 {
			continue
		}
		rate, err := m.readsOf(c, mb<<20)
		if err != nil {
			return nil, err
		}
		m.rates = append(m.rates, readRate{mb << 20, rate * 1e9})
		s.add(table.Row{fmt.Sprintf("%d MB", mb), fmt.Sprintf("%.1f", rate), fmt.Sprintf("%.0f", 32*rate)},
			fields{{"list_bytes", mb << 20}, {"reads_per_second", rate * 1e9}})
	}
	return s, nil
}

func (m *gpuSamples) readsOf(c *launch.Card, bytes int64) (rate float64, err error) {
	const blocks = 1 << 14
	defer func() { err = errors.Join(err, c.Release(0)) }()
	list, err := c.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	out, err := c.Alloc(4 * 256 * blocks)
	if err != nil {
		return 0, err
	}
	seed := uint64(0)
	ms, err := m.medianOf(func() error {
		seed += 1 << 40
		return c.Launch(launch.Call{Source: readsText, Name: "random_reads", Grid: blocks, Block: 256,
			Args: launch.Args{"list": list, "n": uint64(bytes / 4), "out": out, "seed": seed}})
	})
	return 64 * 256 * blocks / ms / 1e6, err
}
