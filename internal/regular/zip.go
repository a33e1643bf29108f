package regular

import (
	"archive/zip"
	"fmt"
	"io"
)

// Zip is an open zip archive.
type Zip struct {
	*zip.Reader
	io.Closer
	Size int64 // of the file
}

// An archive may hold zipRatio times its own size and zipSlack bytes beside. Matrices of few ones shrink to a
// hundredth; files that are made to fill the memory, to a thousandth.
const (
	zipRatio = 64
	zipSlack = 1 << 30
)

// OpenZip opens the zip archive at path. One that claims to hold far more than its size is refused.
func OpenZip(path string) (*Zip, error) {
	f, size, err := OpenSized(path)
	if err != nil {
		return nil, err
	}
	r, err := zip.NewReader(f, size)
	if err == nil {
		err = fits(r, size)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Zip{r, f, size}, nil
}

// fits returns an error if the members of an archive are too large for its size.
func fits(r *zip.Reader, size int64) error {
	most := uint64(min(size, 1<<50))*zipRatio + zipSlack
	all := uint64(0)
	for _, m := range r.File {
		if all += m.UncompressedSize64; m.UncompressedSize64 > most || all > most {
			return fmt.Errorf("its members expand to more than %d bytes, in a file of %d: refused", most, size)
		}
	}
	return nil
}

// ReadMember reads a member of an archive, of which size bytes are left. It fails if there are more or fewer, or if the
// checksum is wrong.
func ReadMember(r io.Reader, size int64) ([]byte, error) {
	b := make([]byte, max(size, 0))
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	switch n, err := io.ReadFull(r, make([]byte, 1)); { // at the end the checksum is compared
	case n > 0:
		return nil, fmt.Errorf("more than the %d bytes that it claims", size)
	case err != io.EOF:
		return nil, err
	}
	return b, nil
}
