package cuda_test

import (
	"encoding/binary"
	"testing"

	"sagann/backend"
	"sagann/chunk"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// emulate runs p on an emulated GPU over cells, of which there is none for rows, with operands of these numbers, and brings the operands back. Launches
// have what l has, and a list for indexed rows.
func emulate(t *testing.T, p *kernel.Program, cells []*chunk.Rect, l *kernel.GPULaunch, index []uint32, bufs [][]float32) {
	t.Helper()
	emulateOn(t, cuda.H200, p, cells, l, index, bufs)
}

// emulateOn is emulate of a chip.
func emulateOn(t *testing.T, chip kernel.Chip, p *kernel.Program, cells []*chunk.Rect, l *kernel.GPULaunch, index []uint32, bufs [][]float32) {
	t.Helper()
	c, err := cuda.Render(p, chip)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(4 * len(index))
	for _, x := range bufs {
		size += kernel.Align(int64(4 * len(x)))
	}
	for _, r := range cells {
		size += kernel.Align(r.Bytes)
	}
	size = max(kernel.Align(size)+l.Room, 1<<20) // host memory has pages of its own then
	d := cudatest.Open(t, 0, size+1<<12)
	must := cudatest.Must(t)
	q, m, base := cudatest.Room(t, d, size)
	h, err := d.HostAlloc(size)
	must(err)
	defer func() { must(d.HostFree(h)); must(d.Free(m)) }()
	kernels, err := backend.Compile(d, kernel.GPUText{Source: cudatest.Step(c.Source), Names: c.Names})
	must(err)
	at := int64(0)
	put := func(b []byte) uint64 {
		copy(h.Bytes()[at:], b)
		from := at
		at += kernel.Align(int64(len(b)))
		return base + uint64(from)
	}
	for _, x := range bufs {
		b, err := binary.Append(nil, binary.LittleEndian, x)
		must(err)
		l.Bufs = append(l.Bufs, put(b))
	}
	b, err := binary.Append(nil, binary.LittleEndian, index)
	must(err)
	l.Index = put(b)
	l.Scratch = put(make([]byte, l.Room))
	var commands []device.Command
	add := func(l *kernel.GPULaunch) {
		steps := c.Steps(l)
		list, err := backend.Commands(steps, kernels, false)
		must(err)
		commands = append(commands, list...)
	}
	for k, r := range cells {
		cell, of := put(r.Mem[:r.Bytes]), *l
		part := func(off int64) uint64 {
			if off < 0 {
				return 0
			}
			return cell + uint64(off)
		}
		of.First, of.Last = k == 0, k == len(cells)-1
		of.Cell = &kernel.GPUCell{Ptr: r.View().Ptr, PtrAt: part(r.PtrOff), Other: part(r.OtherOff), Rank: part(r.RankOff), Weight: part(r.WeightOff)}
		add(&of)
	}
	if cells == nil {
		add(l)
	}
	must(d.CopyH2D(q, m, 0, h.Bytes()))
	must(d.Launch(q, device.GPUFunc(p.Name, func(g device.GPU) (device.Batch, error) { return g.Prepare(commands) })))
	must(d.CopyD2H(q, h.Bytes(), m, 0))
	must(d.Sync())
	for k, x := range bufs {
		copy(x, device.View[float32](h.Bytes()[l.Bufs[k]-base:][:4*len(x)]))
	}
}
