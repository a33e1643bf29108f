package backend

import (
	"testing"

	"sagann/device"
	"sagann/kernel"
)

// TestKinds: every row is a kind that package device opens, and says the same of names.
func TestKinds(t *testing.T) {
	for i := range kinds {
		k := &kinds[i]
		if kind, _, err := device.Parse(k.Name); err != nil || kind != k.Name {
			t.Errorf("device.Parse(%q) is %q, %v", k.Name, kind, err)
		}
		if n, err := device.Count(k.Two); err != nil || n != 2 || Of(k.Two) != k {
			t.Errorf("%q names %d devices of kind %s: %v", k.Two, n, Of(k.Two).Name, err)
		}
		if k.Search && (k.Model == "" || k.Several == "" || k.Most < 2) {
			t.Errorf("%s: plans are searched, but on which models?", k.Name)
		}
	}
	if Of("") != Default() || Of("tpu:1").GPU() || Of("tpu:1").Name != "tpu" {
		t.Errorf("no name means %s, tpu:1 %+v", Of("").Name, Of("tpu:1"))
	}
	if spec := Of("cuda").Spec(0, 2); spec != "cuda:0,2" {
		t.Errorf("GPUs 0 and 2 are %q", spec)
	}
}

// TestMachineOf: plans are searched on the model of a kind of GPU and of so many as its
// machine has; on the host they are not.
func TestMachineOf(t *testing.T) {
	for spec, want := range map[string]string{"": "", "cpu:4": "", "null": "", "cuda": "h200", "cuda:1": "h200", "cuda:0,1": "h200x4",
		"cuda:0,1,2,3": "h200x4", "cuda:0,1,2,3,4": "", "cuda:x": "", "tpu": ""} {
		if got := MachineOf(spec); got != want {
			t.Errorf("%q is planned on %q, want %q", spec, got, want)
		}
	}
}

// TestChipOf: an open device tells of itself; what it does not tell is as in the table.
func TestChipOf(t *testing.T) {
	k := Of("cuda")
	if c := k.ChipOf(device.Info{Arch: 90}); c != k.Chip {
		t.Errorf("%+v of a device that tells its architecture only", c)
	}
	if c := k.ChipOf(device.Info{}); c.Groups {
		t.Errorf("%+v: groups of warps on an architecture that is not known to have them", c)
	}
	if c := k.ChipOf(device.Info{Processors: 108}); c != (kernel.Chip{Processors: 108, Cache: k.Chip.Cache}) {
		t.Errorf("%+v of 108 multiprocessors", c)
	}
}
