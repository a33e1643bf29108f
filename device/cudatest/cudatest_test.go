package cudatest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"sagann/device"
)

const text = `
extern "C" __global__ void __launch_bounds__(64) count(unsigned *p) { atomicAdd(p, 1u); }
extern "C" __global__ void __launch_bounds__(64) beyond(unsigned *p) { p[1 << 20] = 1; }
extern "C" __global__ void __launch_bounds__(64) unmet(unsigned *p) { if (threadIdx.x < 40) __syncthreads(); }
`

// TestLaunches: launches of one program go on in the memory that those before left, and what a
// kernel does wrong is an error that names it.
func TestLaunches(t *testing.T) {
	for _, c := range []struct{ kernel, problem string }{
		{"count", ""},
		{"beyond", "beyond: signal: segmentation fault"},
		{"unmet", "unmet: exit status 3: block 0, thread 40: a thread ends while others wait for it"},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			must := Must(t)
			d := Open(t, 0, 1<<16)
			q, m, base := Room(t, d, 4096)
			h, err := d.HostAlloc(4096)
			must(err)
			clear(h.Bytes())
			must(d.CopyH2D(q, m, 0, h.Bytes()))
			f, err := d.Compile(text, []string{"count", c.kernel})
			must(err)
			for i := range f {
				call := &device.Call{Func: f[i], Grid: [3]uint32{2, 1, 1}, Block: 64, Args: []uint64{base}}
				must(d.Launch(q, device.GPUFunc(c.kernel, func(g device.GPU) (device.Batch, error) { return g.Prepare([]device.Command{{Call: call}}) })))
			}
			must(d.CopyD2H(q, h.Bytes(), m, 0))
			switch err := d.Sync(); {
			case c.problem == "" && err == nil:
				if n := binary.LittleEndian.Uint32(h.Bytes()); n != 256 {
					t.Errorf("%d threads counted, want 256", n)
				}
			case c.problem == "" || err == nil || !strings.Contains(err.Error(), c.problem):
				t.Errorf("error %v, want %q", err, c.problem)
			}
			must(d.HostFree(h))
			must(d.Free(m))
		})
	}
}

// TestOccupied: where a program has something of its own at the place of host memory, another
// start of it runs the launch.
func TestOccupied(t *testing.T) {
	if b, err := os.ReadFile("/proc/sys/kernel/randomize_va_space"); err != nil || b[0] == '0' {
		t.Skip("programs always lie at the same place here")
	}
	must := Must(t)
	e := Open(t, 0, 1<<16).(*emulated)
	f, err := e.Compile(text, []string{"count"})
	must(err)
	arena := make([]byte, 4096)
	c := &device.Call{Func: f[0], Grid: [3]uint32{1, 1, 1}, Block: 64, Args: []uint64{e.base}}
	must(e.call(arena, c, nil))
	path := f[0].(*emulatedFunc).program.path
	s := e.servers[path]
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", s.command.Process.Pid))
	must(err)
	var at uint64
	for line := range strings.Lines(string(maps)) {
		if at == 0 && strings.Contains(line, path) {
			_, err := fmt.Sscanf(line, "%x-", &at)
			must(err)
		}
	}
	must(e.call(arena, c, []memory{{at, make([]byte, 4096)}}))
	if at == 0 || e.servers[path] == s {
		t.Error("the program that lies there ran the launch")
	}
	if n := binary.LittleEndian.Uint32(arena); n != 128 {
		t.Errorf("%d threads counted, want 128", n)
	}
	if err := e.call(arena, c, []memory{{1 << 63, make([]byte, 4096)}}); !errors.Is(err, errOccupied) {
		t.Errorf("an address that no program has: %v, want %v", err, errOccupied)
	}
}
