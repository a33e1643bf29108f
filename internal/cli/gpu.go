package cli

import (
	"errors"
	"fmt"

	"sagann/device"
)

// OpenGPU opens the one GPU that spec names with so much memory; 0: nine tenths of what is
// free there.
func OpenGPU(spec string, mem int64) (device.GPU, error) {
	_, index, err := device.Parse(spec)
	if err != nil || len(index) != 1 || !device.IsGPU(spec) {
		return nil, Usagef("--device %s: want one GPU, such as cuda or cuda:1", spec)
	}
	if mem == 0 {
		system, err := device.CUDASystem()
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", spec, err)
		}
		_, free, err := system.Memory(index[0])
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", spec, err)
		}
		mem = free / 10 * 9
	}
	d, err := device.OpenCUDA(index[0], mem)
	if err != nil {
		return nil, fmt.Errorf("--device %s: %w", spec, err)
	}
	gpu, ok := d.(device.GPU)
	if !ok {
		return nil, errors.Join(fmt.Errorf("--device %s is not a GPU", spec), d.Close())
	}
	return gpu, nil
}
