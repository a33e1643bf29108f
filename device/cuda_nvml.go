//go:build cuda

package device

/*
#include <dlfcn.h>
#include <stddef.h>

// What is used of NVML, which only reads here. It comes with the driver; where it is not there, less is known. A result
// of 0 is success.
typedef struct { unsigned long long total, free, used; } saga_nvml_memory;
typedef struct { unsigned pid; unsigned long long bytes; unsigned a, b; } saga_nvml_user;
static struct {
	int (*init)(void);
	int (*driver)(char *, unsigned);
	int (*handle)(const char *, void **);
	int (*memory)(void *, saga_nvml_memory *);
	int (*power)(void *, unsigned *);
	int (*users)(void *, unsigned *, saga_nvml_user *);
	int (*graphics)(void *, unsigned *, saga_nvml_user *);
} nvml;

static int saga_nvml_open(void) {
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib) return 1;
	struct { const char *name; void **to; } all[] = {
		{"nvmlInit_v2", (void **)&nvml.init}, {"nvmlSystemGetDriverVersion", (void **)&nvml.driver},
		{"nvmlDeviceGetHandleByPciBusId_v2", (void **)&nvml.handle}, {"nvmlDeviceGetMemoryInfo", (void **)&nvml.memory},
		{"nvmlDeviceGetEnforcedPowerLimit", (void **)&nvml.power},
		{"nvmlDeviceGetComputeRunningProcesses_v3", (void **)&nvml.users},
		{"nvmlDeviceGetGraphicsRunningProcesses_v3", (void **)&nvml.graphics},
	};
	for (int i = 0; i < sizeof all / sizeof *all; i++)
		if (!(*all[i].to = dlsym(lib, all[i].name))) return 1;
	return nvml.init();
}

static int saga_nvml_driver(char *to, unsigned n) { return nvml.driver(to, n); }
static int saga_nvml_handle(const char *bus, void **h) { return nvml.handle(bus, h); }
static int saga_nvml_memory_of(void *h, saga_nvml_memory *m) { return nvml.memory(h, m); }
static int saga_nvml_power(void *h, unsigned *mw) { return nvml.power(h, mw); }
static int saga_nvml_users(void *h, unsigned *n, saga_nvml_user *list) {
	unsigned room = *n, more = room;
	int r = nvml.users(h, n, list);
	if (r) return r;
	more = room - *n;
	if (!nvml.graphics(h, &more, list + *n)) *n += more;
	return 0;
}
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"
)

// nvmlStart loads NVML once; false: it is not there.
var nvmlStart = sync.OnceValue(func() bool { return C.saga_nvml_open() == 0 })

// nvmlTell adds to c what NVML tells of the GPU at c.Bus: driver, power limit, free memory, users. false: it tells
// nothing, as of a part of a GPU, which has another total than the GPU. living is the bytes of this process's arenas.
func nvmlTell(c *Card, living int64) bool {
	if c.Bus == "" || !nvmlStart() {
		return false
	}
	var h unsafe.Pointer
	if C.saga_nvml_handle(cString(c.Bus), &h) != 0 {
		return false
	}
	var m C.saga_nvml_memory
	if C.saga_nvml_memory_of(h, &m) != 0 || int64(m.total) > c.Total+c.Total/10 {
		return false
	}
	c.Free = min(c.Total, int64(m.free))
	var text [96]C.char
	if C.saga_nvml_driver(&text[0], 96) == 0 {
		c.Driver = C.GoString(&text[0])
	}
	var mw C.uint
	if C.saga_nvml_power(h, &mw) == 0 {
		c.Watts = int(mw) / 1000
	}
	var users [64]C.saga_nvml_user
	n := C.uint(len(users))
	if C.saga_nvml_users(h, &n, &users[0]) == 0 {
		for _, u := range users[:min(int(n), len(users))] {
			if int(u.pid) == os.Getpid() { // its context serves what it opens next
				if own := int64(u.bytes) - living; own > 0 && own < c.Total {
					c.Free = min(c.Total, c.Free+own)
				}
				continue
			}
			x := User{PID: int(u.pid), Bytes: int64(u.bytes)}
			if x.Bytes < 0 || x.Bytes > c.Total { // NVML does not know
				x.Bytes = 0
			}
			if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", u.pid)); err == nil {
				x.Name = strings.TrimSpace(string(b))
			}
			c.Users = append(c.Users, x)
		}
	}
	return true
}
