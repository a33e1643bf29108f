// Package cudatest runs the text of CUDA kernels on the CPU, for tests: a C++ compiler
// translates it (text.go, build.go), and a program of its own (server.go) runs it thread by thread
// (threads.h).
package cudatest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"sagann/device"
)

// emulated is a GPU whose kernels run on the CPU.
type emulated struct {
	device.Device
	base    uint64
	queue   device.Queue
	mirror  *mirror            // nil until a kernel runs
	servers map[string]*server // by path, those that have run something
	running sync.Mutex         // held while kernels run: they are given the whole arena
}

// pinned is the pinned host memory of all emulated GPUs, which may also read each other's.
// Kernels see what HostAddress was asked for, as it was at the first launch after that. That is enough: rows
// do not change, and kernels do not read what copies write there later.
var (
	pinnedMu sync.Mutex
	pinned   = map[*byte]*hostBlock{}
)

type hostBlock struct {
	of   *emulated
	now  []byte
	read bool   // kernels know where it lies
	then []byte // nil: no kernel has run that may read it
}

// Open opens an emulated GPU of so many bytes, or skips the test where there is no
// compiler. It is closed when the test ends.
func Open(t testing.TB, index int, budget int64) device.GPU {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	d, err := device.NewCPU(index, budget, device.Poison())
	if err != nil {
		t.Fatal(err)
	}
	e := &emulated{Device: d, base: uint64(index+1) << 36, servers: map[string]*server{}}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// Close closes the device and ends the programs. It also forgets host memory that was not freed, since
// its address may be used again.
func (e *emulated) Close() error {
	pinnedMu.Lock()
	maps.DeleteFunc(pinned, func(_ *byte, h *hostBlock) bool { return h.of == e })
	pinnedMu.Unlock()
	err := e.Device.Close()
	for path, s := range e.servers {
		err = errors.Join(err, s.end())
		delete(e.servers, path)
	}
	if e.mirror != nil {
		err = errors.Join(err, e.mirror.file.Close())
		e.mirror = nil
	}
	return err
}

// Must returns a function that ends the test at an error.
func Must(t testing.TB) func(error) {
	return func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
}

// Room allocates bytes on d. It returns a new queue, the memory and its address.
func Room(t testing.TB, d device.GPU, bytes int64) (device.Queue, device.Mem, uint64) {
	t.Helper()
	must := Must(t)
	q, err := d.NewQueue("q")
	must(err)
	m, err := d.Alloc(bytes)
	must(err)
	base, err := d.Address(m)
	must(err)
	return q, m, base
}

// Info says that it is a GPU of compute capability 9.
func (e *emulated) Info() device.Info {
	i := e.Device.Info()
	i.Kind, i.Name, i.Processors, i.Arch, i.Shared = "cuda", "emulated", 1, 90, 227<<10
	return i
}

// Alloc takes memory while no kernel runs.
func (e *emulated) Alloc(bytes int64) (device.Mem, error) {
	e.running.Lock()
	defer e.running.Unlock()
	return e.Device.Alloc(bytes)
}

// NewQueue is always the same queue: a kernel is given the whole arena, so that no copy may
// run beside it.
func (e *emulated) NewQueue(name string) (q device.Queue, err error) {
	if e.queue == nil {
		e.queue, err = e.Device.NewQueue(name)
	}
	return e.queue, err
}

// CopyD2D copies within the device or from another one.
func (e *emulated) CopyD2D(q device.Queue, dst device.Mem, dstOff int64, from device.Device, src device.Mem, srcOff, bytes int64) error {
	for w, ok := from.(interface{ Unwrap() device.Device }); ok; w, ok = from.(interface{ Unwrap() device.Device }) {
		from = w.Unwrap() // a device that fails calls
	}
	if other, ok := from.(*emulated); ok {
		from = other.Device
	}
	return e.Device.CopyD2D(q, dst, dstOff, from, src, srcOff, bytes)
}

// HostAlloc takes host memory and records it, as kernels may come to read it.
func (e *emulated) HostAlloc(bytes int64) (device.HostMem, error) {
	h, err := e.Device.HostAlloc(bytes)
	if err == nil && bytes > 0 {
		pinnedMu.Lock()
		pinned[&h.Bytes()[0]] = &hostBlock{of: e, now: h.Bytes()}
		pinnedMu.Unlock()
	}
	return h, err
}

// HostFree frees host memory and forgets it.
func (e *emulated) HostFree(h device.HostMem) error {
	pinnedMu.Lock()
	if len(h.Bytes()) > 0 {
		delete(pinned, &h.Bytes()[0])
	}
	pinnedMu.Unlock()
	return e.Device.HostFree(h)
}

// Address is an address that no process uses for anything else.
func (e *emulated) Address(m device.Mem) (uint64, error) { return e.base + uint64(m.Off()), nil }

// HostAddress is the address in this process. Kernels may read the whole block from now on.
func (e *emulated) HostAddress(b []byte) uint64 {
	at := uintptr(unsafe.Pointer(&b[0]))
	pinnedMu.Lock()
	defer pinnedMu.Unlock()
	for p, h := range pinned {
		if from := uintptr(unsafe.Pointer(p)); from <= at && at < from+uintptr(len(h.now)) {
			h.read = true
		}
	}
	return uint64(at)
}

// Detail does nothing.
func (e *emulated) Detail(func(device.Span)) {}

type emulatedFunc struct {
	program *program
	index   int // of the kernel in the program
}

func (f *emulatedFunc) Name() string { return f.program.kernels[f.index] }

type emulatedBatch []device.Command

func (b emulatedBatch) Commands() int { return len(b) }

// Prepare keeps the commands.
func (e *emulated) Prepare(c []device.Command) (device.Batch, error) { return emulatedBatch(c), nil }

// Release does nothing.
func (e *emulated) Release(device.Batch) {}

// Compile makes a program of the kernels.
func (e *emulated) Compile(source string, names []string) ([]device.Function, error) {
	p, err := build(source)
	if err != nil {
		return nil, err
	}
	var out []device.Function
	for _, n := range names {
		i := slices.Index(p.kernels, n)
		if i < 0 {
			return nil, fmt.Errorf("the source has no kernel %s", n)
		}
		out = append(out, &emulatedFunc{p, i})
	}
	return out, nil
}

// Launch runs a batch.
func (e *emulated) Launch(q device.Queue, k device.Kernel) error {
	b, err := k.(device.GPUKernel).Batch(e)
	if err != nil {
		return err
	}
	return e.Device.Launch(q, device.HostFunc(k.Name(), func(arena []byte) error {
		e.running.Lock()
		defer e.running.Unlock()
		for _, c := range b.(emulatedBatch) {
			if err := e.command(arena, c); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (e *emulated) command(arena []byte, c device.Command) error {
	if c.Clear != nil {
		at := c.Clear.Addr - e.base
		clear(arena[at : at+uint64(c.Clear.Bytes)])
		return nil
	}
	if c.Gemm != nil {
		product(arena, e.base, c.Gemm)
		return nil
	}
	return e.call(arena, c.Call, pinnedNow())
}

// mostStarts is how often a launch is tried, each time with a new process. The addresses that a process
// uses are random within a terabyte, so a conflict does not repeat unless an address can never be used.
const mostStarts = 4

// call runs a kernel. If the memory's place is taken in the process, it starts another one.
func (e *emulated) call(arena []byte, c *device.Call, host []memory) error {
	f := c.Func.(*emulatedFunc)
	err := e.run(f, c, arena, host)
	for starts := 0; starts < mostStarts && errors.Is(err, errOccupied); starts++ {
		err = e.run(f, c, arena, host)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}

// run runs a kernel in its process, and starts the process if there is none.
func (e *emulated) run(f *emulatedFunc, c *device.Call, arena []byte, host []memory) (err error) {
	if e.mirror == nil {
		if e.mirror, err = newMirror(len(arena)); err != nil {
			return err
		}
	}
	s := e.servers[f.program.path]
	if s == nil {
		if s, err = start(f.program, e.mirror, e.base); err != nil {
			return err
		}
		e.servers[f.program.path] = s
	}
	if err = s.run(f.index, c, e.mirror, arena, host); err != nil {
		delete(e.servers, f.program.path)
	}
	return err
}

// pinnedNow lists the host memory that kernels may read.
func pinnedNow() (list []memory) {
	pinnedMu.Lock()
	defer pinnedMu.Unlock()
	for p, h := range pinned {
		if !h.read {
			continue
		}
		if h.then == nil {
			h.then = bytes.Clone(h.now)
		}
		list = append(list, memory{uint64(uintptr(unsafe.Pointer(p))), h.then})
	}
	slices.SortFunc(list, func(a, b memory) int { return cmp.Compare(a.at, b.at) })
	return list
}

// product is a dense product, each sum in float64.
func product(arena []byte, base uint64, g *device.Gemm) {
	at := func(p uint64, i int) *float32 { return (*float32)(unsafe.Pointer(&arena[p-base+4*uint64(i)])) }
	for i := range g.M {
		for j := range g.N {
			sum := 0.0
			for k := range g.K {
				a, b := i*g.LDA+k, k*g.LDB+j
				if g.TransA {
					a = k*g.LDA + i
				}
				if g.TransB {
					b = j*g.LDB + k
				}
				sum += float64(*at(g.A, a)) * float64(*at(g.B, b))
			}
			if to := at(g.C, i*g.LDC+j); g.Add {
				*to += float32(sum)
			} else {
				*to = float32(sum)
			}
		}
	}
}
