package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sagann/chunk"
	"sagann/device"
)

// CanWrite is an error if no file could be put at path. It is asked before the work begins.
func CanWrite(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file", path)
	}
	space, err := TakeSpace(path, 0)
	return errors.Join(err, space.Close())
}

// TakeSpace takes so many bytes for the file at path, until the space is closed.
func TakeSpace(path string, bytes int64) (*device.Space, error) {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, err
	}
	space, err := device.TakeSpace(filepath.Dir(path), bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return space, nil
}

// WriteWhole puts at path what write gives, or leaves what was there.
func WriteWhole(path string, write func(w *bufio.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file", path)
	}
	f, err := chunk.TempFile(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	w := bufio.NewWriterSize(io.Writer(f), 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil { // also the first error of what was written before
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
