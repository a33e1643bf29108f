package device

// pinner is a device that needs pinned host memory: only copies from and to pinned memory run at full
// speed and at the same time as kernels.
type pinner interface {
	pin(b []byte) (unpin func() error, err error)
}

// leastPinned is the size in bytes from which pinning pays.
const leastPinned = 1 << 20

// Pin pins the caller's host memory b for fast copies by d and, where the machine can, by all devices
// of its kind. The caller must call unpin after the copies have run and before d is closed, and
// must keep b until then. unpin is nil if pinning makes no difference, or b lies in a HostFile.
func Pin(d Device, b []byte) (unpin func() error, err error) {
	p, ok := unwrap(d).(pinner)
	if file, _ := fileOf(b); !ok || len(b) < leastPinned || file != nil {
		return nil, nil
	}
	return p.pin(b)
}

// HostLater is HostAlloc in two steps: what it returns may be used, and copied from and to, when pin has returned, as launches and other copies wait while a GPU pins memory. HostFree
// gives back what was not pinned, too.
func HostLater(d Device, bytes int64) (m HostMem, pin func() error, err error) {
	if x, ok := d.(interface {
		hostLater(bytes int64) (HostMem, func() error, error)
	}); ok {
		return x.hostLater(bytes)
	}
	m, err = d.HostAlloc(bytes)
	return m, func() error { return nil }, err
}
