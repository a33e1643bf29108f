package cli

import (
	"reflect"

	"github.com/alecthomas/kong"

	"sagann/backend"
	"sagann/device"
)

// NamedDevices refuses values of a flag --device that name no devices that compute, for all commands: some look only at how
// a name begins, or whether it is that of a GPU.
func NamedDevices(ctx *kong.Context) error {
	for _, f := range ctx.Flags() {
		if f.Name != "device" || f.Target.Kind() != reflect.String || f.Target.String() == f.Default || f.Target.String() == "" {
			continue
		}
		spec := f.Target.String()
		if _, _, err := device.Parse(spec); err != nil {
			return Usagef("--device: %w", err)
		}
		if !backend.Of(spec).Timed { // such devices are for tests of what is copied
			return Usagef("--device %s: it computes nothing; cpu, cpu:N, cuda or cuda:I,J", spec)
		}
	}
	return nil
}
