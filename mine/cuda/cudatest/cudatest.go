// Package cudatest runs the text of CUDA kernels on the CPU, for tests: a C++ compiler
// translates it, and a program of its own runs it thread by thread (threads.h).
package cudatest

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // threads.h
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"sagann/device"
)

//go:embed threads.h
var threads []byte

// emulated is a GPU whose kernels run so.
type emulated struct {
	device.Device
	base   uint64
	folder string
	queue  device.Queue
}

// pinned is the host memory of all emulated GPUs: each reads that of the others, too.
// Kernels see it as it was at the first launch after it was taken; rows do not change, and
// what copies write later is not for kernels.
var (
	pinnedMu sync.Mutex
	pinned   = map[*byte]*hostBlock{}
)

type hostBlock struct {
	now  []byte
	then []byte // nil: no kernel has run
}

// builds are the programs by the hash of their source.
var (
	buildMu  sync.Mutex
	buildDir string
	builds   = map[[32]byte]string{}
)

// Open opens an emulated GPU of so many bytes, or skips the test where there is no
// compiler. It is closed when the test ends.
func Open(t testing.TB, index int, budget int64) device.GPU {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	d, err := device.NewCPU(index, budget, device.Poison())
	if err != nil {
		t.Fatal(err)
	}
	buildMu.Lock()
	defer buildMu.Unlock()
	if buildDir == "" {
		if buildDir, err = os.MkdirTemp("", "cudatest"); err != nil {
			t.Fatal(err)
		}
		header := filepath.Join(buildDir, "threads.h")
		if err := os.WriteFile(header, threads, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := translate("-x", "c++-header", header); err != nil { // read once: every program begins with it
			t.Fatal(err)
		}
	}
	e := &emulated{Device: d, base: uint64(index+1) << 36, folder: buildDir}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// translate calls the compiler, with the same settings for the header and for programs.
func translate(args ...string) error {
	out, err := exec.Command("g++", append([]string{"-std=c++17", "-O1", "-U_FORTIFY_SOURCE", "-w"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// Must returns a function that ends the test at an error.
func Must(t testing.TB) func(error) {
	return func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
}

// Room takes so many bytes of d: a queue, the memory, and its address there.
func Room(t testing.TB, d device.GPU, bytes int64) (device.Queue, device.Mem, uint64) {
	t.Helper()
	must := Must(t)
	q, err := d.NewQueue("q")
	must(err)
	m, err := d.Alloc(bytes)
	must(err)
	base, err := d.Address(m)
	must(err)
	return q, m, base
}

// Remove removes the programs that tests have made; TestMain calls it.
func Remove() {
	buildMu.Lock()
	defer buildMu.Unlock()
	if buildDir != "" {
		os.RemoveAll(buildDir)
	}
	buildDir, builds = "", map[[32]byte]string{}
}

// Info says that it is a GPU of compute capability 9.
func (e *emulated) Info() device.Info {
	i := e.Device.Info()
	i.Kind, i.Name, i.Processors = "cuda", "emulated, compute capability 9.0, bus", 1
	return i
}

// NewQueue is always the same queue: a kernel is given the whole arena, so that no copy may
// run beside it.
func (e *emulated) NewQueue(name string) (q device.Queue, err error) {
	if e.queue == nil {
		e.queue, err = e.Device.NewQueue(name)
	}
	return e.queue, err
}

// HostAlloc keeps the memory in mind: kernels may read it.
func (e *emulated) HostAlloc(bytes int64) (device.HostMem, error) {
	h, err := e.Device.HostAlloc(bytes)
	if err == nil && bytes > 0 {
		pinnedMu.Lock()
		pinned[&h.Bytes()[0]] = &hostBlock{now: h.Bytes()}
		pinnedMu.Unlock()
	}
	return h, err
}

// HostFree forgets it.
func (e *emulated) HostFree(h device.HostMem) error {
	pinnedMu.Lock()
	if len(h.Bytes()) > 0 {
		delete(pinned, &h.Bytes()[0])
	}
	pinnedMu.Unlock()
	return e.Device.HostFree(h)
}

// Address is a place that no program has anything at.
func (e *emulated) Address(m device.Mem) (uint64, error) { return e.base + uint64(m.Off()), nil }

// Detail does nothing.
func (e *emulated) Detail(func(device.Span)) {}

type emulatedFunc struct{ program, name string }

func (f *emulatedFunc) Name() string { return f.name }

type emulatedBatch []device.Command

func (b emulatedBatch) Commands() int { return len(b) }

// Prepare keeps the commands.
func (e *emulated) Prepare(c []device.Command) (device.Batch, error) { return emulatedBatch(c), nil }

// Release has nothing to free.
func (e *emulated) Release(device.Batch) {}

var kernelHead = regexp.MustCompile(`extern "C" __global__ void __launch_bounds__\([^)]*\) (\w+)\(([^)]*)\)`)

// Compile makes a program of the kernels.
func (e *emulated) Compile(source string, names []string) ([]device.Function, error) {
	buildMu.Lock()
	defer buildMu.Unlock()
	sum := sha256.Sum256([]byte(source))
	if builds[sum] == "" {
		var b strings.Builder
		b.WriteString("#include \"threads.h\"\n")
		b.WriteString(strings.ReplaceAll(source, "extern __shared__ u32 shared[];", "u32 *shared = sharedOf();"))
		b.WriteString("\nstatic u64 arg[32];\nint main(int n, char **v) {\n")
		for _, m := range kernelHead.FindAllStringSubmatch(source, -1) {
			var args []string
			for i, p := range strings.Split(m[2], ",") {
				p = strings.Join(strings.Fields(p), " ")
				kind := p[:strings.LastIndexAny(p, " *")+1]
				args = append(args, fmt.Sprintf("(%s)arg[%d]", kind, i))
			}
			fmt.Fprintf(&b, "if (!strcmp(v[1], \"%s\")) entry = [] { %[1]s(%s); };\n", m[1], strings.Join(args, ", "))
		}
		b.WriteString("for (int i = 5; i < n; i++) arg[i-5] = strtoull(v[i], 0, 10);\nsize_t bytes, rest;\nvoid *p = readRange(&bytes);\n" +
			"uint64_t more; readAll(&more, 8); while (more--) readRange(&rest);\nrunAll(atoi(v[2]), atoi(v[3]), atoi(v[4]));\n" +
			"for (size_t at = 0; at < bytes;) { ssize_t k = write(1, (char *)p + at, bytes - at); if (k <= 0) return 4; at += k; }\nreturn 0; }\n")
		name := filepath.Join(e.folder, fmt.Sprintf("%x", sum[:8]))
		if err := os.WriteFile(name+".cpp", []byte(b.String()), 0o666); err != nil {
			return nil, err
		}
		if err := translate("-static", "-o", name, name+".cpp"); err != nil {
			return nil, err
		}
		builds[sum] = name
	}
	var out []device.Function
	for _, n := range names {
		out = append(out, &emulatedFunc{builds[sum], n})
	}
	return out, nil
}

// Launch runs a batch.
func (e *emulated) Launch(q device.Queue, k device.Kernel) error {
	b, err := k.(device.GPUKernel).Batch(e)
	if err != nil {
		return err
	}
	return e.Device.Launch(q, device.HostFunc(k.Name(), func(arena []byte) error {
		for _, c := range b.(emulatedBatch) {
			if err := e.command(arena, c); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (e *emulated) command(arena []byte, c device.Command) error {
	if c.Clear != nil {
		at := c.Clear.Addr - e.base
		clear(arena[at : at+uint64(c.Clear.Bytes)])
		return nil
	}
	if c.Gemm != nil {
		product(arena, e.base, c.Gemm)
		return nil
	}
	f := c.Call.Func.(*emulatedFunc)
	args := []string{f.name, fmt.Sprint(c.Call.Grid[0]), fmt.Sprint(c.Call.Block), fmt.Sprint(c.Call.Shared)}
	for _, a := range c.Call.Args {
		args = append(args, fmt.Sprint(a))
	}
	var in, problems bytes.Buffer
	send := func(at uint64, b []byte) {
		in.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, at), uint64(len(b))))
		in.Write(b)
	}
	send(e.base, arena)
	pinnedMu.Lock()
	in.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(pinned))))
	for p, h := range pinned {
		if h.then == nil {
			h.then = bytes.Clone(h.now)
		}
		send(uint64(uintptr(unsafe.Pointer(p))), h.then)
	}
	pinnedMu.Unlock()
	run := exec.Command(f.program, args...)
	run.Stdin, run.Stderr = &in, &problems
	out, err := run.Output()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", f.name, err, problems.Bytes())
	}
	copy(arena, out)
	return nil
}

// product is a dense product, each sum in float64.
func product(arena []byte, base uint64, g *device.Gemm) {
	at := func(p uint64, i int) *float32 { return (*float32)(unsafe.Pointer(&arena[p-base+4*uint64(i)])) }
	for i := range g.M {
		for j := range g.N {
			sum := 0.0
			for k := range g.K {
				a, b := i*g.LDA+k, k*g.LDB+j
				if g.TransA {
					a = k*g.LDA + i
				}
				if g.TransB {
					b = j*g.LDB + k
				}
				sum += float64(*at(g.A, a)) * float64(*at(g.B, b))
			}
			if to := at(g.C, i*g.LDC+j); g.Add {
				*to += float32(sum)
			} else {
				*to = float32(sum)
			}
		}
	}
}
