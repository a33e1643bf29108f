package tables

import (
	"errors"
	"testing"

	"sagann/device/nvrtc"
)

// TestGPUTexts translates the kernels that the tables of samplers measure beside those of package
// sample, where the compiler is there.
func TestGPUTexts(t *testing.T) {
	for _, text := range []string{readsText} {
		if err := nvrtc.Check(text, 75); errors.Is(err, nvrtc.ErrMissing) {
			t.Skip(err)
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
}
