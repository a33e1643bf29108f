package safetensors

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"sagann/internal/regular"
)

// WriteFile writes a file atomically: path has either its old content or all of the
// new content, also when the process is killed or the machine loses
// power. It writes and syncs a temporary file in the same folder, renames it, and
// syncs the folder. A process that is killed in between leaves a file named
// .<base>.tmp-<number>, which nothing reads.
func WriteFile(path string, tensors []Tensor, meta map[string]string) (err error) {
	f, err := createTemp(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := Write(w, tensors, meta); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// CanWrite returns an error if WriteFile could not write path. It
// makes the temporary file and removes it again. Errors name path.
func CanWrite(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	f, err := createTemp(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// createTemp makes a new file beside path. Unlike os.CreateTemp it leaves the
// permissions to the umask: a checkpoint is as readable as any other output.
func createTemp(path string) (*os.File, error) {
	if err := regular.Replaceable(path); err != nil {
		return nil, err
	}
	dir, base := filepath.Split(path)
	for range 100 {
		name := filepath.Join(dir, fmt.Sprintf(".%s.tmp-%08x", base, rand.Uint32()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !os.IsExist(err) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "create temporary file beside", Path: path, Err: fs.ErrExist}
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		d.Close()
		return err
	}
	return d.Close()
}

// Open reads the header of a file; the caller closes it. Errors carry the path.
func Open(path string) (*File, error) {
	f, size, err := regular.OpenSized(path)
	if err != nil {
		return nil, err
	}
	file, err := Read(f, size)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	file.close = f
	return file, nil
}
