package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"sagann/device"
	"sagann/kernel"
)

// gatherWidths are the columns of the table of gather-sums.
var gatherWidths = []int{16, 32, 64, 128, 256, 602}

// A csr is a graph as lists of sources, by destination.
type csr struct {
	name       string
	ptr, other []uint32
}

// drawCSR draws edges between uniform ends or, skewed, between ends of which the one of
// rank r has a share proportional to r^-½: of 233,000 vertices and 23.2 million edges
// the first has about 48,000. Ranks are in random order.
func drawCSR(name string, vertices, edges int, skewed bool) *csr {
	r := rand.New(rand.NewPCG(1, 2))
	perm := r.Perm(vertices)
	end := func() uint32 {
		u := r.Float64()
		if !skewed {
			return uint32(u * float64(vertices))
		}
		return uint32(perm[int(u*u*float64(vertices))])
	}
	g := &csr{name: name, ptr: make([]uint32, vertices+1), other: make([]uint32, edges)}
	dst := make([]uint32, edges)
	for i := range dst {
		dst[i] = end()
		g.ptr[dst[i]+1]++
	}
	for v := range vertices {
		g.ptr[v+1] += g.ptr[v]
	}
	next := slices.Clone(g.ptr)
	for _, d := range dst {
		g.other[next[d]] = end()
		next[d]++
	}
	return g
}

// largest is the number of edges of the row that has most.
func (g *csr) largest() uint32 {
	n := uint32(0)
	for v := range len(g.ptr) - 1 {
		n = max(n, g.ptr[v+1]-g.ptr[v])
	}
	return n
}

// gathers times the sum over in-edges, rows of width F, and prints a table; peer is the
// command that times cuSPARSE on the same graphs, or "".
func gathers(vertices, edges int, peer string) error {
	d, err := device.OpenCUDA(0, 4<<30)
	if err != nil {
		return err
	}
	defer d.Close()
	dir, err := os.MkdirTemp("", "gather")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("| graph | largest row | F | gather-sum, ms | GB/s gathered | cuSPARSE best, ms | its algorithm | faster |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, g := range []*csr{drawCSR("uniform", vertices, edges, false), drawCSR("skewed", vertices, edges, true)} {
		theirs, err := peerTimes(peer, dir, g)
		if err != nil {
			return err
		}
		for _, f := range gatherWidths {
			t, err := gatherTime(d.(device.GPU), g, f)
			if err != nil {
				return fmt.Errorf("F=%d: %w", f, err)
			}
			best, alg := math.Inf(1), ""
			for a, x := range theirs[f] {
				if x < best {
					best, alg = x, a
				}
			}
			gb := float64(len(g.other)) * float64(f) * 4 / t / 1e6
			fmt.Printf("| %s | %d | %d | %.3f | %.0f | %.3f | %s | %.2f× |\n", g.name, g.largest(), f, t, gb, best, alg, best/t)
		}
	}
	return nil
}

// peerTimes are milliseconds of the peer by F and algorithm. The peer gets the graph as
// two files of 32-bit words and prints lines "F algorithm ms".
func peerTimes(peer, dir string, g *csr) (map[int]map[string]float64, error) {
	if peer == "" {
		return nil, nil
	}
	for name, x := range map[string][]uint32{"ptr": g.ptr, "other": g.other} {
		b := make([]byte, 0, 4*len(x))
		for _, v := range x {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return nil, err
		}
	}
	args := append(strings.Fields(peer), dir)
	for _, f := range gatherWidths {
		args = append(args, fmt.Sprint(f))
	}
	c := exec.Command(args[0], args[1:]...)
	c.Stderr = os.Stderr
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", peer, err)
	}
	out := map[int]map[string]float64{}
	for r := strings.NewReader(string(text)); ; {
		var f int
		var alg string
		var t float64
		if _, err := fmt.Fscan(r, &f, &alg, &t); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", peer, err)
		}
		if out[f] == nil {
			out[f] = map[string]float64{}
		}
		out[f][alg] = t
	}
}

// gatherTime is the median time in ms of the rendered gather-sum at width f. Ten rows
// of the result are checked.
func gatherTime(d device.GPU, g *csr, f int) (float64, error) {
	n, ld := len(g.ptr)-1, (f+31)&^31
	if f < 32 {
		ld = (f + 7) &^ 7
	}
	c, err := kernel.RenderCUDA(&kernel.Program{Name: "gather-sum", Edges: true, Operands: 2, Widths: []int{f},
		Leaves: []kernel.Leaf{{From: kernel.Other, Operand: 0, Cols: f, LD: ld, Reg: 0}},
		Outs:   []kernel.Out{{Acc: kernel.Sum, Reg: 0, Operand: 1, Aux: -1, LD: ld}}})
	if err != nil {
		return 0, err
	}
	funcs, err := d.Compile(c.Source, c.Names)
	if err != nil {
		return 0, err
	}
	q, err := d.NewQueue("compute")
	if err != nil {
		return 0, err
	}
	x := make([]float32, n*ld)
	for i := range x {
		x[i] = float32((i*7+i/31)%1000)/1000 - 0.5
	}
	var held []device.Mem
	defer func() {
		for _, m := range held {
			d.Free(m)
		}
	}()
	put := func(b []byte, bytes int) (uint64, error) {
		m, err := d.Alloc(int64(bytes))
		if err != nil {
			return 0, err
		}
		held = append(held, m)
		if len(b) > 0 {
			if err := d.CopyH2D(q, m, 0, b); err != nil {
				return 0, err
			}
		}
		return d.Address(m)
	}
	l := &kernel.CUDALaunch{Rows: n, Bufs: make([]uint64, 2), First: true, Last: true, Cell: &kernel.CUDACell{Ptr: g.ptr}}
	for _, p := range []struct {
		to    *uint64
		b     []byte
		bytes int
	}{{&l.Bufs[0], raw(x), 4 * len(x)}, {&l.Bufs[1], nil, 4 * len(x)},
		{&l.Cell.PtrAt, raw(g.ptr), 4 * len(g.ptr)}, {&l.Cell.Other, raw(g.other), 4 * len(g.other)}} {
		if *p.to, err = put(p.b, p.bytes); err != nil {
			return 0, err
		}
	}
	var list []device.Command
	for _, s := range c.Steps(l) {
		list = append(list, device.Command{Call: &device.Call{Func: funcs[s.Func], Grid: s.Grid, Block: s.Block, Shared: s.Shared, Args: s.Args}})
	}
	b, err := d.Prepare(list)
	if err != nil {
		return 0, err
	}
	k := device.GPUFunc("gather", func(device.GPU) (device.Batch, error) { return b, nil })
	var times []float64
	for i := range 23 {
		if i == 3 {
			d.SetTrace(func(s device.Span) { times = append(times, ms(s.End-s.Start)) })
		}
		if err := d.Launch(q, k); err != nil {
			return 0, err
		}
		if err := d.Sync(); err != nil {
			return 0, err
		}
	}
	d.SetTrace(nil)
	y := make([]float32, n*ld)
	if err := d.CopyD2H(q, raw(y), held[1], 0); err != nil {
		return 0, err
	}
	if err := d.Sync(); err != nil {
		return 0, err
	}
	for v := 0; v < n; v += n / 10 {
		for col := range f {
			want, size := 0.0, 0.0
			for _, u := range g.other[g.ptr[v]:g.ptr[v+1]] {
				want += float64(x[int(u)*ld+col])
				size += math.Abs(float64(x[int(u)*ld+col]))
			}
			if got := float64(y[v*ld+col]); !(math.Abs(got-want) <= 1e-5*size) {
				return 0, fmt.Errorf("row %d column %d: %v, want %v", v, col, got, want)
			}
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

func raw[T uint32 | float32](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
