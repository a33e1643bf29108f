package nvrtc_test

import (
	"errors"
	"testing"

	"sagann/device/nvrtc"
	"sagann/kernel/cuda"
	"sagann/kernel/kerneltest"
)

// TestGroups: the kernels that only one architecture has compile for it.
func TestGroups(t *testing.T) {
	for _, of := range [][3]int{{604, 132, 96}} {
		c, err := cuda.Render(kerneltest.Layer(of[0], of[1], of[2]), cuda.H200)
		if err != nil {
			t.Fatal(err)
		}
		if err := nvrtc.Check(c.Source, 90); errors.Is(err, nvrtc.ErrMissing) {
			t.Skipf("rendered only: %v", err)
		} else if err != nil {
			t.Errorf("%v: %v", of, err)
		}
	}
}
