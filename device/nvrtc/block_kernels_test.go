package nvrtc_test

import (
	"errors"
	"testing"

	"sagann/device/nvrtc"
	"sagann/kernel/cuda"
)

// TestBlockKernels compiles the kernels that make parts of sampled blocks.
func TestBlockKernels(t *testing.T) {
	if _, err := nvrtc.Cubin(cuda.Backend{}.Blocks().Source, 75, 0); err != nil && !errors.Is(err, nvrtc.ErrMissing) {
		t.Fatal(err)
	}
}
