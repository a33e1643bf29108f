package exec

import (
	"sagann/backend"
	"sagann/device"
	"sagann/device/launch"
	"sagann/kernel"
)

// commands collects commands of a GPU, up to the first error.
type commands struct {
	gpu  *gpu
	list []device.Command
	err  error
}

// clear adds a clear.
func (c *commands) clear(addr uint64, bytes int64) {
	c.list = append(c.list, device.Command{Clear: &device.Clear{Addr: addr, Bytes: bytes}})
}

// call adds a launch on a number of blocks of 256 threads, and returns it.
func (c *commands) call(k *launch.Kernel, blocks uint64, args kernel.GPUArgs) *device.Call {
	x, err := backend.Call(k, [3]uint32{uint32(blocks), 1, 1}, 256, 0, args)
	if err != nil {
		if c.err == nil {
			c.err = err
		}
		return &device.Call{}
	}
	c.list = append(c.list, x)
	return x.Call
}

// block adds a launch of a kernel of kernel.Renderer.Blocks (fn: kernel.BlockTake and so on), with a thread for each of n
// elements, and returns it.
func (c *commands) block(fn int, n uint64, args ...kernel.GPUArg) *device.Call {
	return c.call(c.gpu.blocks[fn], min(1<<20, max(1, (n+255)/256)), args)
}

// mem is memory as an argument.
func (c *commands) mem(name string, m device.Mem) kernel.GPUArg {
	addr, err := c.gpu.dev.Address(m)
	if err != nil && c.err == nil {
		c.err = err
	}
	return at(name, addr)
}

// at and num are arguments by the names of parameters.
func at(name string, addr uint64) kernel.GPUArg { return kernel.GPUAt(name, addr) }
func num(name string, x uint64) kernel.GPUArg   { return kernel.GPUNumber(name, x) }

// once submits commands that are used one time.
type once struct {
	gpu   *gpu
	lists []device.Batch
}

// begin begins commands for submit.
func (o *once) begin() *commands { return &commands{gpu: o.gpu} }

// submit submits commands to a queue. release frees them.
func (o *once) submit(q device.Queue, c *commands) error {
	if c.err != nil {
		return c.err
	}
	b, err := o.gpu.dev.Prepare(c.list)
	if err != nil {
		return err
	}
	o.lists = append(o.lists, b)
	return o.gpu.dev.Launch(q, device.GPUFunc("blocks", func(device.GPU) (device.Batch, error) { return b, nil }))
}

// release frees the commands. They must have been submitted.
func (o *once) release() {
	for _, b := range o.lists {
		o.gpu.dev.Release(b)
	}
	o.lists = o.lists[:0]
}
