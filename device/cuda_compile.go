//go:build cuda

package device

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"sagann/device/nvrtc"
)

type cudaFunc struct {
	dev  *CUDA
	name string
	f    cuFunc
}

func (f *cudaFunc) Name() string { return f.name }

// Compile translates source with NVRTC for this GPU and loads it.
func (d *CUDA) Compile(source string, names []string) ([]Function, error) {
	if err := d.status.usable(); err != nil {
		return nil, err
	}
	code, err := nvrtc.Cubin(source, d.info.Arch, cuDriver()/1000)
	if err != nil {
		return nil, err
	}
	m, fs, err := cuLoad(d.ctx, code, names)
	signalsAside()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.made.modules = append(d.made.modules, m)
	d.mu.Unlock()
	out := make([]Function, len(fs))
	for i, f := range fs {
		out[i] = &cudaFunc{d, names[i], f}
	}
	return out, nil
}

// cuAhead compiles sources for GPU number index, eight at a time, in the background. The results lie in the cache folder. end
// leaves out what has not begun, and waits for what has.
func cuAhead(index int, sources []string) (end func()) {
	var ends atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		if n, err := cuGPUs(); err != nil || index >= n {
			return
		}
		dev, err := cuDevice(index)
		if err != nil {
			return
		}
		has, err := cuAttributes(dev)
		if err != nil {
			return
		}
		var all errgroup.Group
		all.SetLimit(8)
		for _, source := range sources {
			all.Go(func() error {
				if ends.Load() {
					return nil
				}
				_, err := nvrtc.Cubin(source, 10*has[0]+has[1], cuDriver()/1000)
				return err
			})
		}
		all.Wait()
	}()
	return func() {
		ends.Store(true)
		<-done
	}
}

// cudaBatch is commands in C memory.
type cudaBatch struct {
	dev   *CUDA
	first *cuCommand
	n     int
	gemm  bool
	aside bool     // some kernel may run at the same time as the next command
	names []string // names of the commands, for traces
	free  func()
}

func (b *cudaBatch) Commands() int { return b.n }

// Prepare checks the commands and lays them out for the driver.
func (d *CUDA) Prepare(list []Command) (Batch, error) {
	if err := d.status.usable(); err != nil {
		return nil, err
	}
	b := &cudaBatch{dev: d, n: len(list)}
	for i := range list {
		c := &list[i]
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("command %d: %w", i, err)
		}
		b.gemm = b.gemm || c.Gemm != nil
		b.names = append(b.names, c.name())
		if c.Call != nil {
			if f, ok := c.Call.Func.(*cudaFunc); !ok || f.dev != d {
				return nil, fmt.Errorf("command %d: function is not this device's", i)
			}
			b.aside = b.aside || c.beside()
		}
	}
	b.first, b.free = cuCommands(list, func(f Function) cuFunc { return f.(*cudaFunc).f })
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		b.free()
		return nil, ErrClosed
	}
	if d.made.batches == nil {
		d.made.batches = map[*cudaBatch]bool{}
	}
	d.made.batches[b] = true
	return b, nil
}

// Release frees a batch. Submitted work still runs: the driver has a copy of it.
func (d *CUDA) Release(batch Batch) {
	b, ok := batch.(*cudaBatch)
	if !ok || b == nil || b.dev != d {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made.batches[b] {
		delete(d.made.batches, b)
		b.free()
	}
}
