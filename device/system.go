package device

// System is what a driver knows of the GPUs of this host before any of them is opened. GPUs are
// numbered from 0, as in the names of devices ("cuda:0"). CUDASystem returns that of CUDA.
type System interface {
	// GPUs is the number of GPUs.
	GPUs() int
	// Name is the name of the hardware.
	Name(gpu int) (string, error)
	// Bus is the PCI address, such as 0000:17:00.0.
	Bus(gpu int) (string, error)
	// Peer says how copies go from one GPU to another.
	Peer(from, to int) (PeerAccess, error)
	// Memory is the bytes of the GPU's memory, and how many of them are free now. The call makes a
	// context on the GPU for a short time, whose own memory does not count as free.
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
