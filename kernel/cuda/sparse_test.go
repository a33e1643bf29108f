package cuda_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sagann/backend"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/internal/draw"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// sparseProgram multiplies sparse rows (operand 0, k entries) with a matrix of columns×w numbers
// (1) into rows (2), and sums xᵀ·dy, dy being operand 3, into operand 4.
func sparseProgram(k, w, columns int) *kernel.Program {
	ld := (w + 3) / 4 * 4
	return &kernel.Program{Name: "sparse", Operands: 5, Widths: []int{2 * k, w, w, w},
		Leaves: []kernel.Leaf{
			{From: kernel.Own, Operand: 0, Cols: 2 * k, LD: (2*k + 3) / 4 * 4, Reg: 0},
			{From: kernel.Global, Operand: 1, Cols: w, LD: w, Rows: columns, Reg: 1},
			{From: kernel.Own, Operand: 3, Cols: w, LD: ld, Reg: 2}},
		Instrs: []kernel.Instr{{Op: "sparse_matmul", Role: kernel.SparseMatMul, Dst: 3, In: []int{0, 1}}},
		Outs: []kernel.Out{
			{Acc: kernel.Store, Reg: 3, Operand: 2, Aux: -1, LD: ld},
			{Acc: kernel.SumSparse, Reg: 2, Reg2: 0, Operand: 4, Aux: -1, Blocks: columns}}}
}

// TestSparseEmulated: sums of products of sparse rows are off by at most 1e-5 of the sum of their
// absolute terms, and the same to the bit each time, also of a column that all rows have.
func TestSparseEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: TestIndexEmulated runs a device, too")
	}
	r := rand.New(rand.NewPCG(draw.Seed(t), 1))
	for _, c := range []struct{ rows, k, w, columns int }{{700, 9, 6, 40}, {1500, 3, 8, 5}, {40, 300, 4, 1000}, {3, 1, 1, 1}, {90, 20, 140, 2000}, {70, 150, 4, 30_000}} {
		p := sparseProgram(c.k, c.w, c.columns)
		rendered, err := cuda.Render(p, cuda.H200)
		if err != nil {
			t.Fatal(err)
		}
		ldx, ld := p.Leaves[0].LD, p.Leaves[2].LD
		x, w, dy := make([]float32, c.rows*ldx), make([]float32, c.columns*c.w), make([]float32, c.rows*ld)
		for i := range w {
			w[i] = 1 + r.Float32()
		}
		for i := range dy {
			dy[i] = r.Float32() + 1
		}
		for v := range c.rows {
			ids := []uint32{0}
			for range r.IntN(c.k) {
				ids = append(ids, uint32(r.IntN(c.columns)))
			}
			slices.Sort(ids)
			ids = slices.Compact(ids)
			if v%11 == 4 {
				ids = nil
			}
			for j := range c.k {
				x[v*ldx+j] = math.Float32frombits(kernel.NoColumn)
				if j < len(ids) {
					x[v*ldx+j], x[v*ldx+c.k+j] = math.Float32frombits(ids[j]), r.Float32()
				}
			}
		}
		first := make([]float32, c.columns*c.w)
		for i := range first {
			first[i] = r.Float32()
		}
		out, sums := runSparse(t, rendered, c.rows, [][]float32{x, w, make([]float32, c.rows*ld), dy, first})
		_, again := runSparse(t, rendered, c.rows, [][]float32{x, w, make([]float32, c.rows*ld), dy, first})
		if !slices.Equal(sums, again) {
			t.Errorf("%+v: two runs differ", c)
		}
		want, wantSums := make([]float64, c.rows*ld), make([]float64, len(first))
		for i, y := range first {
			wantSums[i] = float64(y)
		}
		ids := make([]uint32, c.k)
		for v := range c.rows {
			row := x[v*ldx:][:2*c.k]
			for j, id := range ids[:kernel.SparseRow(row, ids)] {
				for o := range c.w {
					want[v*ld+o] += float64(row[c.k+j]) * float64(w[int(id)*c.w+o])
					wantSums[int(id)*c.w+o] += float64(row[c.k+j]) * float64(dy[v*ld+o])
				}
			}
		}
		for what, pair := range map[string]struct {
			got  []float32
			want []float64
		}{"product": {out, want}, "sum": {sums, wantSums}} {
			for i, y := range pair.want {
				if math.Abs(float64(pair.got[i])-y) > 1e-5*y { // all terms are positive
					t.Fatalf("%+v: number %d of the %s is %v, want %v", c, i, what, pair.got[i], y)
				}
			}
		}
	}
}

// runSparse runs a launch over the operands on an emulated GPU and returns operands 2 and 4.
func runSparse(t *testing.T, c *cuda.Program, rows int, bufs [][]float32) (out, sums []float32) {
	t.Helper()
	scratch := c.Scratch(rows, 0)
	bytesOf := func(x []float32) int64 { return kernel.Align(int64(len(x)) * 4) }
	all := scratch
	for _, b := range bufs {
		all += bytesOf(b)
	}
	all = max(all, 1<<20) // host memory has pages of its own then
	d := cudatest.Open(t, 0, all+1<<12)
	must := cudatest.Must(t)
	q, m, base := cudatest.Room(t, d, all)
	h, err := d.HostAlloc(all)
	must(err)
	l := &kernel.GPULaunch{Rows: rows}
	at := int64(0)
	for _, b := range bufs {
		l.Bufs = append(l.Bufs, base+uint64(at))
		for i, y := range b {
			le := math.Float32bits(y)
			copy(h.Bytes()[at+int64(i)*4:], []byte{byte(le), byte(le >> 8), byte(le >> 16), byte(le >> 24)})
		}
		at += bytesOf(b)
	}
	l.Scratch = base + uint64(at)
	copy(h.Bytes()[at:], bytes.Repeat([]byte{0xa5}, int(scratch)))
	must(d.CopyH2D(q, m, 0, h.Bytes()))
	kernels, err := backend.Compile(d, kernel.GPUText{Source: cuda.SparseSource, Names: c.Names})
	must(err)
	commands, err := backend.Commands(c.Steps(l), kernels, false)
	must(err)
	must(d.Launch(q, device.GPUFunc("sparse", func(g device.GPU) (device.Batch, error) { return g.Prepare(commands) })))
	must(d.CopyD2H(q, h.Bytes(), m, 0))
	must(d.Sync())
	read := func(k int) []float32 {
		y := make([]float32, len(bufs[k]))
		off := int64(l.Bufs[k] - base)
		for i := range y {
			b := h.Bytes()[off+int64(i)*4:]
			y[i] = math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
		}
		return y
	}
	out, sums = read(2), read(4)
	must(d.Free(m))
	must(d.HostFree(h))
	return out, sums
}
