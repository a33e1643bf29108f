//go:build cuda

package device_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"os"
	"testing"

	"sagann/device"
)

// TestNCCLAlone: a GPU that has joined nobody but itself sends itself two messages at once. SAGANN_NCCL names the library.
func TestNCCLAlone(t *testing.T) {
	version, err := device.OpenNCCL(cmp.Or(os.Getenv("SAGANN_NCCL"), "libnccl.so.2"))
	if err != nil {
		t.Skip(err)
	}
	t.Log("NCCL", version)
	d := openCUDA(t)
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	gpu := d.(device.Messenger)
	q, err := gpu.NewQueue("net")
	if err != nil {
		t.Fatal(err)
	}
	const n = 3<<20 + 5
	m, err := gpu.Alloc(4 * n)
	if err != nil {
		t.Fatal(err)
	}
	list := []device.Message{{Send: true, Mem: m, Bytes: n}, {Mem: m, Off: 2 * n, Bytes: n}, {Send: true, Mem: m, Off: n, Bytes: n}, {Mem: m, Off: 3 * n, Bytes: n}}
	if err := gpu.Exchange(q, list); err == nil {
		t.Error("a device that has not joined others exchanges messages")
	}
	id, err := device.NCCLID()
	if err != nil {
		t.Fatal(err)
	}
	if err := device.JoinNCCL([]device.Device{d}, id, 0, 1); err != nil {
		t.Fatal(err)
	}
	from, to := make([]byte, 2*n), make([]byte, 2*n)
	for i := range from {
		from[i] = byte(rand.Int())
	}
	for _, do := range []func() error{
		func() error { return gpu.CopyH2D(q, m, 0, from) },
		func() error { return gpu.Exchange(q, list) },
		func() error { return gpu.CopyD2H(q, to, m, 2*n) },
		gpu.Sync,
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(from, to) {
		t.Error("other bytes have arrived")
	}
	if err := gpu.Exchange(q, []device.Message{{Send: true, Mem: m, Off: 4*n - 1, Bytes: 2}}); err == nil {
		t.Error("a message beyond the block is sent")
	}
	if err := gpu.Free(m); err != nil {
		t.Error(err)
	}
}
