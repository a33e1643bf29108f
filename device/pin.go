package device

// pinner is a device whose copies run at full speed, and beside kernels, only from and
// to host memory that it has pinned.
type pinner interface {
	pin(b []byte) (unpin func() error, err error)
}

// leastPinned is the size in bytes from which pinning pays.
const leastPinned = 1 << 20

// Pin prepares host memory that the caller has made for fast copies by d and, where the
// machine can, by all devices of its kind. The memory must stay until unpin was called,
// which must happen before d is closed and after its copies have run. Where pinning
// makes no difference unpin is nil, and so it is for what lies in a HostFile.
func Pin(d Device, b []byte) (unpin func() error, err error) {
	p, ok := unwrap(d).(pinner)
	if file, _ := fileOf(b); !ok || len(b) < leastPinned || file != nil {
		return nil, nil
	}
	return p.pin(b)
}
