package cuda_test

import (
	"fmt"
	"math"
	"testing"

	"sagann/backend"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// TestOptimizerEmulated: one launch updates several parameters, each with its own gradient and decay, and of those with a number that is
// not finite notes the first; a later update does not change the note.
func TestOptimizerEmulated(t *testing.T) {
	const floats, note, step = 1 << 12, 4 * 4000, 4 * 4032
	d := cudatest.Open(t, 0, 4*floats+1<<12)
	must := cudatest.Must(t)
	q, m, base := cudatest.Room(t, d, 4*floats)
	text := cuda.Backend{}.Optimizer(kernel.Adam)
	kernels, err := backend.Compile(d, kernel.GPUText{Source: cudatest.Step(text.Source), Names: text.Names})
	must(err)
	h, err := d.HostAlloc(4 * floats)
	must(err)
	defer func() { must(d.HostFree(h)); must(d.Free(m)) }()
	x, lengths := device.View[float32](h.Bytes()), []int{5, 300, 1}
	clear(x)
	at := func(k, what int) int { return k*1200 + what*300 } // of weights, gradients and moments
	for i := range 3600 {
		x[i] = float32(i%700)/300 - 0.9
	}
	for k, n := range lengths {
		for i := range n {
			x[at(k, 3)+i] = float32(math.Abs(float64(x[at(k, 3)+i])))
		}
	}
	const lr, b1, b2, eps, c1, c2 = 0.01, 0.9, 0.99, 1e-6, 0.3, 0.2
	copy(x[step/4:], []float32{lr, b1, b2, eps, c1, c2, math.Float32frombits(9), math.Float32frombits(1)})
	run := func() {
		args := kernel.GPUArgs{kernel.GPUAt("step", base+step), kernel.GPUAt("note", base+note)}
		for k := range kernel.UpdatesTogether {
			n, decay := 0, float32(0)
			for what, name := range []string{"w", "g", "m", "v"} {
				a := uint64(0)
				if k < len(lengths) {
					a, n, decay = base+4*uint64(at(k, what)), lengths[k], 0.1*float32(k)
				}
				args = append(args, kernel.GPUAt(fmt.Sprint(name, k), a))
			}
			args = append(args, kernel.GPUNumber(fmt.Sprint("n", k), n), kernel.GPUNumber(fmt.Sprint("decay", k), int(math.Float32bits(decay))), kernel.GPUNumber(fmt.Sprint("number", k), k+4))
		}
		c, err := backend.Call(kernels[0], [3]uint32{2, uint32(len(lengths)), 1}, 256, 0, args)
		must(err)
		must(d.CopyH2D(q, m, 0, h.Bytes()))
		must(d.Launch(q, device.GPUFunc("update", func(g device.GPU) (device.Batch, error) { return g.Prepare([]device.Command{c}) })))
		must(d.CopyD2H(q, h.Bytes(), m, 0))
		must(d.Sync())
	}
	noted := func(want ...uint32) {
		t.Helper()
		for i, y := range want {
			if got := math.Float32bits(x[note/4+i]); got != y {
				t.Errorf("word %d of the note is %x, want %x", i, got, y)
			}
		}
	}
	before := append([]float32{}, x...)
	run()
	for k, n := range lengths {
		for i := range 300 {
			w, g, m, v := before[at(k, 0)+i], before[at(k, 1)+i], before[at(k, 2)+i], before[at(k, 3)+i]
			if i < n {
				y := float64(g) + 0.1*float64(k)*float64(w)
				a, b := b1*float64(m)+(1-b1)*y, b2*float64(v)+(1-b2)*y*y
				w = float32(float64(w) - lr*(a/c1)/(math.Sqrt(b/c2)+eps))
			}
			if got := x[at(k, 0)+i]; math.Abs(float64(got-w)) > 1e-6 {
				t.Fatalf("number %d of parameter %d is %v, want %v", i, k, got, w)
			}
		}
	}
	noted(0, 0, 0)
	nan := float32(math.NaN())
	x[at(2, 1)], x[at(1, 1)+299] = nan, nan
	run()
	noted(^uint32(5), 9, 1)
	x[at(0, 1)], x[step/4+6], x[step/4+7] = nan, math.Float32frombits(10), math.Float32frombits(2)
	run()
	noted(^uint32(5), 9, 1)
}
