package device_test

import (
	"strings"
	"testing"

	"sagann/device"
)

func TestOpen(t *testing.T) {
	for spec, want := range map[string]string{
		"cpu": "cpu:0", "cpu:1": "cpu:0", "cpu:3": "cpu:0 cpu:1 cpu:2", "null": "null:0", "null:2": "null:0 null:1",
	} {
		ds, err := device.Open(spec, 1<<20)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
		}
		var got []string
		for _, d := range ds {
			got = append(got, d.Info().String())
			if d.Info().Budget != 1<<20 || d.Info().Name == "" {
				t.Errorf("%s: %+v", spec, d.Info())
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", spec, got, want)
		}
	}
}

func TestOpenRefused(t *testing.T) {
	for _, spec := range []string{"", "gpu", "cpu:", "cpu:0", "cpu:-1", "cpu:x", "cpu:1e3", "cpu:1025", "cpu:1,2",
		"CPU", " cpu", "null:0", "cuda:", "cuda:-1", "cuda:1,", "cuda:99999999999999999999"} {
		if ds, err := device.Open(spec, 1<<20); err == nil {
			t.Errorf("%q: no error, %d devices", spec, len(ds))
		} else if !strings.Contains(err.Error(), spec) {
			t.Errorf("%q: error %q does not name it", spec, err)
		}
	}
	if _, err := device.Open("cpu", 0); err == nil {
		t.Error("cpu without a budget: no error")
	}
}

// TestShared: a GPU that is named twice is two devices, where a caller has not refused that.
func TestShared(t *testing.T) {
	if n, err := device.Count("cuda:1,0,1"); err != nil || n != 3 {
		t.Errorf("%d devices, %v", n, err)
	}
	for spec, want := range map[string]string{"cuda:1,0,1": "cuda:1 is there twice", "cuda:0,": "cuda:0,"} {
		if err := device.Shared(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
	for _, spec := range []string{"cpu:4", "cuda", "cuda:2,0"} {
		if err := device.Shared(spec); err != nil {
			t.Error(err)
		}
	}
}
