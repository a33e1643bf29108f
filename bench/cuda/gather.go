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

	"sagann/device"
)

// gatherWidths are the columns of the table of gather-sums.
var gatherWidths = []int{16, 32, 64, 128, 256, 602}

// A csr is a graph as a list of sources for each destination.
type csr struct {
	name       string
	ptr, other []uint32
}

// drawCSR draws edges with uniform ends or, if skewed, with ends whose probability is
// proportional to r^-½ for the vertex of rank r. With 233,000 vertices and 23.2 million edges
// the first vertex has about 48,000 edges. Ranks are in random order.
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

// largest is the largest number of edges of a row.
func (g *csr) largest() uint32 {
	n := uint32(0)
	for v := range len(g.ptr) - 1 {
		n = max(n, g.ptr[v+1]-g.ptr[v])
	}
	return n
}

// bench is the device, and the data that the tables of gathers share.
type bench struct {
	dev  device.GPU
	peer string // the command that times cuSPARSE, or ""
	dir  string // where the peer finds the graph
}

// gathers prints the table of gather-sums, followed by Scatter and Gather alone. With sweep it prints
// the table of densities instead, the paper's Figure 13.
func gathers(vertices, edges int, peer string, sweep bool) error {
	d, err := device.OpenCUDA(0, 16<<30)
	if err != nil {
		return err
	}
	defer d.Close()
	b := &bench{dev: d.(device.GPU), peer: peer}
	if b.dir, err = os.MkdirTemp("", "gather"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	fmt.Println("| graph | edges | largest row | F | gather-sum, ms | GB/s gathered | cuSPARSE best, ms | its algorithm | faster | bfloat16 rows, ms | faster |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	if sweep {
		const v = 20000
		for _, percent := range []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10} {
			if err := b.table(drawCSR(fmt.Sprintf("%g %%", percent), v, int(percent/100*v*v), false), []int{128}); err != nil {
				return err
			}
		}
		return nil
	}
	uniform := drawCSR("uniform", vertices, edges, false)
	for _, g := range []*csr{uniform, drawCSR("skewed", vertices, edges, true)} {
		if err := b.table(g, gatherWidths); err != nil {
			return err
		}
	}
	return b.standalone(uniform, 128)
}

// table prints a line for each width.
func (b *bench) table(g *csr, widths []int) error {
	theirs, err := peerTimes(b.peer, b.dir, g, widths)
	if err != nil {
		return err
	}
	for _, f := range widths {
		t, err := b.gatherSum(g, f, false)
		if err != nil {
			return fmt.Errorf("width %d: %w", f, err)
		}
		half, err := b.gatherSum(g, f, true)
		if err != nil {
			return fmt.Errorf("width %d, bfloat16: %w", f, err)
		}
		best, alg := math.Inf(1), ""
		for a, x := range theirs[f] {
			if x < best {
				best, alg = x, a
			}
		}
		gb := float64(len(g.other)) * float64(f) * 4 / t / 1e6
		fmt.Printf("| %s | %d | %d | %d | %.4f | %.0f | %.4f | %s | %.2f× | %.4f | %.2f× |\n", g.name, len(g.other), g.largest(), f, t, gb, best, alg, best/t, half, best/half)
	}
	return nil
}

// peerTimes are milliseconds of the peer by F and algorithm. The peer gets the graph as
// two files of 32-bit words and prints lines "F algorithm ms".
func peerTimes(peer, dir string, g *csr, widths []int) (map[int]map[string]float64, error) {
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
	for _, f := range widths {
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
