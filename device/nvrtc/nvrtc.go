//go:build cuda || nvrtc

package nvrtc

/*
#include <stdlib.h>
#include <stddef.h>

// What is used of NVRTC, found in the library when it is first needed. A result of 0 is success.
typedef void *saga_program;
typedef struct {
	int (*version)(int *, int *);
	const char *(*text)(int);
	int (*create)(saga_program *, const char *, const char *, int, const char *const *, const char *const *);
	int (*destroy)(saga_program *);
	int (*compile)(saga_program, int, const char *const *);
	int (*log_size)(saga_program, size_t *);
	int (*log)(saga_program, char *);
	int (*size)(saga_program, size_t *);
	int (*code)(saga_program, char *);
} saga_nvrtc;

static saga_nvrtc nvrtc;
static void saga_nvrtc_set(int i, void *f) { ((void **)&nvrtc)[i] = f; }
static int saga_nvrtc_version(int *major, int *minor) { return nvrtc.version(major, minor); }
static const char *saga_nvrtc_text(int e) { return nvrtc.text(e); }
static int saga_nvrtc_create(saga_program *p, const char *source) { return nvrtc.create(p, source, "kernels.cu", 0, NULL, NULL); }
static int saga_nvrtc_destroy(saga_program p) { return nvrtc.destroy(&p); }
static int saga_nvrtc_compile(saga_program p, const char *arch, const char *std, int threads) {
	const char *options[] = {arch, std, "--split-compile=0"};
	return nvrtc.compile(p, threads ? 3 : 2, options);
}
static int saga_nvrtc_log_size(saga_program p, size_t *n) { return nvrtc.log_size(p, n); }
static int saga_nvrtc_log(saga_program p, char *to) { return nvrtc.log(p, to); }
static int saga_nvrtc_size(saga_program p, size_t *n) { return nvrtc.size(p, n); }
static int saga_nvrtc_code(saga_program p, char *to) { return nvrtc.code(p, to); }
*/
import "C"

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/sync/singleflight"
	"sagann/device/cudalib"
)

// functions are those of the C struct, in its order.
var functions = []string{"nvrtcVersion", "nvrtcGetErrorString", "nvrtcCreateProgram", "nvrtcDestroyProgram", "nvrtcCompileProgram",
	"nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcGetCUBINSize", "nvrtcGetCUBIN"}

// library is NVRTC, once it was loaded.
var library struct {
	once         sync.Once
	major, minor C.int
	err          error
}

// load loads NVRTC for a driver of major version driver; 0: any.
func load(driver int) error {
	l := &library
	l.once.Do(func() {
		var lib *cudalib.Lib
		if lib, l.err = cudalib.Open("nvrtc", driver); l.err != nil {
			return
		}
		for i, name := range functions {
			f, err := lib.Find(name)
			if err != nil {
				l.err = err
				return
			}
			C.saga_nvrtc_set(C.int(i), f)
		}
		l.err = result("version", C.saga_nvrtc_version(&l.major, &l.minor))
	})
	return l.err
}

func result(what string, r C.int) error {
	if r == 0 {
		return nil
	}
	return fmt.Errorf("NVRTC: %s: %s", what, C.GoString(C.saga_nvrtc_text(r)))
}

// Cubin compiles source to machine code of compute capability arch (90 for 9.0). driver is the major version of CUDA
// that the driver supports; 0: not known. The result is kept in the user's cache folder (see cache.go) and read from
// there by later calls and programs. Failing to read or to write there is no error. Errors of the compiler include its
// log. Concurrent calls with the same arguments compile once.
func Cubin(source string, arch, driver int) ([]byte, error) {
	code, err, _ := flights.Do(fmt.Sprintf("%d %s", arch, source), func() (any, error) { return translate(source, arch, driver) })
	if err != nil {
		return nil, err
	}
	return code.([]byte), nil
}

// flights are the compilations under way.
var flights singleflight.Group

func translate(source string, arch, driver int) ([]byte, error) {
	if err := load(driver); err != nil {
		return nil, err
	}
	target, std := "--gpu-architecture=sm_"+architecture(arch), "--std=c++17"
	name := keyOf(int(library.major), int(library.minor), target+" "+std, source)
	if code := kept(name); code != nil {
		return code, nil
	}
	code, err := compile(source, target, std, true)
	if err == nil {
		keep(name, code)
	}
	return code, err
}

// architecture is the compiler's name of compute capability arch, with what only this one has where texts use it.
func architecture(arch int) string {
	if arch == 90 {
		return "90a"
	}
	return strconv.Itoa(arch)
}

// Check compiles source for compute capability arch without making machine code, which takes most of the time of Cubin.
// Errors of the compiler include its log. That a text compiles is remembered where Cubin keeps code.
func Check(source string, arch int) error {
	if err := load(0); err != nil {
		return err
	}
	target, std := "--gpu-architecture=compute_"+architecture(arch), "--std=c++17"
	name := keyOf(int(library.major), int(library.minor), target+" "+std, source)
	if kept(name) != nil {
		return nil
	}
	_, err := compile(source, target, std, false)
	if err == nil {
		keep(name, []byte("compiles"))
	}
	return err
}

// splitSince is the first major version of NVRTC that is told to compile the functions of a text on all processors. It
// compiles one text at a time, so that without it one processor does all. The machine code is the same. NVRTC 11 does not
// know the option, some of 12 complain of it.
const splitSince = 13

// compile compiles source; machine says whether the target is a machine, so that there is code for it.
func compile(source, target, std string, machine bool) (code []byte, err error) {
	text, first, second := C.CString(source), C.CString(target), C.CString(std)
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(first))
	defer C.free(unsafe.Pointer(second))
	var p C.saga_program
	if err := result("program", C.saga_nvrtc_create(&p, text)); err != nil {
		return nil, err
	}
	defer C.saga_nvrtc_destroy(p)
	var n C.size_t
	threads := C.int(0)
	if machine && library.major >= splitSince {
		threads = 1
	}
	if err := result("compiling", C.saga_nvrtc_compile(p, first, second, threads)); err != nil {
		log := []byte{0}
		if C.saga_nvrtc_log_size(p, &n) == 0 && n > 0 {
			log = make([]byte, n)
			C.saga_nvrtc_log(p, (*C.char)(unsafe.Pointer(&log[0])))
		}
		return nil, fmt.Errorf("%w\n%s", err, log[:len(log)-1])
	}
	if !machine {
		return nil, nil
	}
	if err := result("size of the code", C.saga_nvrtc_size(p, &n)); err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, errors.New("NVRTC: no code")
	}
	code = make([]byte, n)
	return code, result("code", C.saga_nvrtc_code(p, (*C.char)(unsafe.Pointer(&code[0]))))
}
