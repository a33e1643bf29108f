package backend

import (
	"cmp"
	"fmt"
	"strings"

	"sagann/device"
)

// Of is the kind that a device's name, such as "cpu:4", means; "" is the CPU. For a kind that is not in
// the table, the result has a Name only, and device.Open will return the error.
func Of(spec string) *Kind {
	name, _, _ := strings.Cut(cmp.Or(spec, Default().Name), ":")
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i]
		}
	}
	return &Kind{Name: name, Label: name, Model: Default().Model}
}

// Present is the name of a device of this machine: of the first kind of GPU whose driver
// reports a GPU, or else of the CPU.
func Present() string {
	for i := range kinds {
		if k := &kinds[i]; k.GPU() && k.System != nil {
			if sys, err := k.System(); err == nil && sys.GPUs() > 0 {
				return k.Name
			}
		}
	}
	return Default().Name
}

// MachineOf is the machine model on which plans for the devices of a name are searched if the user
// names no model; "": none.
func MachineOf(spec string) string {
	k := Of(spec)
	n, err := device.Count(spec)
	switch {
	case err != nil || !k.Search || n > k.Most:
		return ""
	case n > 1:
		return k.Several
	}
	return k.Model
}

// Spec is the name of the devices of the kind with these numbers, as device.Open takes it.
func (k *Kind) Spec(index ...int) string {
	return k.Name + ":" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(index)), ","), "[]")
}
