package devicetest

import (
	"errors"
	"slices"
	"testing"

	"sagann/device"
)

// EveryFault fails calls of a GPU in turn, at once and, where a call is a task, when it runs: f must then return an error
// that fails accepts, and give all memory back. It opens GPUs by open. About three calls of each kind fail, with all set each.
func EveryFault(t *testing.T, all bool, open func() device.GPU, f func(device.GPU) error, fails func(error) bool) {
	t.Helper()
	run := func(fault device.Fault) (int64, error) {
		gpu := device.NewFaultGPU(open(), fault)
		err := f(gpu)
		var leak *device.LeakError
		if e := gpu.Close(); errors.As(e, &leak) && fault.Op != device.OpFree && fault.Op != device.OpHostFree {
			t.Errorf("%v, call %d: %v", fault.Op, fault.N, e)
		}
		return gpu.Calls(), err
	}
	for _, op := range append(device.Ops(), device.OpCompile) {
		calls, err := run(device.Fault{Op: op})
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, calls/3)
		if all {
			step = 1
		}
		for n := int64(1); n <= calls; n += step {
			for _, async := range []bool{false, true} {
				if async && !slices.Contains([]device.Op{device.OpH2D, device.OpD2H, device.OpLaunch}, op) {
					continue
				}
				if _, err := run(device.Fault{Op: op, N: n, Async: async}); !fails(err) {
					t.Errorf("%v, call %d of %d, async %v: %v", op, n, calls, async, err)
				}
			}
		}
	}
}
