package sampled

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"sagann/bench/measure"
	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/internal/simd"
	"sagann/saga"
	"sagann/sample"
)

// serve answers the commands of alternate.py, one on each line: "draw" draws batches, "step" trains on some, "mm"
// multiplies matrices. An answer is the CPU seconds for one of them, and a size.
func serve(d *dataset.Data, sizes []int, size, n int, p *saga.Program, in io.Reader, out io.Writer) error {
	g, err := sample.NewGraph(d.Edges)
	if err != nil {
		return err
	}
	prog, err := sample.Compile(g, sample.Neighbours(sizes...))
	if err != nil {
		return err
	}
	order, drawn := sample.Permutation(d.Edges.V, sample.Key{Seed: 1}), 0
	var b sample.Blocks
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		start, count := measure.CPUSeconds(), 0
		switch lines.Text() {
		case "draw":
			for range n {
				lo := drawn * size % (len(order) - size)
				if err := prog.Blocks(&b, order[lo:lo+size], sample.Key{Seed: 1, Batch: uint32(drawn)}); err != nil {
					return err
				}
				drawn++
				for _, l := range b.Layers {
					count += len(l.Far)
				}
			}
			fmt.Fprintln(out, (measure.CPUSeconds()-start)/float64(n), count/n)
		case "step":
			for range n {
				if _, err := p.Step(); err != nil {
					return err
				}
			}
			fmt.Fprintln(out, (measure.CPUSeconds()-start)/float64(n), size)
		case "mm":
			seconds, flops := product()
			fmt.Fprintln(out, seconds, flops)
		default:
			return fmt.Errorf("unknown line %q", lines.Text())
		}
	}
	return lines.Err()
}

// product is the CPU time of the product of a batch's rows with the largest weight matrix, and its number of operations.
func product() (seconds float64, flops int) {
	const m, k, n, times = 16384, 256, 256, 10
	r := rand.New(rand.NewPCG(1, 1))
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = r.Float32()
		}
		return x
	}
	x, w, y, room := draw(m*k), draw(k*n), make([]float32, m*n), make([]float32, simd.PackedBSize(k, n))
	start := measure.CPUSeconds()
	for range times {
		p := simd.PackB(w, n, k, n, false, room)
		simd.GemmPacked(m, x, k, &p, y, n, false, nil)
	}
	runtime.KeepAlive(y)
	return (measure.CPUSeconds() - start) / times, 2 * m * k * n
}

// writeGraph writes edges and training vertices for alternate.py and pyg_epoch.py.
func writeGraph(d *dataset.Data, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	ids := func(x []uint32) []int32 {
		y := make([]int32, len(x))
		for i, v := range x {
			y[i] = int32(v)
		}
		return y
	}
	for _, x := range []struct {
		name string
		list []uint32
	}{{"src", d.Edges.Src}, {"dst", d.Edges.Dst}, {"train", d.Train}} {
		if err := npy.Write(filepath.Join(dir, x.name+".npy"), []int{len(x.list)}, ids(x.list)); err != nil {
			return err
		}
	}
	return nil
}
