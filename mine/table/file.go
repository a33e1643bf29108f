package table

import (
	"fmt"
	"os"
	"sync"
)

// File is a file for what has no room in memory. It is made when something is written, and has no name: nothing is left of it when it is closed, or its
// process killed. Several goroutines may write.
type File struct {
	mu  sync.Mutex
	dir string
	at  *os.File
	end int64
}

// NewFile is a file in a folder.
func NewFile(dir string) *File { return &File{dir: dir} }

// Write writes numbers behind those that are there, and returns from which byte on.
func (f *File) Write(words []uint32) (at int64, err error) {
	at, write, err := f.Later(int64(len(words)))
	if err != nil {
		return 0, err
	}
	return at, write(words)
}

// Later is the place behind what is there for so many numbers, from a byte on, and what writes them.
func (f *File) Later(n int64) (at int64, write func(words []uint32) error, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at == nil {
		file, err := os.CreateTemp(f.dir, "sagann-table-")
		if err != nil {
			return 0, nil, fmt.Errorf("table: %w", err)
		}
		f.at = file
		if err := os.Remove(file.Name()); err != nil { // it is there until it is closed
			return 0, nil, fmt.Errorf("table: %w", err)
		}
	}
	at, file := f.end, f.at
	f.end += 4 * n
	return at, func(words []uint32) error {
		if _, err := file.WriteAt(bytesOf(words), at); err != nil {
			return fmt.Errorf("table: %w", err)
		}
		return nil
	}, nil
}

// read reads bytes from one on.
func (f *File) read(to []byte, at int64) error {
	if _, err := f.at.ReadAt(to, at); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	return nil
}

// Bytes is how many bytes were written.
func (f *File) Bytes() int64 { return f.end }

// Close closes the file.
func (f *File) Close() error {
	if f.at == nil {
		return nil
	}
	if err := f.at.Close(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	f.at = nil
	return nil
}
