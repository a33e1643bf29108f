//go:build cuda

package device

import (
	"errors"
	"fmt"
	"unsafe"
)

// queue returns q as this device's, if it is and the device takes work.
func (d *CUDA) queue(q Queue) (*cudaQueue, error) {
	if err := d.status.usable(); err != nil {
		return nil, err
	}
	if q, ok := q.(*cudaQueue); ok && q != nil && q.dev == d {
		return q, nil
	}
	return nil, errQueue
}

// submit runs f, which submits a copy or a launch to the driver, unless the device
// has failed; count counts the accepted task. An error that the driver returns at submission
// may come from this task or an earlier one, so it is treated as an asynchronous error.
func (d *CUDA) submit(q *cudaQueue, op Op, kernel string, bytes int64, count func(), f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return ErrClosed
	}
	count()
	if !d.status.sound() {
		return nil
	}
	err := d.tracer.around(d, q, d.tracer.f, Span{Op: op, Kernel: kernel, Bytes: bytes}, f)
	if err != nil {
		e := d.err(op, q, err).(*OpError)
		e.Kernel = kernel
		d.wrong(e)
	}
	return nil
}

// wrong records an error of the driver. During a capture it is the capture's error, otherwise the
// device has failed.
func (d *CUDA) wrong(err error) {
	if d.capture.on {
		d.capture.refused = errors.Join(d.capture.refused, err)
		return
	}
	d.status.fail(err)
}

// keepable returns an error if a copy from or to host cannot be captured: the
// memory must be there at every replay.
func (d *CUDA) keepable(host []byte) error {
	if d.capture.on && len(host) > 0 && !d.pinned(unsafe.Pointer(&host[0])) {
		return errors.New("host memory is not pinned")
	}
	return nil
}

func (d *CUDA) copied(op Op, bytes int64) func() {
	return func() { d.counts.copied(op, bytes) }
}

// CopyH2D copies src to dst. If src is not pinned, the driver copies it to a staging buffer of its
// own before the call returns. If src lies in a HostFile, it is read into a pinned buffer when the
// queue reaches the task.
func (d *CUDA) CopyH2D(q Queue, dst Mem, dstOff int64, src []byte) error {
	own, err := d.queue(q)
	if err == nil {
		if err = d.space.check(dst, dstOff, int64(len(src))); err != nil {
			err = fmt.Errorf("to: %w", err)
		}
	}
	if err == nil {
		err = d.submit(own, OpH2D, "", int64(len(src)), d.copied(OpH2D, int64(len(src))), func() error {
			if m, at := fileOf(src); m != nil {
				return d.copyFile(own, m, false, at, d.arena+cuPtr(dst.off+dstOff), int64(len(src)))
			}
			if err := d.keepable(src); err != nil {
				return err
			}
			return cuCopyIn(d.ctx, own.stream, d.arena+cuPtr(dst.off+dstOff), src)
		})
	}
	return d.err(OpH2D, q, err)
}

// CopyD2H copies src to dst. If dst is not pinned, it returns when the copy has run. If dst
// lies in a HostFile, the file is written when the queue reaches the task.
func (d *CUDA) CopyD2H(q Queue, dst []byte, src Mem, srcOff int64) error {
	own, err := d.queue(q)
	if err == nil {
		if err = d.space.check(src, srcOff, int64(len(dst))); err != nil {
			err = fmt.Errorf("from: %w", err)
		}
	}
	if err == nil {
		err = d.submit(own, OpD2H, "", int64(len(dst)), d.copied(OpD2H, int64(len(dst))), func() error {
			if m, at := fileOf(dst); m != nil {
				return d.copyFile(own, m, true, at, d.arena+cuPtr(src.off+srcOff), int64(len(dst)))
			}
			if err := d.keepable(dst); err != nil {
				return err
			}
			return cuCopyOut(d.ctx, own.stream, dst, d.arena+cuPtr(src.off+srcOff))
		})
	}
	return d.err(OpD2H, q, err)
}

// CopyD2D copies from another GPU or within this one. Copies between GPUs are direct where the machine
// can do that.
func (d *CUDA) CopyD2D(q Queue, dst Mem, dstOff int64, from Device, src Mem, srcOff, bytes int64) error {
	return d.err(OpD2D, q, d.copyD2D(q, dst, dstOff, from, src, srcOff, bytes))
}

func (d *CUDA) copyD2D(q Queue, dst Mem, dstOff int64, from Device, src Mem, srcOff, bytes int64) error {
	own, err := d.queue(q)
	if err != nil {
		return err
	}
	peer, ok := unwrap(from).(*CUDA)
	if !ok || peer == nil {
		return errors.New("from: not a CUDA device")
	}
	if err := d.space.check(dst, dstOff, bytes); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	if err := peer.space.check(src, srcOff, bytes); err != nil {
		return fmt.Errorf("from %v: %w", peer.info, err)
	}
	if peer != d {
		if peer.made.grow != nil || d.made.grow != nil {
			return fmt.Errorf("from %v: a GPU whose memory is taken as it is used cannot copy to another", peer.info)
		}
		if err := d.peer(peer); err != nil {
			return fmt.Errorf("from %v: %w", peer.info, err)
		}
	}
	return d.submit(own, OpD2D, "", bytes, d.copied(OpD2D, bytes), func() error {
		return cuCopyPeer(d.ctx, own.stream, d.arena+cuPtr(dst.off+dstOff), peer.ctx, peer.arena+cuPtr(src.off+srcOff), bytes)
	})
}

// peer opens access to another GPU's memory at the first call. The other GPU's Close then waits for
// this device.
func (d *CUDA) peer(p *CUDA) error {
	cudaMu.Lock()
	defer cudaMu.Unlock()
	if p.status.closed.Load() {
		return ErrClosed
	}
	if p.peers[d] {
		return nil
	}
	if p.ctx != d.ctx {
		if err := cuPeers(d.ctx, d.dev, p.ctx, p.dev); err != nil {
			return err
		}
	}
	p.peers[d] = true
	return nil
}

// Launch submits the batch of a GPUKernel.
func (d *CUDA) Launch(q Queue, k Kernel) error {
	own, err := d.queue(q)
	if err == nil {
		if g, ok := k.(GPUKernel); !ok {
			err = fmt.Errorf("a CUDA device cannot run a kernel of type %T", k)
		} else {
			var b Batch
			var wrong error
			if d.status.sound() {
				b, wrong = g.Batch(d)
			}
			count := func() { d.counts.launches.Add(1) }
			err = d.submit(own, OpLaunch, k.Name(), 0, count, func() error {
				if wrong != nil {
					return wrong
				}
				return d.launch(own, b)
			})
		}
	}
	if err == nil {
		return nil
	}
	e := d.err(OpLaunch, q, err).(*OpError)
	if k != nil {
		e.Kernel = k.Name()
	}
	return e
}

func (d *CUDA) launch(q *cudaQueue, b Batch) error {
	own, ok := b.(*cudaBatch)
	if !ok || own == nil || own.dev != d {
		return errors.New("batch is not this device's")
	}
	if own.gemm && q.blas == nil {
		if err := d.openBlas(q); err != nil {
			return err
		}
	}
	if own.aside && q.side == nil {
		var err error
		if q.side, err = cuNewSide(d.ctx); err != nil {
			return err
		}
	}
	if d.tracer.detail != nil {
		return d.oneByOne(q, own)
	}
	if at, err := cuSubmit(d.ctx, q.stream, q.blas, q.side, own.first, own.n); err != nil {
		return fmt.Errorf("command %d of %d: %w", at, own.n, err)
	}
	return nil
}

// oneByOne submits the commands of a batch with an event before and after each.
func (d *CUDA) oneByOne(q *cudaQueue, b *cudaBatch) error {
	list := unsafe.Slice(b.first, b.n)
	for i := range list {
		err := d.tracer.around(d, q, d.tracer.detail, Span{Op: OpLaunch, Kernel: b.names[i]}, func() error {
			_, err := cuSubmit(d.ctx, q.stream, q.blas, q.side, &list[i], 1)
			return err
		})
		if err != nil {
			return fmt.Errorf("command %d of %d: %w", i, b.n, err)
		}
	}
	return nil
}

// Record marks the end of q.
func (d *CUDA) Record(q Queue, e Event) error {
	own, err := d.queue(q)
	if err != nil {
		return d.err(OpRecord, q, err)
	}
	ev, ok := e.(*cudaEvent)
	if !ok || ev == nil || ev.dev != d {
		return d.err(OpRecord, q, errors.New("event is not this device's"))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return d.err(OpRecord, q, ErrClosed)
	}
	if d.status.sound() {
		if err := cuRecord(d.ctx, ev.event, own.stream); err != nil {
			d.wrong(d.err(OpRecord, q, err))
		}
	}
	ev.recorded.Add(1)
	return nil
}

// Wait holds q back. An event that was never recorded is an error: the driver would
// not wait at all.
func (d *CUDA) Wait(q Queue, e Event) error {
	own, err := d.queue(q)
	if err != nil {
		return d.err(OpWait, q, err)
	}
	ev, ok := e.(*cudaEvent)
	if !ok || ev == nil {
		return d.err(OpWait, q, errors.New("event is not a CUDA device's"))
	}
	if ev.Recorded() == 0 {
		return d.err(OpWait, q, ErrNotRecorded)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return d.err(OpWait, q, ErrClosed)
	}
	if d.status.sound() && ev.dev.status.open() == nil {
		if err := cuWait(d.ctx, own.stream, ev.event); err != nil {
			d.wrong(d.err(OpWait, q, err))
		}
	}
	return nil
}

// Await returns when the device has reached the place that e's latest Record marked. Its error is the
// first asynchronous one, as that of Sync.
func (d *CUDA) Await(e Event) error {
	ev, ok := e.(*cudaEvent)
	if !ok || ev == nil || ev.dev != d || ev.Recorded() == 0 {
		return d.err(OpSync, nil, ErrNotRecorded)
	}
	if err := d.status.usable(); err != nil {
		return d.err(OpSync, nil, err)
	}
	if err := cuAwait(d.ctx, ev.event); err != nil {
		d.status.fail(d.err(OpSync, nil, err))
	}
	if err := d.status.report(); err != nil {
		return err
	}
	return d.err(OpSync, nil, d.status.usable())
}
