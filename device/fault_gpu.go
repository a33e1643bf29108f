package device

// FaultyGPU is Faulty over a GPU: the methods that only GPUs have are passed on. Launches count
// and fail as on any device. Preparing a batch does not count: a kernel does it during its
// launch, with the wrapped device.
type FaultyGPU struct {
	*Faulty
	gpu GPU
}

// NewFaultGPU wraps inner, which must be used through the result alone.
func NewFaultGPU(inner GPU, f Fault) *FaultyGPU {
	return &FaultyGPU{NewFault(inner, f), inner}
}

// Compile fails or passes on.
func (d *FaultyGPU) Compile(source string, names []string) ([]Function, error) {
	if _, err := d.call(OpCompile, nil, nil); err != nil {
		return nil, err
	}
	return d.gpu.Compile(source, names)
}

// Address passes on.
func (d *FaultyGPU) Address(m Mem) (uint64, error) { return d.gpu.Address(m) }

// HostAddress passes on.
func (d *FaultyGPU) HostAddress(b []byte) uint64 { return d.gpu.HostAddress(b) }

// Prepare passes on.
func (d *FaultyGPU) Prepare(c []Command) (Batch, error) { return d.gpu.Prepare(c) }

// Release passes on.
func (d *FaultyGPU) Release(b Batch) { d.gpu.Release(b) }

// Detail passes on.
func (d *FaultyGPU) Detail(f func(Span)) { d.gpu.Detail(f) }

// FaultyCapturer is FaultyGPU over a Capturer. Captured tasks count when they are captured, and a
// replay counts as a launch.
type FaultyCapturer struct {
	*FaultyGPU
	capturer Capturer
}

// NewFaultCapturer wraps inner, which must be used through the result alone.
func NewFaultCapturer(inner Capturer, f Fault) *FaultyCapturer {
	return &FaultyCapturer{NewFaultGPU(inner, f), inner}
}

// Capture passes on: what f submits may fail.
func (d *FaultyCapturer) Capture(queues []Queue, f func() error) (Graph, error) {
	return d.capturer.Capture(queues, f)
}

// Update passes on, as Capture.
func (d *FaultyCapturer) Update(g Graph, f func() error) error { return d.capturer.Update(g, f) }

// Replay fails or passes on.
func (d *FaultyCapturer) Replay(g Graph) error {
	if skip, err := d.call(OpLaunch, nil, nil); skip || err != nil {
		return err
	}
	return d.capturer.Replay(g)
}
