package safetensors

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// File is an open file: the header in memory, the values still in the reader.
type File struct {
	// Meta is the "__metadata__" of the file, nil when it has none.
	Meta map[string]string

	r       io.ReaderAt
	close   io.Closer
	names   []string // sorted
	tensors map[string]Info
}

// Info describes one tensor of a file.
type Info struct {
	Name  string
	DType DType
	Shape []int // empty for a scalar
	Begin int64 // byte of the file where the values begin
	Bytes int64 // bytes of the values
}

// Read reads and checks the header of a file of size bytes. It keeps r, as
// [Load] reads values from it. The error names the tensor or the byte of the file
// that is wrong.
func Read(r io.ReaderAt, size int64) (*File, error) {
	if size < 8 {
		return nil, fmt.Errorf("safetensors: %d bytes cannot hold a header length", size)
	}
	var b [8]byte
	if err := readFull(r, b[:], 0); err != nil {
		return nil, fmt.Errorf("safetensors: header length: %w", err)
	}
	n := binary.LittleEndian.Uint64(b[:])
	if n > uint64(size-8) {
		return nil, fmt.Errorf("safetensors: byte 0: header of %d bytes in a file of %d", n, size)
	}
	if n > maxHeader {
		return nil, fmt.Errorf("safetensors: byte 0: header of %d bytes, at most %d are allowed", n, maxHeader)
	}
	header := make([]byte, n)
	if err := readFull(r, header, 8); err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	if !utf8.Valid(header) {
		return nil, fmt.Errorf("safetensors: byte 8: the header is not UTF-8")
	}
	f := &File{r: r, tensors: map[string]Info{}}
	if err := f.parse(header); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	base := 8 + int64(n)
	if err := f.place(base, size-base); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return f, nil
}

// place checks that the tensors tile the size bytes of values, and turns Begin
// from an offset into a byte of the file.
func (f *File) place(base, size int64) error {
	list := make([]Info, 0, len(f.tensors))
	for _, t := range f.tensors {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Bytes, b.Bytes))
	})
	var at int64 // invariant: the tensors so far tile [0, at) and at <= size
	for _, t := range list {
		switch {
		case t.Begin < at:
			return fmt.Errorf("tensor %.100q: begins at offset %d, inside the one before it, which ends at %d", t.Name, t.Begin, at)
		case t.Begin > at:
			return fmt.Errorf("tensor %.100q: begins at offset %d, a gap after %d", t.Name, t.Begin, at)
		case t.Bytes > size-at:
			return fmt.Errorf("tensor %.100q: bytes %d to %d of the values, but the file holds %d", t.Name, t.Begin, t.Begin+t.Bytes, size)
		}
		at += t.Bytes
		t.Begin += base
		f.tensors[t.Name] = t
		f.names = append(f.names, t.Name)
	}
	if at != size {
		return fmt.Errorf("byte %d: %d bytes belong to no tensor", base+at, size-at)
	}
	slices.Sort(f.names)
	return nil
}

// Close closes the file that [Open] opened; after [Read] it does nothing.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close.Close()
}

// Names returns the names of all tensors, sorted.
func (f *File) Names() []string { return slices.Clone(f.names) }

// Info describes the named tensor; ok is false when the file has none.
func (f *File) Info(name string) (info Info, ok bool) {
	info, ok = f.tensors[name]
	info.Shape = slices.Clone(info.Shape)
	return info, ok
}

// Load returns the values and the shape of a tensor. It is an error if the file
// has no such tensor, or has it in another type than T: values are not converted.
func Load[T Element](f *File, name string) (data []T, shape []int, err error) {
	t, err := lookup[T](f, name)
	if err != nil {
		return nil, nil, err
	}
	data = make([]T, t.Bytes/int64(t.DType.Size())) // Bytes was checked against the file
	if err := LoadInto(f, name, data); err != nil {
		return nil, nil, err
	}
	return data, slices.Clone(t.Shape), nil
}

// LoadInto reads the values of a tensor into dst, which must have the same length.
func LoadInto[T Element](f *File, name string, dst []T) error {
	t, err := lookup[T](f, name)
	if err != nil {
		return err
	}
	size := t.DType.Size()
	if t.Bytes != int64(len(dst))*int64(size) {
		return fmt.Errorf("safetensors: tensor %.100q has shape %v, not %d values", name, t.Shape, len(dst))
	}
	buf := make([]byte, min(1<<16, t.Bytes))
	for at := t.Begin; len(dst) > 0; at += int64(len(buf)) {
		k := min(len(buf)/size, len(dst))
		buf = buf[:k*size]
		if err := readFull(f.r, buf, at); err != nil {
			return fmt.Errorf("safetensors: tensor %.100q: %w", name, err)
		}
		if _, err := binary.Decode(buf, binary.LittleEndian, dst[:k]); err != nil {
			return fmt.Errorf("safetensors: tensor %.100q: %w", name, err)
		}
		dst = dst[k:]
	}
	return nil
}

// Values returns a reader of the bytes of a tensor, little-endian and row-major, of whatever type. A file without the tensor
// has none of them.
func (f *File) Values(name string) io.Reader {
	t := f.tensors[name]
	return io.NewSectionReader(f.r, t.Begin, t.Bytes)
}

// lookup finds a tensor and checks that its values are of type T.
func lookup[T Element](f *File, name string) (Info, error) {
	t, ok := f.tensors[name]
	if !ok {
		return t, fmt.Errorf("safetensors: no tensor %.100q", name)
	}
	if want, _, _ := dtypeOf([]T(nil)); t.DType != want {
		return t, fmt.Errorf("safetensors: tensor %.100q holds %s, not %s", name, t.DType, want)
	}
	return t, nil
}

// readFull fills b from byte at of r. A short file is io.ErrUnexpectedEOF.
func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil // io.EOF is allowed with a full read
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("byte %d: %w", at+int64(n), err)
}
