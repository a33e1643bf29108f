package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sagann/device"
)

// This file measures numbers of machine files: the overheads of kernels, copies and products.

const (
	startTasks = 2000 // tasks in one measurement
	startSlots = 4    // copies run this many slots ahead of the kernels that read them
)

const tinySource = `
extern "C" __global__ void tiny(float *a, long long n) {
	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	if (i < n) a[i] = i;
}
`

// starter is the device, and the data that the tables share.
type starter struct {
	dev           device.GPU
	copies, calls device.Queue
	mem           device.Mem
	host          device.HostMem
	at            uint64
	tiny          device.Kernel
}

// starts prints the tables of kernels and copies and that of products.
func starts(tf32 bool) error {
	const bytes = 3 << 30
	d, err := device.OpenCUDA(0, bytes)
	if err != nil {
		return err
	}
	defer d.Close()
	s := &starter{dev: d.(device.GPU)}
	if err := s.open(bytes); err != nil {
		return err
	}
	defer d.Free(s.mem)
	defer d.HostFree(s.host)
	if err := s.tasks(); err != nil {
		return err
	}
	return s.products(tf32)
}

func (s *starter) open(bytes int64) (err error) {
	if s.copies, err = s.dev.NewQueue("h2d"); err != nil {
		return err
	}
	if s.calls, err = s.dev.NewQueue("compute"); err != nil {
		return err
	}
	if s.mem, err = s.dev.Alloc(bytes); err != nil {
		return err
	}
	if s.host, err = s.dev.HostAlloc(64 << 20); err != nil {
		return err
	}
	if s.at, err = s.dev.Address(s.mem); err != nil {
		return err
	}
	f, err := s.dev.Compile(tinySource, []string{"tiny"})
	if err != nil {
		return err
	}
	s.tiny, err = s.batch(device.Command{Call: &device.Call{Func: f[0], Grid: [3]uint32{256, 1, 1}, Block: 256, Args: []uint64{s.at, 1 << 16}}})
	return err
}

// batch is a list of commands as a kernel.
func (s *starter) batch(list ...device.Command) (device.Kernel, error) {
	b, err := s.dev.Prepare(list)
	return device.GPUFunc("starts", func(device.GPU) (device.Batch, error) { return b, nil }), err
}

// time is the median time of one task in us; f submits n tasks.
func (s *starter) time(n int, f func() error) (float64, error) {
	var all []float64
	for range 7 {
		begun := time.Now()
		if err := errors.Join(f(), s.dev.Sync()); err != nil {
			return 0, err
		}
		all = append(all, 1e6*time.Since(begun).Seconds()/float64(n))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// tasks prints the times of a small kernel and of copies of several sizes: in a sequence, and as
// in a plan, where each copy waits for the kernel that read its slot before, and each kernel for its copy.
func (s *starter) tasks() error {
	fmt.Println("| task | MB | one after the other, us | each waits for the other queue, us | beside the bytes, us |\n|---|---|---|---|---|")
	var events [2][startSlots]device.Event
	for i := range events {
		for j := range events[i] {
			var err error
			if events[i][j], err = s.dev.NewEvent(); err != nil {
				return err
			}
		}
	}
	handed := func(bytes int64) func() error {
		return func() error {
			var all error
			for i := range startTasks {
				slot := i % startSlots
				copied, read := events[0][slot], events[1][slot]
				if i >= startSlots {
					all = errors.Join(all, s.dev.Wait(s.copies, read))
				}
				if bytes > 0 {
					all = errors.Join(all, s.dev.CopyH2D(s.copies, s.mem, int64(slot)*bytes, s.host.Bytes()[:bytes]))
				}
				all = errors.Join(all, s.dev.Record(s.copies, copied), s.dev.Wait(s.calls, copied), s.dev.Launch(s.calls, s.tiny), s.dev.Record(s.calls, read))
			}
			return all
		}
	}
	alone, err := s.time(startTasks, func() (all error) {
		for range startTasks {
			all = errors.Join(all, s.dev.Launch(s.calls, s.tiny))
		}
		return all
	})
	if err != nil {
		return err
	}
	both, err := s.time(startTasks, handed(0))
	if err != nil {
		return err
	}
	fmt.Printf("| small kernel | | %.2f | %.2f | |\n", alone, both)
	largest := 0.0 // us a byte
	for _, kib := range []int64{16384, 4096, 1024, 640, 256, 64} {
		bytes := kib << 10
		alone, err := s.time(startTasks, func() (all error) {
			for range startTasks {
				all = errors.Join(all, s.dev.CopyH2D(s.copies, s.mem, 0, s.host.Bytes()[:bytes]))
			}
			return all
		})
		if err != nil {
			return err
		}
		both, err := s.time(startTasks, handed(bytes))
		if err != nil {
			return err
		}
		if largest == 0 {
			largest = alone / float64(bytes)
		}
		fmt.Printf("| copy from the host | %.2f | %.2f | %.2f | %.2f, %.2f |\n", float64(bytes)/1e6, alone, both, alone-largest*float64(bytes), both-largest*float64(bytes))
	}
	return nil
}

// products prints the times of products of many and of few rows. With few rows most of the GPU is idle.
func (s *starter) products(tf32 bool) error {
	fmt.Println("\n| product | rows | us | TFLOP/s | beside the rate of most rows, us |\n|---|---|---|---|---|")
	const calls = 20
	for _, f := range []struct {
		name        string
		from, to    int
		transA, tnB bool
	}{
		{"x·W", 128, 128, false, false}, {"x·W", 300, 128, false, false}, {"x·W", 128, 384, false, false},
		{"y·Wᵀ", 384, 128, false, true}, {"x·W", 100, 256, false, false}, {"x·W", 256, 256, false, false},
		{"xᵀ·y", 128, 128, true, false}, {"xᵀ·y", 300, 128, true, false}, {"xᵀ·y", 128, 384, true, false},
	} {
		rate := 0.0 // us a row
		for _, n := range []int{262144, 67584, 33792, 16896, 8800, 4400, 2200, 1100} {
			g := &device.Gemm{A: s.at, B: s.at + 1<<30, C: s.at + 2<<30, M: n, N: f.to, K: f.from, LDA: f.from, LDB: f.to, LDC: f.to, TF32: tf32}
			switch {
			case f.tnB:
				g.TransB, g.LDB = true, f.from
			case f.transA:
				g.TransA, g.Add, g.M, g.K = true, true, f.from, n
			}
			var list []device.Command
			for range calls {
				list = append(list, device.Command{Gemm: g})
			}
			k, err := s.batch(list...)
			if err != nil {
				return err
			}
			us, err := s.time(calls, func() error { return s.dev.Launch(s.calls, k) })
			if err != nil {
				return err
			}
			if rate == 0 {
				rate = us / float64(n)
			}
			fmt.Printf("| %s, %d to %d | %d | %.1f | %.1f | %.1f |\n", f.name, f.from, f.to, n, us, 2*float64(n)*float64(f.from)*float64(f.to)/us/1e6, us-rate*float64(n))
		}
	}
	return nil
}
