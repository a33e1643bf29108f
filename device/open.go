package device

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// An Option changes how a device is opened.
type Option func(*opened)

type opened struct {
	poison   bool
	asUsed   bool
	host     int64
	first, n int // which devices of the spec; n 0: all
}

func options(opts []Option) opened {
	o := opened{host: math.MaxInt64}
	for _, f := range opts {
		f(&o)
	}
	return o
}

// Poison fills new blocks, of device and host memory, with bytes of ones: NaN
// as a float, -1 as an integer. For tests.
func Poison() Option { return func(o *opened) { o.poison = true } }

// HostBudget limits what HostAlloc of one device may hand out at a time; the
// default is no limit.
func HostBudget(bytes int64) Option { return func(o *opened) { o.host = bytes } }

// AsUsed has a GPU take memory when a block needs it, not all of the budget when it is opened: others may take what is left. Memory
// once taken stays until Close. Other GPUs cannot copy from there.
func AsUsed() Option { return func(o *opened) { o.asUsed = true } }

// Part has Open open only n of the devices that a spec names, from number first on. The other devices belong
// to other processes.
func Part(first, n int) Option { return func(o *opened) { o.first, o.n = first, n } }

// maxDevices bounds the count in a spec.
const maxDevices = 1024

// Open opens the devices that spec names, each with a budget of so many bytes:
//
//	cpu       the host
//	cpu:4     four devices that share the host
//	null      a device that counts only; also null:4. No budget (0) is no limit
//	cuda      the first GPU
//	cuda:0,1  these GPUs
//	cuda:0,0  two devices that share a GPU, each with a budget of its own
//
// When one device cannot be opened, those opened before it are closed again.
func Open(spec string, budget int64, opts ...Option) ([]Device, error) {
	kind, index, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	one := map[string]func(i int) (Device, error){
		"cpu":  func(i int) (Device, error) { return NewCPU(i, budget, opts...) },
		"null": func(i int) (Device, error) { return NewNull(i, budget, opts...) },
		"cuda": func(i int) (Device, error) { return OpenCUDA(i, budget, opts...) },
	}[kind]
	if o := options(opts); o.n > 0 {
		if o.first < 0 || o.first+o.n > len(index) {
			return nil, fmt.Errorf("device %q: there are no devices %d to %d", spec, o.first, o.first+o.n-1)
		}
		index = index[o.first : o.first+o.n]
	}
	var devices []Device
	for _, i := range index {
		d, err := one(i)
		if err != nil {
			for _, d := range devices {
				d.Close()
			}
			return nil, fmt.Errorf("device %q: %w", spec, err)
		}
		devices = append(devices, d)
	}
	return devices, nil
}

// Load begins to load what the GPUs of spec need, and returns at once. It takes none of their memory, and does nothing for other
// devices.
func Load(spec string) {
	if kind, _, err := Parse(spec); err == nil && kind == "cuda" {
		cuBegin()
	}
}

// Warm begins what opening the GPUs of spec will wait for, with products also what these need, and returns at once. It does
// nothing for other devices.
func Warm(spec string, products bool) {
	kind, index, err := Parse(spec)
	if err != nil || kind != "cuda" {
		return
	}
	for _, i := range index {
		cuWarm(i, products)
	}
}

// CompileAhead begins compiling sources for the GPUs of spec, and returns at once. end leaves out what has not begun, and waits for
// what has; it may be called again.
func CompileAhead(spec string, sources []string) (end func()) {
	kind, index, err := Parse(spec)
	if err == nil && kind == "cuda" && len(index) > 0 {
		return cuAhead(index[0], sources)
	}
	return func() {}
}

// Count is the number of devices that spec names, without opening them; one for "".
func Count(spec string) (int, error) {
	if spec == "" {
		return 1, nil
	}
	_, index, err := Parse(spec)
	return len(index), err
}

// Parse gives the kind and the indices that spec names, without opening anything.
func Parse(spec string) (kind string, index []int, err error) {
	kind, list, listed := strings.Cut(spec, ":")
	switch kind {
	case "cpu", "null":
		index, err = upTo(list, listed)
	case "cuda":
		index, err = indices(list, listed)
	default:
		err = errors.New("want cpu, cpu:N, cuda or cuda:I,J")
	}
	if err != nil {
		return "", nil, fmt.Errorf("device %q: %w", spec, err)
	}
	return kind, index, nil
}

// Host reports whether spec names devices whose memory is host memory. For "" it is true.
func Host(spec string) bool { return kindOf(spec) == "cpu" }

// IsGPU reports whether spec names GPUs.
func IsGPU(spec string) bool { return kindOf(spec) == "cuda" }

// Visible is the number of GPUs in CUDA_VISIBLE_DEVICES, which launchers set to give each process its own
// GPUs. told is false if the variable is not set or spec names no GPUs. As in the driver, the list ends
// at the first invalid entry.
func Visible(spec string) (n int, told bool) {
	list, told := os.LookupEnv("CUDA_VISIBLE_DEVICES")
	if !told || !IsGPU(spec) {
		return 0, false
	}
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" || strings.HasPrefix(entry, "-") {
			break
		}
		n++
	}
	return n, true
}

func kindOf(spec string) string {
	if spec == "" {
		return "cpu"
	}
	kind, _, _ := Parse(spec)
	return kind
}

// upTo returns 0..n-1 for the number n in s.
func upTo(s string, listed bool) ([]int, error) {
	n := 1
	if listed {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 || n > maxDevices {
			return nil, fmt.Errorf("%q is not a number of devices (1 to %d)", s, maxDevices)
		}
	}
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	return index, nil
}

// Shared returns an error if spec names a GPU more than once, and names that GPU.
func Shared(spec string) error {
	kind, index, err := Parse(spec)
	if err != nil {
		return err
	}
	seen := make(map[int]bool)
	for _, i := range index {
		if seen[i] {
			return fmt.Errorf("device %q: %s:%d is there twice", spec, kind, i)
		}
		seen[i] = true
	}
	return nil
}

// indices returns the numbers in s, in its order.
func indices(s string, listed bool) ([]int, error) {
	if !listed {
		return []int{0}, nil
	}
	var index []int
	for f := range strings.SplitSeq(s, ",") {
		i, err := strconv.Atoi(f)
		if err != nil || i < 0 || i >= maxDevices {
			return nil, fmt.Errorf("%q is not the index of a device (0 to %d)", f, maxDevices-1)
		}
		index = append(index, i)
	}
	return index, nil
}
