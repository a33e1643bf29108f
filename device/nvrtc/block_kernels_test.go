package nvrtc_test

import (
	"errors"
	"testing"

	"sagann/device/nvrtc"
	"sagann/kernel/cuda"
)

// TestBlockKernels compiles the kernels that make parts of sampled blocks.
func TestBlockKernels(t *testing.T) {
	if err := nvrtc.Check(cuda.Backend{}.Blocks().Source, 75); err != nil && !errors.Is(err, nvrtc.ErrMissing) {
		t.Fatal(err)
	}
}
