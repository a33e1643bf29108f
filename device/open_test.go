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

// TestOpenPart: a process opens its devices of those that a spec names for all.
func TestOpenPart(t *testing.T) {
	ds, err := device.Open("null:6", 1<<20, device.Part(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range ds {
		got = append(got, d.Info().String())
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if strings.Join(got, " ") != "null:2 null:3 null:4" {
		t.Errorf("%v", got)
	}
	for _, p := range []device.Option{device.Part(4, 3), device.Part(-1, 2)} {
		if _, err := device.Open("null:6", 1<<20, p); err == nil || !strings.Contains(err.Error(), "there are no devices") {
			t.Error(err)
		}
	}
}

// TestSpecs: what a spec says without a device being opened.
func TestSpecs(t *testing.T) {
	for spec, want := range map[string]struct {
		host, gpu bool
		count     int
		staging   int64 // buffers of copies from files
	}{
		"":         {host: true, count: 1},
		"cpu:4":    {host: true, count: 4},
		"null":     {count: 1},
		"cuda:0,2": {gpu: true, count: 2, staging: 2 * device.Staging("cuda")},
		"nothing":  {},
	} {
		n, err := device.Count(spec)
		if device.Host(spec) != want.host || device.IsGPU(spec) != want.gpu || n != want.count || (err != nil) != (n == 0) || device.Staging(spec) != want.staging {
			t.Errorf("%q: host %t, GPU %t, %d devices, %d bytes: %v", spec, device.Host(spec), device.IsGPU(spec), n, device.Staging(spec), err)
		}
	}
	if device.Staging("cuda") == 0 {
		t.Error("a GPU needs no buffers for copies from files")
	}
}

// TestVisible: as many GPUs as the list has before its first entry that is none.
func TestVisible(t *testing.T) {
	for list, want := range map[string]int{"": 0, "0": 1, "3, 1": 2, "GPU-8f2a,MIG-91b3": 2, "0,-1,1": 1, "2,,3": 1} {
		t.Setenv("CUDA_VISIBLE_DEVICES", list)
		if n, told := device.Visible("cuda"); !told || n != want {
			t.Errorf("%q: %d, %t, want %d", list, n, told, want)
		}
		if _, told := device.Visible("cpu:2"); told {
			t.Error("processors are hidden by it")
		}
	}
}

// TestMemoryErrors: texts of errors say what was asked for, what is in use and what is left.
func TestMemoryErrors(t *testing.T) {
	for want, err := range map[string]error{
		"cpu:0: out of device memory: asked for 60 bytes, 50 used of a budget of 100":                         &device.BudgetError{Device: "cpu:0", Asked: 60, Used: 50, Budget: 100},
		"cpu:0: out of device memory: asked for 40 bytes, 50 used of a budget of 100 (largest free block 30)": &device.BudgetError{Device: "cpu:0", Asked: 40, Used: 50, Budget: 100, Largest: 30},
		"cuda:1: out of host memory: asked for 40 bytes, 50 used of a budget of 100":                          &device.BudgetError{Device: "cuda:1", Asked: 40, Used: 50, Budget: 100, Host: true},
		"null:0: closed while holding 2 device blocks (30 bytes) and 1 host blocks (4 bytes)":                 &device.LeakError{Device: "null:0", Blocks: 2, Bytes: 30, HostBlocks: 1, HostBytes: 4},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
