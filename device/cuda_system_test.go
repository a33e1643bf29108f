//go:build cuda

package device_test

import (
	"strings"
	"testing"

	"sagann/device"
)

// What the driver tells of its GPUs holds together, and is that of the devices opened.
func TestCUDASystem(t *testing.T) {
	s, err := device.CUDASystem()
	if err != nil {
		t.Fatal(err)
	}
	n := s.GPUs()
	for i := range n {
		name, err := s.Name(i)
		if err != nil || name == "" {
			t.Errorf("gpu %d: name %q, %v", i, name, err)
		}
		bus, err := s.Bus(i)
		if err != nil || strings.Count(bus, ":") != 2 {
			t.Errorf("gpu %d: bus %q, %v", i, bus, err)
		}
		card, err := s.Card(i)
		total, free := card.Total, card.Free
		if err != nil || free <= 0 || total < free || total < 1<<30 {
			t.Errorf("gpu %d: %d bytes, %d free, %v", i, total, free, err)
		}
		d, err := device.OpenCUDA(i, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if text := d.Info().Name; !strings.Contains(text, name) || !strings.Contains(text, bus) {
			t.Errorf("gpu %d is %s on %s, the device %s", i, name, bus, text)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		for j := range n {
			if way, err := s.Peer(i, j); (err != nil) != (i == j) || way > device.PeerLink {
				t.Errorf("from gpu %d to %d: %v, %v", i, j, way, err)
			} else if i != j {
				t.Logf("from gpu %d to %d: way %d", i, j, way)
			}
		}
		t.Logf("gpu %d: %s, bus %s, driver %s, %d W", i, &card, bus, card.Driver, card.Watts)
	}
	if _, err := s.Bus(n); err == nil {
		t.Errorf("GPU %d of %d: no error", n, n)
	}
}
