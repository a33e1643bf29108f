package mine

import (
	"time"

	"sagann/device"
)

// KeepEvery has searches keep what they count of a size so often; it returns what undoes that.
func KeepEvery(d time.Duration) (undo func()) {
	before := keepEvery
	keepEvery = d
	return func() { keepEvery = before }
}

// SetGPUs has the graphs of a test use these GPUs, with so many bytes unless Options.Mem
// says how many; it returns what undoes that.
func SetGPUs(open func(n int, bytes int64) []device.GPU, free int64) (undo func()) {
	before := openGPUs
	openGPUs = func(spec string, bytes int64) ([]device.GPU, int64, error) {
		if bytes == 0 {
			bytes = free
		}
		n, err := device.Count(spec)
		return open(n, bytes), bytes, err
	}
	return func() { openGPUs = before }
}
