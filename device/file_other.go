//go:build !linux

package device

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// errNoFiles is the error of NewHostFile on systems other than Linux.
var errNoFiles = fmt.Errorf("host memory in files needs Linux, this is %s; leave host memory without a bound: %w", runtime.GOOS, errors.ErrUnsupported)

func openNameless(string) (*os.File, error) { return nil, errNoFiles }

func takeSpace(*os.File, int64) error { return errNoFiles }

func mapFile(*os.File, int) ([]byte, error) { return nil, errNoFiles }

func unmapFile([]byte) error { return errNoFiles }

func dropPages([]byte) {}

// FreeSpace is how many bytes an ordinary user may still write in dir. Only Linux says it.
func FreeSpace(string) (int64, error) { return 0, errNoFiles }
