//go:build cuda

package device

import (
	"fmt"
	"runtime"
	"unsafe"
)

func (d *CUDA) pin(b []byte) (unpin func() error, err error) {
	if err := d.status.usable(); err != nil {
		return nil, err
	}
	var keep runtime.Pinner // the driver keeps the address
	first := unsafe.SliceData(b)
	keep.Pin(first)
	if err := cuPin(d.ctx, b); err != nil {
		keep.Unpin()
		return nil, fmt.Errorf("%v: pinning %d bytes of host memory: %w", d.info, len(b), err)
	}
	return func() error {
		defer keep.Unpin()
		return cuUnpin(d.ctx, first)
	}, nil
}
