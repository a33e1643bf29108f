package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"sagann/ring"
)

// Copies of the CPU device: what saga topo --measure times where there is no GPU.

const (
	copyBytes = 64 << 20               // of one copy: beyond the caches
	copyTime  = 100 * time.Millisecond // that every copy is repeated for, at least
	maxCPUs   = 8
)

// cpuCopies implements ring.Prober by copies in memory. Every device has a buffer that
// is read and one that is written, and two beside them in host memory, so that no two
// copies of a test touch the same bytes.
type cpuCopies struct {
	hostOut, hostIn, out, in [][]byte // by device
}

func newCPUCopies(n int) *cpuCopies {
	c := &cpuCopies{}
	for _, list := range []*[][]byte{&c.hostOut, &c.hostIn, &c.out, &c.in} {
		for range n {
			b := make([]byte, copyBytes)
			for i := 0; i < copyBytes; i += 4096 { // pages that exist
				b[i] = 1
			}
			*list = append(*list, b)
		}
	}
	return c
}

// Names lists the devices.
func (c *cpuCopies) Names() []string {
	var names []string
	for i := range c.in {
		names = append(names, fmt.Sprintf("cpu%d", i))
	}
	return names
}

// Time copies, a goroutine each, until every copy has run for copyTime.
func (c *cpuCopies) Time(copies []ring.Copy) ([]float64, error) {
	rates := make([]float64, len(copies))
	var open atomic.Int32
	open.Store(int32(len(copies)))
	var wg sync.WaitGroup
	for i, k := range copies {
		from, to := c.buffers(k)
		wg.Go(func() {
			start, n, done := time.Now(), 0, false
			for open.Load() > 0 {
				copy(to, from)
				n++
				runtime.Gosched() // a loop of copies cannot be preempted
				if !done && time.Since(start) >= copyTime {
					done = true
					open.Add(-1)
				}
			}
			rates[i] = float64(n) * copyBytes / time.Since(start).Seconds()
		})
	}
	wg.Wait()
	return rates, nil
}

func (c *cpuCopies) buffers(k ring.Copy) (from, to []byte) {
	switch {
	case k.From == ring.Host:
		return c.hostOut[k.To], c.in[k.To]
	case k.To == ring.Host:
		return c.out[k.From], c.hostIn[k.From]
	}
	return c.out[k.From], c.in[k.To]
}
