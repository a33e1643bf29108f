package backend

import (
	"fmt"

	"sagann/device"
	"sagann/device/launch"
	"sagann/kernel"
)

// Compile compiles a text for a GPU. The kernels have the numbers of GPUStep.Func.
func Compile(gpu device.GPU, text kernel.GPUText) ([]*launch.Kernel, error) {
	return launch.Compile(gpu, text.Source, text.Names)
}

// Commands are the steps of a launch of a program as commands of a GPU. kernels are those of the program's text (Compile).
// tf32 says that products may round their operands to TF32.
func Commands(steps []kernel.GPUStep, kernels []*launch.Kernel, tf32 bool) ([]device.Command, error) {
	list := make([]device.Command, 0, len(steps))
	for i := range steps {
		s := &steps[i]
		if m := &s.Gemm; s.Func < 0 {
			list = append(list, device.Command{Gemm: &device.Gemm{A: m.A, B: m.B, C: m.C, M: m.M, N: m.N, K: m.K,
				LDA: m.LDA, LDB: m.LDB, LDC: m.LDC, TransA: m.TransA, TransB: m.TransB, Add: m.Add, TF32: tf32}})
			continue
		}
		if s.Func >= len(kernels) {
			return nil, fmt.Errorf("backend: step %d calls kernel %d of %d", i, s.Func, len(kernels))
		}
		c, err := Call(kernels[s.Func], s.Grid, s.Block, s.Shared, s.Args)
		if err != nil {
			return nil, err
		}
		c.Call.Beside = s.Beside
		list = append(list, c)
	}
	return list, nil
}

// Call is a launch of a kernel on a grid of blocks of so many threads, with so many bytes of shared memory.
func Call(k *launch.Kernel, grid [3]uint32, block, shared uint32, args kernel.GPUArgs) (device.Command, error) {
	words, err := k.Words(args)
	if err != nil {
		return device.Command{}, err
	}
	return device.Command{Call: &device.Call{Func: k.Function, Grid: grid, Block: block, Shared: shared, Args: words}}, nil
}
