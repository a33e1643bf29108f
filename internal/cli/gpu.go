package cli

import (
	"errors"
	"fmt"

	"sagann/device"
)

// OpenGPU opens the GPU that spec names with a budget of mem bytes; 0: up to nine tenths of its free
// memory, taken as it is used. It is an error if spec names several.
func OpenGPU(spec string, mem int64) (device.GPU, error) {
	_, index, err := device.Parse(spec)
	if err != nil || len(index) != 1 || !device.IsGPU(spec) {
		return nil, Usagef("--device %s: want one GPU, such as cuda or cuda:1", spec)
	}
	return openGPU(spec, index[0], mem)
}

// OpenGPUs opens all GPUs that spec names, each with so much memory.
func OpenGPUs(spec string, mem int64) (list []device.GPU, err error) {
	_, indices, err := device.Parse(spec)
	if err != nil || !device.IsGPU(spec) {
		return nil, Usagef("--device %s: want GPUs, such as cuda or cuda:0,1", spec)
	}
	if err := device.Shared(spec); err != nil {
		return nil, Usage(err)
	}
	for _, index := range indices {
		gpu, err := openGPU(spec, index, mem)
		if err != nil {
			return nil, errors.Join(err, CloseGPUs(list))
		}
		list = append(list, gpu)
	}
	return list, nil
}

// CloseGPUs closes the GPUs.
func CloseGPUs(list []device.GPU) (err error) {
	for _, gpu := range list {
		err = errors.Join(err, gpu.Close())
	}
	return err
}

func openGPU(spec string, index int, mem int64) (device.GPU, error) {
	var opts []device.Option
	if mem == 0 {
		system, err := device.CUDASystem()
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", spec, err)
		}
		card, err := system.Card(index)
		if err != nil {
			return nil, fmt.Errorf("--device %s: %w", spec, err)
		}
		mem, opts = card.Arena(), append(opts, device.AsUsed())
	}
	d, err := device.OpenCUDA(index, mem, opts...)
	if err != nil {
		return nil, fmt.Errorf("--device %s: %w", spec, err)
	}
	gpu, ok := d.(device.GPU)
	if !ok {
		return nil, errors.Join(fmt.Errorf("--device %s is not a GPU", spec), d.Close())
	}
	return gpu, nil
}
