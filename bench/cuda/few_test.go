package cuda

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"sagann/backend"
	"sagann/chunk"
	"sagann/device"
	"sagann/kernel"
	"sagann/kernel/cpu"
	"sagann/kernel/cuda"
)

// farRows is the rows of their other interval.
const farRows = 300

// laidRoom is enough scratch memory to lay rows of that interval out anew.
const laidRoom = 1 << 20

// lowCell is a cell of rows of few edges. With gaps, a list leaves rows out.
func lowCell(rows, seed int, gaps bool) chunk.View {
	v := chunk.View{Ptr: []uint32{0}}
	degrees := []int{0, 1, 2, 3, 5, 17, 33, 4, 8}
	for r := range rows {
		n := degrees[(r*5+r/7+seed)%len(degrees)]
		if gaps && (n == 0 || r%3 == 1) {
			continue
		}
		if gaps {
			v.RowIDs = append(v.RowIDs, uint32(r))
		}
		for k := range n {
			i := len(v.Other)
			v.Other = append(v.Other, uint32(i*7919+seed*13)%farRows)
			v.Rank = append(v.Rank, float32(k+seed*40))
			v.Weight = append(v.Weight, float32(i%17)/16-0.5)
		}
		v.Ptr = append(v.Ptr, uint32(len(v.Other)))
	}
	return v
}

// lowPrograms are the gathers of a width that the test runs.
func lowPrograms(t *testing.T, f int) []*kernel.Program {
	out := []*kernel.Program{sumProgram(f, columns(f)), weightedSum(f, columns(f))}
	for _, model := range []string{"resgated", "ggcn", "mpgcn", "gat"} {
		list, err := gatherPrograms(model, f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, list...)
	}
	return out
}

// TestFewEdges: all ways to gather compute what the CPU does over two cells of rows of
// few edges, one of them with a list of rows.
func TestFewEdges(t *testing.T) {
	d, err := device.OpenCUDA(0, 1<<30)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	const rows = 1000
	cells := []chunk.View{lowCell(rows, 0, false), lowCell(rows, 1, true)}
	for _, f := range []int{8, 32, 64, 100, 128} {
		seen := map[string]bool{}
		list := lowPrograms(t, f)
		for _, p := range list {
			if p.Edges {
				q := *p
				q.Packed = true
				list = append(list, &q)
			}
		}
		for i, p := range list {
			c, err := cuda.Render(p, cuda.H200)
			if err != nil {
				t.Fatal(err)
			}
			if seen[c.Source] || c.Scratch(rows, rows) > 0 {
				continue
			}
			seen[c.Source] = true
			t.Run(fmt.Sprintf("F=%d/%d %s", f, i, p.Name), func(t *testing.T) { runLow(t, d.(device.GPU), p, c, cells, rows) })
		}
	}
}

// operands are buffers of small numbers for all that p names.
func operands(p *kernel.Program, rows int) [][]float32 {
	bufs := make([][]float32, p.Operands)
	room := func(i, n int) {
		if len(bufs[i]) < n {
			bufs[i] = noise(n)
		}
	}
	for _, l := range p.Leaves {
		if l.From != kernel.Cell {
			room(l.Operand, max(rows, l.Rows)*l.LD)
		}
	}
	for _, o := range p.Outs {
		room(o.Operand, rows*o.LD)
		if o.Aux >= 0 {
			room(o.Aux, rows*o.AuxLD)
		}
	}
	return bufs
}

func runLow(t *testing.T, d device.GPU, p *kernel.Program, c *cuda.Program, cells []chunk.View, rows int) {
	runWays(t, d, p, c, cells, rows, operands(p, rows), func(got, want float32) bool {
		return got == want || math.Abs(float64(got-want)) <= 1e-4*max(1, math.Abs(float64(want)))
	})
}

// runWays runs p over cells in all ways to gather, with buffers that begin as bufs, and compares results with the CPU's.
func runWays(t *testing.T, d device.GPU, p *kernel.Program, c *cuda.Program, cells []chunk.View, rows int, bufs [][]float32, same func(got, want float32) bool) {
	host, err := cpu.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	var want [][]float32
	for _, x := range bufs {
		want = append(want, slices.Clone(x))
	}
	for k := range cells {
		host.Run(&cpu.Launch{Rows: rows, Bufs: want, Cell: &cells[k], First: k == 0, Last: k == len(cells)-1})
	}
	kernels, err := backend.Compile(d, c.Text())
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue("compute")
	if err != nil {
		t.Fatal(err)
	}
	for way := kernel.ByCell; way <= kernel.FewLaid; way++ {
		e := &edgeBench{dev: d, q: q}
		put := func(b []byte) uint64 {
			at, err := e.put(b, int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		var at []uint64
		for _, x := range bufs {
			at = append(at, put(raw(x)))
		}
		held := slices.Clone(e.held)
		scratch := put(make([]byte, laidRoom))
		var list []device.Command
		for k := range cells {
			v := &cells[k]
			far, bits := v.Other, 0
			if p.Packed {
				packed := v.Pack(farRows)
				far, bits = packed.Packed, packed.Bits
			}
			cell := &kernel.GPUCell{Ptr: v.Ptr, PtrAt: put(raw(v.Ptr)), Other: put(raw(far)), Bits: bits, Rank: put(raw(v.Rank)), Weight: put(raw(v.Weight))}
			if v.RowIDs != nil {
				cell.RowIDs = put(raw(v.RowIDs))
			}
			l := &kernel.GPULaunch{Rows: rows, Bufs: at, Cell: cell, First: k == 0, Last: k == len(cells)-1, Gather: way, Far: farRows, Scratch: scratch, Room: laidRoom}
			commands, err := backend.Commands(c.Steps(l), kernels, false)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, commands...)
		}
		b, err := d.Prepare(list)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Launch(q, device.GPUFunc(p.Name, func(device.GPU) (device.Batch, error) { return b, nil })); err != nil {
			t.Fatal(err)
		}
		compare := func(operand, cols, ld int) {
			got := make([]float32, len(bufs[operand]))
			if err := d.CopyD2H(q, raw(got), held[operand], 0); err != nil {
				t.Fatal(err)
			}
			if err := d.Sync(); err != nil {
				t.Fatal(err)
			}
			for i, w := range want[operand] {
				if i%ld < cols && !same(got[i], w) {
					t.Fatalf("way %d, row %d column %d of operand %d: %v, want %v", way, i/ld, i%ld, operand, got[i], w)
				}
			}
		}
		for _, o := range p.Outs {
			compare(o.Operand, p.Widths[o.Reg], o.LD)
			if o.Acc == kernel.Max && o.Aux >= 0 {
				compare(o.Aux, p.Widths[o.Reg], o.AuxLD)
			}
		}
		e.close()
	}
}
