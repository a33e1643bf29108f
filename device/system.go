package device

// System is what a driver tells of the GPUs of this host, by index from 0, before any
// of them is opened: CUDASystem returns that of CUDA. GPUs that a process opens as
// devices have the same indices.
type System interface {
	// GPUs is their number.
	GPUs() int
	// Name is that of the hardware.
	Name(gpu int) (string, error)
	// Bus is the PCI address, such as 0000:17:00.0.
	Bus(gpu int) (string, error)
	// Peer says how copies go from one GPU to another.
	Peer(from, to int) (PeerAccess, error)
	// Memory is what the GPU has and what of it is free now, in bytes. It makes a
	// context for as long as it takes, whose memory does not count as free.
	Memory(gpu int) (total, free int64, err error)
}

// PeerAccess is the way from the memory of one GPU to that of another.
type PeerAccess uint8

// The ways between two GPUs.
const (
	PeerNone PeerAccess = iota // through host memory
	PeerBus                    // over the PCI tree
	PeerLink                   // over a link of their own, NVLink: one that carries atomic operations
)
