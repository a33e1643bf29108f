package exec

import (
	"slices"
	"testing"

	"sagann/dataflow/plan"
	"sagann/device/launch"
	"sagann/kernel"
	"sagann/kernel/cuda"
)

// Every optimiser's kernel, the one of running statistics and those that join devices find their arguments by name.
func TestUpdateNames(t *testing.T) {
	const base, step = 1 << 20, 1 << 30
	kernelsOf := func(text kernel.GPUText) (list []*launch.Kernel) {
		all, err := launch.ParametersOf(text.Source, text.Names)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			list = append(list, &launch.Kernel{Parameters: p})
		}
		return list
	}
	p := &plan.Plan{Globals: []int64{0, 256, 512, 768}}
	for kind, moments := range map[kernel.Optimizer][]int{kernel.SGD: nil, kernel.Momentum: {2}, kernel.Adam: {2, 3}, kernel.AdamW: {2, 3}} {
		f := kernelsOf(cuda.Backend{}.Optimizer(kind))
		o := &optimiser{plan: p, calls: &GPUUpdate{Kind: kind, Calls: []UpdateCall{
			{Param: 0, Grad: 1, Moments: moments, N: 30, Number: 7, Decay: 1}, {Param: 1, Grad: 0, N: 5, Number: 8, Share: 2},
			{Param: 1, Grad: 0, Moments: moments, N: 200, Number: 9}}}}
		x := &commands{gpu: &gpu{base: base, step: step, update: f[0], average: f[1]}}
		if o.commands(x); x.err != nil {
			t.Fatalf("optimiser %d: %v", kind, x.err)
		}
		// Args are those of parameters, and zeros behind them.
		call := func(what string, i int, y uint32, want ...uint64) {
			c := x.list[i].Call
			none := make([]uint64, len(c.Args)-len(want))
			if got := c.Args; !slices.Equal(got, append(want, none...)) || c.Grid != [3]uint32{1, y, 1} {
				t.Errorf("%s, optimiser %d: %d on %v blocks", what, kind, got, c.Grid)
			}
		}
		first, second := []uint64{step, step + noteAt, base, base + 256}, []uint64{base + 256, base}
		for _, m := range moments {
			first, second = append(first, base+uint64(p.Globals[m])), append(second, base+uint64(p.Globals[m]))
		}
		call("two parameters", 0, 2, append(append(append(first, 30, 0x3f800000, 7), second...), 200, 0, 9)...)
		call("running statistics", 1, 1, step, step+noteAt, base+256, base, 5, 0x40000000, 8)
	}
	add := kernelsOf(cuda.Backend{}.Join())
	on := &kernels{plan: p, now: &current{plan: p}}
	for i, most := range []bool{false, true} {
		k := &task{on: on, t: &plan.Task{Kind: plan.Add, Value: -1, Addr: 256, FromAddr: 512, Bytes: 40, Is: plan.Marks{Max: most}}}
		list, err := k.list(&gpu{base: base, add: add[0], larger: add[1]})
		if err != nil || !slices.Equal(list[0].Call.Args, []uint64{base + 256, base + 512, 10}) {
			t.Errorf("kernel %d that joins devices: %v, %v", i, list, err)
		}
	}
}
