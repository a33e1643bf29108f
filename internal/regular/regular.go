package regular

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a regular file, or a link to one.
func Open(path string) (*os.File, error) {
	f, _, err := OpenSized(path)
	return f, err
}

// OpenSized is Open, and gives the size of the file.
func OpenSized(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err == nil { // another file may have the name by now
		err = check(path, info)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Append opens a file for appending, and makes it if there is none.
func Append(path string) (*os.File, error) {
	if err := Replaceable(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
}

// Replaceable is an error if path is a device, a pipe or a socket, which a new file that takes its name would remove.
func Replaceable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return check(path, info)
	}
	return nil
}

func check(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	what := "it is a device"
	switch mode := info.Mode(); {
	case mode.IsDir():
		what = "it is a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "it is a pipe (FIFO)"
	case mode&fs.ModeSocket != 0:
		what = "it is a socket"
	}
	return fmt.Errorf("%s: not a regular file: %s", path, what)
}

// ReadFile reads a regular file of at most `most` bytes.
func ReadFile(path string, most int64) ([]byte, error) {
	f, size, err := OpenSized(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > most {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", path, size, most)
	}
	b := make([]byte, size, size+1) // the one more finds its end
	n, err := io.ReadFull(f, b[:size+1])
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return b[:n], nil
	case nil: // it has grown, or is one of those of the kernel that say no size
		rest, err := io.ReadAll(io.LimitReader(f, most-size))
		if b = append(b[:size+1], rest...); int64(len(b)) > most {
			return nil, fmt.Errorf("%s: more than %d bytes, which are the most that are read", path, most)
		}
		return b, err
	}
	return nil, err
}
