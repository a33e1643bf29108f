package cuda

import (
	"strings"
	"testing"

	"sagann/backend"
	"sagann/device"
	"sagann/kernel/cuda"
)

// TestChip: an H200 tells of itself what plans and measured constants take it for, so which
// kernels gather does not depend on whether a device is open.
func TestChip(t *testing.T) {
	needGPU(t)
	d, err := device.OpenCUDA(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	i := d.Info()
	c := backend.Of(i.Kind).ChipOf(i)
	t.Logf("%s: %+v", i.Name, c)
	if i.Processors < 1 || i.Cache < 1 {
		t.Errorf("the driver tells of %d multiprocessors and a cache of %d bytes", i.Processors, i.Cache)
	}
	if strings.Contains(i.Name, "H200") && c != cuda.H200 {
		t.Errorf("an H200 is %+v, plans are made for %+v", c, cuda.H200)
	}
}
