package chunk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"sagann/internal/regular"
)

// TempFile makes a new file beside path, which is written before it takes the name path. Its name begins with
// TempName. Who may read it is left to the umask, as for every other file.
func TempFile(path string) (*os.File, error) {
	if err := regular.Replaceable(path); err != nil {
		return nil, err
	}
	return temporary(path, func(name string) (*os.File, error) {
		return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	})
}

// TempFolder is TempFile for a folder. It returns its name.
func TempFolder(path string) (string, error) {
	return temporary(path, func(name string) (string, error) { return name, os.Mkdir(name, 0o777) })
}

// TempName is how the names of files and folders begin that this process makes by TempFile and TempFolder for path.
func TempName(path string) string {
	return fmt.Sprintf(".%s.tmp-%d-", filepath.Base(path), os.Getpid())
}

// temporary calls create with names until one is new.
func temporary[T any](path string, create func(name string) (T, error)) (T, error) {
	dir := filepath.Dir(filepath.Clean(path))
	for range 100 {
		x, err := create(filepath.Join(dir, fmt.Sprintf("%s%08x", TempName(path), rand.Uint32())))
		if !errors.Is(err, fs.ErrExist) {
			return x, err
		}
	}
	var none T
	return none, &fs.PathError{Op: "create temporary file beside", Path: path, Err: fs.ErrExist}
}
