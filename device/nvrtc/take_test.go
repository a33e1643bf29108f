package nvrtc_test

import (
	"errors"
	"testing"

	"sagann/device/nvrtc"
	"sagann/kernel/cuda"
)

// TestTake compiles the kernel that takes rows of a table.
func TestTake(t *testing.T) {
	if _, err := nvrtc.PTX(cuda.Backend{}.Take().Source, 75); err != nil && !errors.Is(err, nvrtc.ErrMissing) {
		t.Fatal(err)
	}
}
