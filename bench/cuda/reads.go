package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
	"unsafe"

	"sagann/backend"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// This file measures numbers of machine files: the rate at which a kernel reads rows of host memory over the link,
// alone and while matrix products run, and how much the products slow down. A fifth of the rows of a table is read, as
// in a batch of bench/sampled.
const (
	readVertices = 2_449_029
	readRows     = 491_000
	readTimes    = 20 // how often rows are read in one measurement
)

// reader is a table in host memory, and the device memory of the kernel that reads it.
type reader struct {
	*starter
	mark, take device.Function
	table      []byte
	ids, slots int64 // where these lie,
	places     plan.Table
}

// reads prints the table of rates.
func reads() error {
	const room = 3 << 30
	d, err := device.OpenCUDA(0, room+1<<30)
	if err != nil {
		return err
	}
	defer d.Close()
	r := &reader{starter: &starter{dev: d.(device.GPU)}}
	if err := r.open(room); err != nil {
		return err
	}
	defer d.Free(r.mem)
	defer d.HostFree(r.host)
	text := backend.Of(d.Info().Kind).Renderer.Blocks()
	f, err := r.dev.Compile(text.Source, text.Names)
	if err != nil {
		return err
	}
	r.mark, r.take = f[kernel.FarMark], f[kernel.FarTake]
	r.table = make([]byte, readVertices*512)
	for i := 0; i < len(r.table); i += 64 {
		r.table[i] = byte(i >> 6)
	}
	unpin, err := device.Pin(d, r.table)
	if err != nil {
		return err
	}
	defer unpin()
	if err := r.list(); err != nil {
		return err
	}
	us, err := r.time(readTimes, func() (all error) {
		for range readTimes {
			all = errors.Join(all, r.dev.CopyH2D(r.copies, r.mem, 0, r.table[:256<<20]))
		}
		return all
	})
	if err != nil {
		return err
	}
	fmt.Printf("copies of 256 MiB: %.1f GB/s\n", (256<<20)/us/1e3)
	fmt.Println("| bytes a row | apart | blocks | GB/s alone | beside products | of which the products' time grows, share of the reading | us a small kernel, alone | beside |\n|---|---|---|---|---|---|---|---|")
	for _, x := range []struct{ full, apart int }{{400, 512}, {400, 400}, {512, 512}, {256, 256}} {
		for _, blocks := range []uint32{8, 16, 32, 64, 132, 264} {
			if err := r.row(x.full, x.apart, blocks); err != nil {
				return err
			}
		}
	}
	return nil
}

// list copies the lists of vertices and places to the device. There the rows begin after the first gigabyte.
func (r *reader) list() error {
	r.ids = 1 << 30
	r.slots = r.ids + plan.Align(4*readRows)
	r.places = plan.Table{Rows: readVertices, Last: r.slots + plan.Align(4*readVertices)}
	ids, slots := make([]byte, 4*readRows), make([]byte, 4*readVertices)
	for i, v := range rand.New(rand.NewPCG(1, 1)).Perm(readVertices)[:readRows] {
		binary.LittleEndian.PutUint32(ids[4*i:], uint32(v))
	}
	for i := range slots {
		slots[i] = 0xff
	}
	err := errors.Join(r.dev.CopyH2D(r.copies, r.mem, r.ids, ids), r.dev.CopyH2D(r.copies, r.mem, r.slots, slots),
		r.dev.CopyH2D(r.copies, r.mem, r.places.Last, make([]byte, r.places.LastBytes())), r.dev.Sync())
	if err != nil {
		return err
	}
	mark, err := r.batch(device.Command{Call: &device.Call{Func: r.mark, Grid: [3]uint32{1 << 10, 1, 1}, Block: 256,
		Args: []uint64{r.at + uint64(r.places.Places(1)), r.at + uint64(r.places.Bits(1)), r.at + uint64(r.ids), readRows, 1, 0, r.at + uint64(r.slots),
			r.at + uint64(r.places.Places(0)), 0, r.at + uint64(r.places.Places(2)), 0, r.at + uint64(r.places.Counts())}}})
	return errors.Join(err, r.dev.Launch(r.copies, mark), r.dev.Sync())
}

// row prints the rates of reading rows of full bytes that begin apart bytes after each other.
func (r *reader) row(full, apart int, blocks uint32) error {
	at := func(x int64) uint64 { return r.at + uint64(x) }
	take, err := r.batch(device.Command{Clear: &device.Clear{Addr: at(r.places.Next(1)), Bytes: 4}}, device.Command{Call: &device.Call{Func: r.take, Grid: [3]uint32{blocks, 1, 1}, Block: 256, Shared: kernel.FarShared,
		Args: []uint64{r.at, uint64(uintptr(unsafe.Pointer(&r.table[0]))), at(r.ids), uint64(apart / 16), uint64(full / 16), at(r.places.Places(1)), at(r.places.Bits(1)), at(r.places.Next(1)), readVertices, 0}}})
	if err != nil {
		return err
	}
	us, err := r.time(readTimes, func() (all error) {
		for range readTimes {
			all = errors.Join(all, r.dev.Launch(r.copies, take))
		}
		return all
	})
	if err != nil {
		return err
	}
	const bytes = 1 << 29 // where operands of products begin, each in a quarter of that
	x := r.at + uint64(r.places.Last) + 1<<26
	g := &device.Gemm{A: x, B: x + bytes, C: x + bytes + 1<<20, M: 164627, N: 256, K: 100, LDA: 128, LDB: 256, LDC: 256}
	const calls = 20
	var list []device.Command
	for range calls {
		list = append(list, device.Command{Gemm: g})
	}
	products, err := r.batch(list...)
	if err != nil {
		return err
	}
	alone, err := r.time(1, func() error { return r.dev.Launch(r.calls, products) })
	if err != nil {
		return err
	}
	times := int(2*us*readTimes/alone) + 2 // so that the products run longer than the reading
	both, longer, err := r.beside(take, products, times)
	if err != nil {
		return err
	}
	tiny, between, err := r.small(take)
	if err != nil {
		return err
	}
	rate := float64(readRows) * float64(full) / 1e3
	fmt.Printf("| %d | %d | %d | %.1f | %.1f | %.2f | %.1f | %.1f |\n", full, apart, blocks, rate/us, rate/both, (longer-alone*float64(times))/(both*readTimes), tiny, between)
	return nil
}

// small is the time of a small kernel in us, in a sequence of them, alone and while rows are read.
func (r *reader) small(take device.Kernel) (alone, beside float64, err error) {
	const n = 200 // few enough to end before the reading does
	e, err := r.dev.NewEvent()
	if err != nil {
		return 0, 0, err
	}
	chain := func() (all error) {
		for range n {
			all = errors.Join(all, r.dev.Launch(r.calls, r.tiny))
		}
		return errors.Join(all, r.dev.Record(r.calls, e), device.Await(r.dev, e))
	}
	if alone, err = r.time(n, chain); err != nil {
		return 0, 0, err
	}
	for range readTimes {
		err = errors.Join(err, r.dev.Launch(r.copies, take))
	}
	begun := time.Now()
	err = errors.Join(err, chain())
	beside = 1e6 * time.Since(begun).Seconds() / n
	return alone, beside, errors.Join(err, r.dev.Sync())
}

// beside is the time of reading once in us while products run, and the time of all products.
func (r *reader) beside(take, products device.Kernel, times int) (once, all float64, err error) {
	e, err := r.dev.NewEvent()
	if err != nil {
		return 0, 0, err
	}
	begun := time.Now()
	for range times {
		err = errors.Join(err, r.dev.Launch(r.calls, products))
	}
	for range readTimes {
		err = errors.Join(err, r.dev.Launch(r.copies, take))
	}
	err = errors.Join(err, r.dev.Record(r.copies, e), device.Await(r.dev, e))
	once = 1e6 * time.Since(begun).Seconds() / readTimes
	err = errors.Join(err, r.dev.Sync())
	return once, 1e6 * time.Since(begun).Seconds(), err
}
