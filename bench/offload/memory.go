package offload

import (
	"os"
	"strconv"
	"strings"

	"sagann/dataset"
	"sagann/device"
)

// given is the bytes of host memory of the graph as it was read or generated, and of the order of its
// vertices. The data that is laid out for the run is not included.
func given(d *dataset.Data) int64 {
	return 8*int64(d.Edges.E()) + 4*int64(len(d.Features)+len(d.Labels)+len(d.Train)+len(d.Val)+len(d.Test)) + 8*int64(d.Edges.V)
}

// inUse is the bytes of memory in use on the first GPU, 0 on other devices.
func (b *bench) inUse() (int64, error) {
	kind, list, _ := strings.Cut(b.device, ":")
	if kind != "cuda" {
		return 0, nil
	}
	gpu := 0
	if first, _, _ := strings.Cut(list, ","); first != "" {
		var err error
		if gpu, err = strconv.Atoi(first); err != nil {
			return 0, err
		}
	}
	sys, err := device.CUDASystem()
	if err != nil {
		return 0, err
	}
	card, err := sys.Card(gpu)
	return card.Total - card.Free, err
}

// peakRSS is the largest resident memory of the process (VmHWM), 0 if the
// system does not report it.
func peakRSS() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil {
				return n << 10
			}
		}
	}
	return 0
}

// resetPeak resets peakRSS, if the system allows that.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
