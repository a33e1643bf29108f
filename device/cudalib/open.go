//go:build cuda || nvrtc

package cudalib

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

static void *saga_dl_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static const char *saga_dl_error(void) { const char *e = dlerror(); return e ? e : "unknown error"; }
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"
)

// newest and oldest are the major versions of the toolkit that are tried.
const newest, oldest = 13, 11

// Lib is an open library. It is never closed.
type Lib struct {
	handle unsafe.Pointer
	Path   string // as it was found
}

// Open opens the library of that name ("cublas" is libcublas.so): of the toolkit of major version major, then of older
// ones, then of newer ones; major 0 is the newest. It looks where the system's loader does, then in CUDA_HOME and
// /usr/local/cuda. The error lists what was tried.
func Open(name string, major int) (*Lib, error) {
	var why []string
	for _, path := range candidates(name, major) {
		c := C.CString(path)
		h := C.saga_dl_open(c)
		C.free(unsafe.Pointer(c))
		if h != nil {
			return &Lib{h, path}, nil
		}
		why = append(why, C.GoString(C.saga_dl_error()))
	}
	return nil, fmt.Errorf("lib%s of the CUDA toolkit cannot be loaded; LD_LIBRARY_PATH or CUDA_HOME says where it is: %s", name, strings.Join(slices.Compact(why), "; "))
}

// candidates are the paths that Open tries, in this order.
func candidates(name string, major int) (list []string) {
	if major < oldest || major > newest {
		major = newest
	}
	var files []string
	for v := major; v >= oldest; v-- {
		files = append(files, fmt.Sprintf("lib%s.so.%d", name, v))
	}
	files = append(files, "lib"+name+".so")
	for v := major + 1; v <= newest; v++ {
		files = append(files, fmt.Sprintf("lib%s.so.%d", name, v))
	}
	list = slices.Clone(files)
	for _, home := range []string{os.Getenv("CUDA_HOME"), "/usr/local/cuda"} {
		for _, folder := range []string{"lib64", "lib"} {
			for _, f := range files {
				path := filepath.Join(home, folder, f)
				if _, err := os.Stat(path); home != "" && err == nil {
					list = append(list, path)
				}
			}
		}
	}
	return list
}

// Find is the address of a function. The error names it.
func (l *Lib) Find(name string) (unsafe.Pointer, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	if p := C.dlsym(l.handle, c); p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s has no %s", l.Path, name)
}
