package launch

import (
	"errors"
	"slices"
	"sync"

	"sagann/device"
)

// Card is a GPU with a queue for the copies and launches of one user, who opens the GPU before and closes it afterwards.
type Card struct {
	GPU   device.GPU
	Queue device.Queue

	held     []device.Mem
	compiled *compiled
}

// compiled is kernels of a GPU, which several Cards may share.
type compiled struct {
	mu      sync.Mutex
	kernels map[[2]string]*Kernel // by source and name
}

// Beside is a Card of the same GPU and its kernels for another goroutine, with a queue of its own and no memory yet.
func (c *Card) Beside(q device.Queue) *Card {
	if c.compiled == nil {
		c.compiled = &compiled{}
	}
	return &Card{GPU: c.GPU, Queue: q, compiled: c.compiled}
}

// Processors is the number of multiprocessors, at least 1.
func (c *Card) Processors() int { return max(1, c.GPU.Info().Processors) }

// Alloc takes memory. It is freed by Drop or Release.
func (c *Card) Alloc(bytes int64) (device.Mem, error) {
	m, err := c.GPU.Alloc(bytes)
	if err == nil {
		c.held = append(c.held, m)
	}
	return m, err
}

// Drop frees memory that Alloc has returned. Memory that the Card does not hold is none of its business.
func (c *Card) Drop(m device.Mem) error {
	if i := slices.Index(c.held, m); i >= 0 {
		c.held = slices.Delete(c.held, i, i+1)
		return c.GPU.Free(m)
	}
	return nil
}

// Held is the number of blocks of memory that the Card holds.
func (c *Card) Held() int { return len(c.held) }

// Taken is the bytes of these blocks, each rounded up to device.Align.
func (c *Card) Taken() (n int64) {
	for _, m := range c.held {
		n += (m.Len() + device.Align - 1) / device.Align * device.Align
	}
	return n
}

// Release frees all blocks but the first keep ones.
func (c *Card) Release(keep int) (err error) {
	for _, m := range c.held[keep:] {
		err = errors.Join(err, c.GPU.Free(m))
	}
	c.held = c.held[:keep]
	return err
}

// Put takes memory for a list and copies the list there. The size is rounded up to 16 bytes, as kernels may read 16 bytes at
// a time. The copy reads the list until the queue has reached it.
func Put[T any](c *Card, list []T) (device.Mem, error) {
	b := device.Bytes(list)
	m, err := c.Alloc(max((int64(len(b))+15)&^15, 16))
	if err == nil && len(b) > 0 {
		err = c.GPU.CopyH2D(c.Queue, m, 0, b)
	}
	return m, err
}
