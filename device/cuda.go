//go:build cuda

package device

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"unsafe"
)

// CUDA is a GPU behind the driver API. Queues are streams; the arena is one
// allocation that lives until Close, or grows (see [AsUsed]). Devices of one process that name the same
// GPU share its primary context, so a context that one of them breaks is broken
// for all.
type CUDA struct {
	common
	dev   int
	ctx   cuContext
	arena cuPtr
	host  pinnedHost

	mu      sync.Mutex // guards below, and the order of submissions to one queue
	queues  []*cudaQueue
	made    cudaMade
	peers   map[*CUDA]bool // devices that copied from here, or to which access was opened
	tracer  cudaTracer
	closing bool

	capture cudaCapture
	rows    cudaRows
	comm    cudaComm // nil: it has not joined GPUs of other processes
}

// cudaMade is the objects, apart from queues, that a device has made for its user. They live until Close.
type cudaMade struct {
	events  []*cudaEvent
	modules []cuModule
	blas    []cudaBlas
	batches map[*cudaBatch]bool
	graphs  []*cudaGraph
	grow    *growth // of the arena; nil: all its memory is taken
}

// cudaLive are the open devices: a device that closes must wait for copies that
// others make from it.
var (
	cudaMu   sync.Mutex
	cudaLive = map[*CUDA]bool{}
)

// OpenCUDA opens GPU number index with an arena of budget bytes. The context, the
// libraries and the workspace of matrix products take memory on top of the budget.
func OpenCUDA(index int, budget int64, opts ...Option) (Device, error) {
	info := Info{Kind: "cuda", Index: index, Budget: budget}
	if budget <= 0 || budget > math.MaxInt64/2 {
		return nil, fmt.Errorf("%v: budget of %d bytes", info, budget)
	}
	n, err := cuGPUs()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", info, err)
	}
	if index < 0 || index >= n {
		return nil, fmt.Errorf("%v: there are %d GPUs", info, n)
	}
	dev, err := cuDevice(index)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", info, err)
	}
	name, _ := cuName(dev)
	has, err := cuAttributes(dev)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", info, err)
	}
	info.Arch, info.Processors, info.Cache, info.Shared = 10*has[0]+has[1], has[2], int64(has[3]), has[4]
	info.Name = fmt.Sprintf("%s, compute capability %d.%d, bus %s", name, has[0], has[1], cuBus(dev))
	d := &CUDA{common: common{info: info, id: lastID.Add(1)}, dev: dev, peers: map[*CUDA]bool{}}
	if err := blasHandles.hold(d.dev); err != nil {
		return nil, noMemory(info, dev, budget, fmt.Errorf("context: %w", err))
	}
	if d.ctx, err = cuOpenContext(d.dev); err != nil {
		return nil, noMemory(info, dev, budget, fmt.Errorf("context: %w", err))
	}
	if !options(opts).asUsed || !d.reserve() {
		if d.arena, err = cuAlloc(d.ctx, budget); err != nil {
			return nil, errors.Join(noMemory(info, dev, budget, err), cuCloseContext(d.dev))
		}
	}
	signalsAside()
	d.space = newSpace(d.id, info.String(), budget)
	d.host = pinnedHost{ctx: d.ctx, arena: hostArena{owner: d.id, device: info.String(), budget: math.MaxInt64}}
	d.memory = &d.host
	cudaMu.Lock()
	cudaLive[d] = true
	cudaMu.Unlock()
	return d, nil
}

// cuBegin begins to start the driver, and what tells of the memory of GPUs.
func cuBegin() {
	go cuStart()
	go nvmlStart()
}

// cuWarm begins what opening a GPU waits for: the driver, the context and, with products, cuBLAS, next to each other. An
// error is left to what opens the GPU.
func cuWarm(index int, products bool) {
	go func() {
		if n, err := cuGPUs(); err != nil || index >= n {
			return
		}
		if products {
			go loadBlas()
		}
		dev, err := cuDevice(index)
		if err == nil && blasHandles.hold(dev) == nil && products {
			blasHandles.warm(dev)
			signalsAside()
		}
	}()
}

// cuLiving is the bytes of arenas of GPU dev that are open in this process, and of what products take beside them.
func cuLiving(dev int) (sum int64) {
	cudaMu.Lock()
	defer cudaMu.Unlock()
	for d := range cudaLive {
		if d.dev == dev {
			sum += d.taken()
		}
	}
	return sum
}

// noMemory is err of taking memory on a GPU, with what the GPU has.
func noMemory(info Info, dev int, asked int64, err error) error {
	var e *CUDAError
	if errors.As(err, &e) && e.Name == "CUDA_ERROR_OUT_OF_MEMORY" {
		if c, wrong := cuCard(dev); wrong == nil {
			return &MemoryError{Device: info.String(), Asked: asked, Card: c, Err: err}
		}
	}
	return fmt.Errorf("%v: %w", info, err)
}

// HostAddress is where kernels read pinned memory: they use the addresses of the process.
func (*CUDA) HostAddress(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }

func (*CUDA) writesHost() bool { return true }

// Address is where m starts in the device's address space.
func (d *CUDA) Address(m Mem) (uint64, error) {
	if err := d.space.check(m, 0, m.len); err != nil {
		return 0, err
	}
	return uint64(d.arena) + uint64(m.off), nil
}

// Alloc returns a block of the arena.
func (d *CUDA) Alloc(bytes int64) (Mem, error) {
	if err := d.status.usable(); err != nil {
		return Mem{}, d.err(OpAlloc, nil, err)
	}
	m, err := d.space.alloc(bytes)
	if err == nil {
		if err = d.back(m.off + m.len); err != nil {
			err = errors.Join(err, d.space.release(m))
		}
	}
	return m, d.err(OpAlloc, nil, err)
}

// Sync waits for all streams.
func (d *CUDA) Sync() error {
	if err := d.status.usable(); err != nil {
		return d.err(OpSync, nil, err)
	}
	d.drain()
	if err := d.status.report(); err != nil {
		return err
	}
	return d.err(OpSync, nil, d.status.usable())
}

// drain waits for all streams, notes what went wrong and delivers spans.
func (d *CUDA) drain() {
	d.mu.Lock()
	queues := d.queues // grows, but never changes
	d.mu.Unlock()
	for _, q := range queues {
		if err := cuSyncStream(d.ctx, q.stream); err != nil {
			d.status.fail(d.err(OpSync, q, err))
		}
		if err := d.brokenFile(q); err != nil {
			d.status.fail(err)
		}
	}
	d.tracer.deliver(d)
}

// Close drains the streams and frees everything.
func (d *CUDA) Close() error {
	if d.status.closed.Swap(true) {
		return nil
	}
	d.drain()
	cudaMu.Lock()
	delete(cudaLive, d)
	for peer := range d.peers { // a peer's copy from this arena may still run
		if cudaLive[peer] {
			peer.drain()
		}
	}
	cudaMu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closing = true
	errs := []error{d.leaveNCCL(), d.closeBlas()}
	for b := range d.made.batches {
		b.free()
	}
	for _, g := range d.made.graphs {
		g.free()
	}
	for _, e := range d.made.events {
		cuCloseEvent(e.event)
	}
	d.tracer.close()
	for _, q := range d.queues {
		if q.side != nil {
			cuCloseSide(q.side)
		}
		errs = append(errs, cuCloseStream(q.stream), d.closeStage(q))
	}
	for _, m := range d.made.modules {
		errs = append(errs, cuUnload(d.ctx, m))
	}
	errs = append(errs, d.host.unpinAll(), d.freeArena(), cuCloseContext(d.dev))
	if !d.status.sound() { // a broken context fails all of these
		errs = nil
	}
	leak := leaks(d.info, d.space, &d.host.arena)
	return errors.Join(d.status.report(), leak, errors.Join(errs...))
}
