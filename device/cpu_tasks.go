package device

import (
	"errors"
	"fmt"
)

// CopyH2D copies src to dst.
func (d *CPU) CopyH2D(q Queue, dst Mem, dstOff int64, src []byte) error {
	return d.err(OpH2D, q, d.copyH2D(q, dst, dstOff, src))
}

func (d *CPU) copyH2D(q Queue, dst Mem, dstOff int64, src []byte) error {
	own, err := d.queue(q)
	if err != nil {
		return err
	}
	if err := d.space.check(dst, dstOff, int64(len(src))); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	to := d.arena.b[dst.off+dstOff:][:len(src)]
	t := task{op: OpH2D, dst: to, src: src}
	t.file, t.at = fileOf(src)
	return own.copy(&t)
}

// CopyD2H copies src to dst.
func (d *CPU) CopyD2H(q Queue, dst []byte, src Mem, srcOff int64) error {
	return d.err(OpD2H, q, d.copyD2H(q, dst, src, srcOff))
}

func (d *CPU) copyD2H(q Queue, dst []byte, src Mem, srcOff int64) error {
	own, err := d.queue(q)
	if err != nil {
		return err
	}
	if err := d.space.check(src, srcOff, int64(len(dst))); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	from := d.arena.b[src.off+srcOff:][:len(dst)]
	t := task{op: OpD2H, dst: dst, src: from}
	t.file, t.at = fileOf(dst)
	return own.copy(&t)
}

// CopyD2D copies from another CPU device, or within this one.
func (d *CPU) CopyD2D(q Queue, dst Mem, dstOff int64, from Device, src Mem, srcOff, bytes int64) error {
	return d.err(OpD2D, q, d.copyD2D(q, dst, dstOff, from, src, srcOff, bytes))
}

func (d *CPU) copyD2D(q Queue, dst Mem, dstOff int64, from Device, src Mem, srcOff, bytes int64) error {
	own, err := d.queue(q)
	if err != nil {
		return err
	}
	peer, ok := unwrap(from).(*CPU)
	if !ok || peer == nil {
		return errors.New("from: not a CPU device")
	}
	if err := d.space.check(dst, dstOff, bytes); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	if err := peer.space.check(src, srcOff, bytes); err != nil {
		return fmt.Errorf("from %v: %w", peer.info, err)
	}
	t := task{op: OpD2D}
	if peer != d {
		if err := peer.pin(); err != nil {
			return fmt.Errorf("from %v: %w", peer.info, err)
		}
		t.from = peer
	}
	t.dst = d.arena.b[dst.off+dstOff:][:bytes]
	t.src = peer.arena.b[src.off+srcOff:][:bytes]
	err = own.copy(&t)
	if err != nil && t.from != nil {
		peer.unpin()
	}
	return err
}

// copy submits a copy and counts it.
func (q *queue) copy(t *task) error {
	if err := q.push(t); err != nil {
		return err
	}
	q.dev.counts.copied(t.op, t.bytes())
	return nil
}

// Launch runs a HostKernel.
func (d *CPU) Launch(q Queue, k Kernel) error {
	err := d.launch(q, k)
	if err == nil {
		return nil
	}
	e := d.err(OpLaunch, q, err).(*OpError)
	if k != nil {
		e.Kernel = k.Name()
	}
	return e
}

func (d *CPU) launch(q Queue, k Kernel) error {
	own, err := d.queue(q)
	if err != nil {
		return err
	}
	h, ok := k.(HostKernel)
	if !ok {
		return fmt.Errorf("a CPU device cannot run a kernel of type %T", k)
	}
	if err := own.push(&task{op: OpLaunch, kernel: h}); err != nil {
		return err
	}
	d.counts.launches.Add(1)
	return nil
}

// Record begins an epoch of e that ends when q gets there.
func (d *CPU) Record(q Queue, e Event) error {
	return d.err(OpRecord, q, d.record(q, e))
}

func (d *CPU) record(q Queue, e Event) error {
	own, err := d.queue(q)
	if err != nil {
		return err
	}
	ev, ok := e.(*event)
	if !ok || ev == nil || ev.owner != d.id {
		return errors.New("event is not this device's")
	}
	return ev.record(func(epoch uint64) error {
		return own.push(&task{op: OpRecord, event: ev, epoch: epoch})
	})
}

// Wait holds q back until the latest epoch of e has ended.
func (d *CPU) Wait(q Queue, e Event) error {
	return d.err(OpWait, q, d.wait(q, e))
}

func (d *CPU) wait(q Queue, e Event) error {
	own, err := d.queue(q)
	if err != nil {
		return err
	}
	ev, ok := e.(*event)
	if !ok || ev == nil {
		return errors.New("event is not a CPU device's")
	}
	epoch := ev.Recorded()
	if epoch == 0 {
		return ErrNotRecorded
	}
	return own.push(&task{op: OpWait, event: ev, epoch: epoch})
}
