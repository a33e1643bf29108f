package nvrtc_test

import (
	"errors"
	"testing"

	"sagann/device/nvrtc"
	"sagann/kernel"
	"sagann/kernel/cuda"
	"sagann/kernel/kerneltest"
)

// TestGroups: the kernels that only one architecture has compile for it.
func TestGroups(t *testing.T) {
	for _, of := range []*kernel.Program{kerneltest.Layer(604, 132, 96), kerneltest.Relations(3, 100, 64)} {
		c, err := cuda.Render(of, cuda.H200)
		if err != nil {
			t.Fatal(err)
		}
		if err := nvrtc.Check(c.Source, 90); errors.Is(err, nvrtc.ErrMissing) {
			t.Skipf("rendered only: %v", err)
		} else if err != nil {
			t.Errorf("%s: %v", of.Name, err)
		}
	}
}
