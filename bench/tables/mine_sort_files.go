package tables

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
)

// keyFiles sorts keys through files in other ways than package agg, for comparison.
type keyFiles struct {
	ctx     context.Context
	dir     string
	written int64
}

// keyFile is keys in a file.
type keyFile struct {
	f *os.File
	w *bufio.Writer
	n int
}

func (k *keyFiles) create() (*keyFile, error) {
	f, err := os.CreateTemp(k.dir, "keys-")
	if err != nil {
		return nil, err
	}
	return &keyFile{f: f, w: bufio.NewWriterSize(f, 1<<16)}, nil
}

func (k *keyFiles) add(x *keyFile, key uint64) error {
	k.written += 8
	x.n++
	_, err := x.w.Write(binary.LittleEndian.AppendUint64(x.w.AvailableBuffer(), key))
	return err
}

// reader reads the keys from the first on.
func (x *keyFile) reader() (*bufio.Reader, error) {
	if err := x.w.Flush(); err != nil {
		return nil, err
	}
	_, err := x.f.Seek(0, io.SeekStart)
	return bufio.NewReaderSize(x.f, 1<<16), err
}

func (x *keyFile) remove() error { return errors.Join(x.f.Close(), os.Remove(x.f.Name())) }

// next is the next key; ok is false behind the last one.
func next(r *bufio.Reader) (key uint64, ok bool, err error) {
	var b [8]byte
	switch _, err := io.ReadFull(r, b[:]); {
	case err == io.EOF:
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	return binary.LittleEndian.Uint64(b[:]), true, nil
}

// naive sorts pieces of so many keys, and merges them two by two until one is left. It returns how many different keys there are.
func (k *keyFiles) naive(keys []uint64, piece int) (different int, err error) {
	var list []*keyFile
	defer func() {
		for _, x := range list {
			err = errors.Join(err, x.remove())
		}
	}()
	for chunk := range slices.Chunk(keys, piece) {
		part := slices.Clone(chunk)
		slices.Sort(part)
		x, err := k.create()
		if err != nil {
			return 0, err
		}
		list = append(list, x)
		for _, key := range part {
			if err := k.add(x, key); err != nil {
				return 0, err
			}
		}
	}
	for len(list) > 1 && err == nil {
		var x *keyFile
		if x, err = k.create(); err != nil {
			return 0, err
		}
		list = append(list, x)
		if err = k.merge(list[0], list[1], x); err == nil {
			err = errors.Join(list[0].remove(), list[1].remove())
			list = list[2:]
		}
	}
	if err != nil {
		return 0, err
	}
	r, err := list[0].reader()
	return k.different(r, err)
}

// merge merges two files.
func (k *keyFiles) merge(a, b, to *keyFile) error {
	ra, err := a.reader()
	if err != nil {
		return err
	}
	rb, err := b.reader()
	if err != nil {
		return err
	}
	x, more, err := next(ra)
	y, others, e := next(rb)
	for err = errors.Join(err, e); err == nil && (more || others); {
		if more && (!others || x <= y) {
			if err = k.add(to, x); err == nil {
				x, more, err = next(ra)
			}
		} else if err = k.add(to, y); err == nil {
			y, others, err = next(rb)
		}
	}
	return errors.Join(err, k.ctx.Err())
}

// different is how many different keys come.
func (k *keyFiles) different(r *bufio.Reader, err error) (n int, _ error) {
	if err != nil {
		return 0, err
	}
	last := uint64(0)
	for {
		key, ok, err := next(r)
		if !ok || err != nil {
			return n, err
		}
		if n == 0 || key != last {
			n++
		}
		last = key
	}
}

// divided sorts pieces of so many keys, divides each by splitters that a sample gives, and sorts what lies between two splitters, as xtr2sort does. It
// returns how many different keys there are.
func (k *keyFiles) divided(keys []uint64, piece int) (different int, err error) {
	parts := 2 * (len(keys) + piece - 1) / piece // half as many keys each: samples are not exact
	sample := make([]uint64, 0, 64*parts)
	for i := range cap(sample) {
		sample = append(sample, keys[i*(len(keys)/cap(sample)+1)%len(keys)])
	}
	slices.Sort(sample)
	var list []*keyFile
	defer func() {
		for _, x := range list {
			err = errors.Join(err, x.remove())
		}
	}()
	for range parts {
		x, err := k.create()
		if err != nil {
			return 0, err
		}
		list = append(list, x)
	}
	for chunk := range slices.Chunk(keys, piece) {
		part := slices.Clone(chunk)
		slices.Sort(part)
		at := 0
		for _, key := range part {
			for at+1 < parts && key >= sample[64*(at+1)] {
				at++
			}
			if err := k.add(list[at], key); err != nil {
				return 0, err
			}
		}
	}
	for _, x := range list {
		r, err := x.reader()
		if err != nil {
			return 0, err
		}
		all := make([]uint64, 0, x.n)
		for range x.n {
			key, _, err := next(r)
			if err != nil {
				return 0, err
			}
			all = append(all, key)
		}
		slices.Sort(all)
		different += len(slices.Compact(all))
	}
	return different, k.ctx.Err()
}
