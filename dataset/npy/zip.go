package npy

import (
	"archive/zip"
	"fmt"
	"io"
	"slices"
	"strings"

	"sagann/internal/regular"
)

// maxRatio bounds the expansion of a compressed member. Deflate cannot exceed it.
const maxRatio = 1032

// Archive is an open .npz file.
type Archive struct {
	path    string
	size    int64 // of the file
	zip     *regular.Zip
	members map[string]*zip.File
}

// OpenZip opens the .npz file at path and reads its list of arrays.
func OpenZip(path string) (*Archive, error) {
	z, err := regular.OpenZip(path)
	if err != nil {
		return nil, err
	}
	a := &Archive{path: path, size: z.Size, zip: z, members: map[string]*zip.File{}}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if a.members[name] != nil {
			z.Close()
			return nil, fmt.Errorf("%s: two arrays are named %q", path, name)
		}
		a.members[name] = f
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.zip.Close() }

// Names lists the arrays, sorted, without the ending .npy.
func (a *Archive) Names() []string {
	names := make([]string, 0, len(a.members))
	for name := range a.members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// member opens the array of that name, after checking its sizes against that of the file.
func (a *Archive) member(name string) (r io.ReadCloser, size int64, where string, err error) {
	f := a.members[name]
	if f == nil {
		return nil, 0, "", fmt.Errorf("%s: no array %q; it has %s", a.path, name, strings.Join(a.Names(), ", "))
	}
	where = fmt.Sprintf("%s: %s", a.path, f.Name)
	packed, unpacked := f.CompressedSize64, f.UncompressedSize64
	if packed > uint64(a.size) || unpacked/maxRatio > packed || f.Method == zip.Store && unpacked != packed {
		return nil, 0, where, fmt.Errorf("%s: claims %d bytes, %d packed, in a file of %d", where, unpacked, packed, a.size)
	}
	if r, err = f.Open(); err != nil {
		return nil, 0, where, fmt.Errorf("%s: %w", where, err)
	}
	return r, int64(unpacked), where, nil
}

// Read returns the array of that name (without .npy).
func (a *Archive) Read(name string) (*Array, error) {
	r, err := a.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.All()
}

// Open opens the array of that name (without .npy) for reading in pieces. Reading the last
// piece fails if the member's checksum is wrong.
func (a *Archive) Open(name string) (*Reader, error) {
	r, size, where, err := a.member(name)
	if err != nil {
		return nil, err
	}
	return newReader(r, size, where)
}

// A pickle may be pickleRatio times larger than the archive, and pickleSlack beside.
const (
	pickleRatio = 64
	pickleSlack = 64 << 20
)

// Object returns the pickle of an array of Python objects, at most limit
// bytes. ok is false if the array of that name holds numbers. where
// names the array in errors.
func (a *Archive) Object(name string, limit int64) (file []byte, where string, ok bool, err error) {
	r, size, where, err := a.member(name)
	if err != nil {
		return nil, where, false, err
	}
	defer r.Close()
	h, err := readHeader(r)
	if err != nil {
		return nil, where, false, fmt.Errorf("%s: %w", where, err)
	}
	if h.descr != "|O" {
		return nil, where, false, nil
	}
	if most := pickleRatio*min(a.size, 1<<50) + pickleSlack; size-h.size > most {
		return nil, where, true, fmt.Errorf("%s: a pickle of %d MiB in a file of %d bytes: refused", where, (size-h.size)>>20, a.size)
	}
	if size-h.size > limit {
		return nil, where, true, fmt.Errorf("%s: a pickle of %d MiB; the most is %d MiB", where, (size-h.size)>>20, limit>>20)
	}
	if file, err = regular.ReadMember(r, size-h.size); err != nil {
		return nil, where, true, fmt.Errorf("%s: %w", where, err)
	}
	return file, where, true, nil
}

// WriteZip stores the arrays, by name without .npy, as the .npz file path,
// uncompressed as numpy.savez does, in the order of their names.
func WriteZip(path string, arrays map[string]*Array) error {
	names := make([]string, 0, len(arrays))
	for name := range arrays {
		names = append(names, name)
	}
	slices.Sort(names)
	return writeFile(path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, name := range names {
			m, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
			if err != nil {
				return err
			}
			if err := encodeAny(m, arrays[name].Shape, arrays[name].Data); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return z.Close()
	})
}
