//go:build !cuda

package device_test

import (
	"strings"
	"testing"

	"sagann/device"
)

func TestOpenCUDAOff(t *testing.T) {
	for _, spec := range []string{"cuda", "cuda:0,1"} {
		_, err := device.Open(spec, 1<<20)
		if err == nil || !strings.Contains(err.Error(), "-tags cuda") {
			t.Errorf("%s: %v, want an error that says how to build", spec, err)
		}
	}
	if _, err := device.CUDASystem(); err == nil || !strings.Contains(err.Error(), "-tags cuda") {
		t.Errorf("%v, want an error that says how to build", err)
	}
}
