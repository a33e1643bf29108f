package cudatest

import (
	"encoding/binary"
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
