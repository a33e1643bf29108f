//go:build amd64 && !noasm

package simd

import "runtime"

func getMXCSR() uint32

func setMXCSR(x uint32)

// Fence ends what this thread writes past the caches: other threads see it before anything that is written later.
func Fence()

// Flush to zero, and take subnormal operands for zero.
const flushBits = 1<<15 | 1<<6

// FlushSubnormals makes arithmetic on this goroutine treat subnormal numbers (below
// 1.2e-38) as zero until the returned function is called, on the same goroutine. An
// operation on a subnormal number takes a hundred times as long as an ordinary one, and saturated gates
// and softmaxes make many of them. Copies are not affected. In between the goroutine is locked to
// its thread.
func FlushSubnormals() (restore func()) {
	runtime.LockOSThread()
	old := getMXCSR()
	setMXCSR(old | flushBits)
	return func() {
		setMXCSR(old)
		runtime.UnlockOSThread()
	}
}
