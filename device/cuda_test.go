//go:build cuda

package device_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"sagann/device"
	"sagann/device/devicetest"
)

const cudaSource = `
extern "C" __global__ void affine(unsigned *x, long long n, long long a, long long b) {
	for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
		x[i] = x[i] * (unsigned)a + (unsigned)b;
}
extern "C" __global__ void trap() { __trap(); }
`

// cudaKernels compiles once a device.
type cudaKernels struct {
	mu sync.Mutex
	of map[device.GPU][]device.Function
}

func (k *cudaKernels) get(t testing.TB, d device.GPU, i int) (device.Function, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[device.GPU][]device.Function{}
	}
	if k.of[d] == nil {
		f, err := d.Compile(cudaSource, []string{"affine", "trap"})
		if err != nil {
			return nil, err
		}
		k.of[d] = f
	}
	return k.of[d][i], nil
}

func (k *cudaKernels) launch(t testing.TB, i int, m device.Mem, a, b uint32) device.Kernel {
	return device.GPUFunc("test", func(d device.GPU) (device.Batch, error) {
		f, err := k.get(t, d, i)
		if err != nil {
			return nil, err
		}
		c := device.Call{Func: f, Grid: [3]uint32{64, 1, 1}, Block: 256}
		if i == 0 {
			at, err := d.Address(m)
			if err != nil {
				return nil, err
			}
			c.Args = []uint64{at, uint64(m.Len() / 4), uint64(a), uint64(b)}
		}
		return d.Prepare([]device.Command{{Call: &c}})
	})
}

func openCUDA(t *testing.T) device.Device {
	d, err := device.OpenCUDA(0, 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCUDA(t *testing.T) {
	k := &cudaKernels{}
	devicetest.RunKernels(t, openCUDA, devicetest.Kernels{
		Affine: func(m device.Mem, a, b uint32) device.Kernel { return k.launch(t, 0, m, a, b) },
		Fail: func(cause error) device.Kernel {
			return device.GPUFunc("fail", func(device.GPU) (device.Batch, error) { return nil, cause })
		},
	})
}

// TestCUDATrap has a kernel break its context, in a process of its own because
// every device of the process shares it.
func TestCUDATrap(t *testing.T) {
	if os.Getenv("SAGANN_TRAP") == "" {
		c := exec.Command(os.Args[0], "-test.run", "^TestCUDATrap$", "-test.v")
		c.Env = append(os.Environ(), "SAGANN_TRAP=1")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	d := openCUDA(t)
	q, err := d.NewQueue("compute")
	if err != nil {
		t.Fatal(err)
	}
	q.SetTag(3)
	if err := d.Launch(q, (&cudaKernels{}).launch(t, 1, device.Mem{}, 0, 0)); err != nil {
		t.Fatal(err)
	}
	err = d.Sync()
	var cuda *device.CUDAError
	if !errors.As(err, &cuda) || !strings.HasPrefix(cuda.Name, "CUDA_ERROR_") || !strings.Contains(err.Error(), "compute") {
		t.Fatalf("error %v, want a CUDA error that names the queue", err)
	}
	if err := d.Sync(); !errors.Is(err, device.ErrFailed) {
		t.Fatalf("second Sync: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func TestCUDAGemm(t *testing.T) {
	d := openCUDA(t).(device.GPU)
	defer d.Close()
	q, err := d.NewQueue("q")
	if err != nil {
		t.Fatal(err)
	}
	const m, n, k, ld = 3, 2, 4, 5
	buf, err := d.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Free(buf)
	a, b := make([]float32, 64), make([]float32, 64)
	for i := range a {
		a[i], b[i] = float32(i%7)-3, float32(i%5)-2
	}
	at, err := d.Address(buf)
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(x []float32) []byte { return floatBytes(x) }
	for _, ta := range []bool{false, true} {
		for _, tb := range []bool{false, true} {
			g := device.Gemm{A: at, B: at + 256, C: at + 512, M: m, N: n, K: k, LDA: ld, LDB: ld, LDC: ld, TransA: ta, TransB: tb, Add: true}
			batch, err := d.Prepare([]device.Command{{Clear: &device.Clear{Addr: at + 512, Bytes: 256}}, {Gemm: &g}, {Gemm: &g}})
			if err != nil {
				t.Fatal(err)
			}
			c := make([]float32, 64)
			err = errors.Join(d.CopyH2D(q, buf, 0, bytes(a)), d.CopyH2D(q, buf, 256, bytes(b)),
				d.Launch(q, device.GPUFunc("gemm", func(device.GPU) (device.Batch, error) { return batch, nil })),
				d.CopyD2H(q, bytes(c), buf, 512), d.Sync())
			if err != nil {
				t.Fatal(err)
			}
			for i := range m {
				for j := range n {
					var want float32
					for x := range k {
						u, v := a[i*ld+x], b[x*ld+j]
						if ta {
							u = a[x*ld+i]
						}
						if tb {
							v = b[j*ld+x]
						}
						want += 2 * u * v
					}
					if got := c[i*ld+j]; got != want {
						t.Errorf("transposed %v %v: c[%d,%d] = %v, want %v", ta, tb, i, j, got, want)
					}
				}
			}
		}
	}
}

func floatBytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
