package launch

import (
	"slices"
	"strings"
	"testing"

	"sagann/device"
	"sagann/device/cudatest"
)

const scaled = `
typedef unsigned int u32;
typedef unsigned long long u64;
extern "C" __global__ void __launch_bounds__(32) saga_scaled(const u32 *from,
		u64 n, u32 *to, u64 by) {
	for (u64 i = threadIdx.x; i < n; i += blockDim.x)
		to[i] += (u32)by * from[i];
}
`

// TestNames: arguments reach the parameters of their names in any order, memory is cleared before, and what does not
// fit the parameters is an error that says so.
func TestNames(t *testing.T) {
	gpu := cudatest.Open(t, 0, 1<<20)
	c := &Card{GPU: gpu}
	var err error
	if c.Queue, err = gpu.NewQueue("test"); err != nil {
		t.Fatal(err)
	}
	from, err := Put(c, []uint32{1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	to, err := Put(c, []uint32{9, 9, 9, 9, 9, 9, 9, 9})
	if err != nil {
		t.Fatal(err)
	}
	args := Args{"to": to, "by": uint64(7), "from": from, "n": uint64(5)}
	call := Call{Source: scaled, Name: "saga_scaled", Grid: 1, Block: 32, Args: args, Clear: []device.Mem{to.Slice(0, 24)}}
	if err := c.Launch(call); err != nil {
		t.Fatal(err)
	}
	got := make([]uint32, 8)
	if err := gpu.CopyD2H(c.Queue, device.Bytes(got), to, 0); err != nil {
		t.Fatal(err)
	}
	if err := gpu.Sync(); err != nil {
		t.Fatal(err)
	}
	if want := []uint32{7, 14, 21, 28, 35, 0, 9, 9}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, x := range []struct {
		more  Args
		error string
	}{
		{Args{"n": nil}, "n has no argument"},
		{Args{"m": uint64(1)}, "no parameter m"},
		{Args{"n": from}, "n is a number"},
		{Args{"n": At(1)}, "n is a number"},
		{Args{"to": uint64(1)}, "to is a pointer"},
		{Args{"by": 7}, "by: an argument is a int"},
	} {
		call.Args = args.With(x.more)
		if err := c.Launch(call); err == nil || !strings.Contains(err.Error(), x.error) {
			t.Errorf("%v: error %v, want %q", x.more, err, x.error)
		}
	}
	if err := c.Compile(scaled, "saga_other"); err == nil || !strings.Contains(err.Error(), "saga_other") {
		t.Errorf("a kernel that is not there: error %v", err)
	}
	if _, err := ParametersOf(`extern "C" __global__ void saga_none(u64 n, u64) {}`, []string{"saga_none"}); err == nil || !strings.Contains(err.Error(), "has no name") {
		t.Errorf("a parameter without a name: error %v", err)
	}
	if n := c.Taken(); n != 2*device.Align {
		t.Errorf("%d bytes taken", n)
	}
	if err := c.Drop(from); err != nil || c.Held() != 1 {
		t.Errorf("error %v, %d blocks held", err, c.Held())
	}
	if err := c.Release(0); err != nil || c.Held() != 0 || gpu.Counters().Used != 0 {
		t.Errorf("error %v, %d blocks held, %d bytes", err, c.Held(), gpu.Counters().Used)
	}
}
