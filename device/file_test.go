package device_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"sagann/device"
)

// newFile makes a HostFile; on systems that have none it skips the test.
func newFile(t *testing.T, dir string, n int64) *device.HostFile {
	t.Helper()
	f, err := device.NewHostFile(dir, n)
	if errors.Is(err, errors.ErrUnsupported) || runtime.GOOS != "linux" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A file has no name, takes its space at once, and gives all of it back.
func TestHostFile(t *testing.T) {
	dir := t.TempDir()
	before, size := device.HostFiles()
	f := newFile(t, dir, 8<<20)
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("the folder holds %v (%v)", list, err)
	}
	if n, bytes := device.HostFiles(); n != before+1 || bytes != size+8<<20 {
		t.Errorf("%d files of %d bytes", n-before, bytes-size)
	}
	for i, x := range f.Bytes() {
		if x != 0 {
			t.Fatalf("byte %d is %d", i, x)
		}
	}
	if err := errors.Join(f.Close(), f.Close()); err != nil {
		t.Error(err)
	}
	if n, bytes := device.HostFiles(); n != before || bytes != size {
		t.Errorf("after Close %d files of %d bytes", n-before, bytes-size)
	}
	empty := newFile(t, dir, 0)
	if len(empty.Bytes()) != 0 || empty.Close() != nil {
		t.Error("no bytes")
	}
}

// One that is forgotten is closed all the same.
func TestHostFileForgotten(t *testing.T) {
	dir := t.TempDir()
	before, _ := device.HostFiles()
	newFile(t, dir, 1<<20)
	for range 100 {
		runtime.GC()
		if n, _ := device.HostFiles(); n == before {
			return
		}
	}
	t.Error("it is still open")
}

// Too little room, or no folder, is an error that names folder, need and free bytes.
func TestHostFileErrors(t *testing.T) {
	dir := t.TempDir()
	newFile(t, dir, 1).Close()
	_, err := device.NewHostFile(dir, 1<<45)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "needs 32.00 TiB") || !strings.Contains(err.Error(), "free") {
		t.Errorf("32 TiB: %v", err)
	}
	if _, err := device.NewHostFile(dir+"/nosuch", 1); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("no folder: %v", err)
	}
	if _, err := device.NewHostFile(dir, -1); err == nil {
		t.Error("a negative size is accepted")
	}
	if n, _ := device.HostFiles(); n != 0 {
		t.Errorf("%d files stay open", n)
	}
}

// A copy from a file that cannot be read is an error of Sync that names the queue.
func TestHostFileBroken(t *testing.T) {
	d, err := device.NewCPU(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	f := newFile(t, t.TempDir(), 1<<20)
	q, err := d.NewQueue("h2d")
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	device.BreakFile(f)
	if err := d.CopyH2D(q, m, 0, f.Bytes()[:4096]); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(); err == nil || !strings.Contains(err.Error(), "queue h2d") || !strings.Contains(err.Error(), "host memory") {
		t.Errorf("sync: %v", err)
	}
	if err := errors.Join(d.Free(m), d.Close()); err != nil {
		t.Error(err)
	}
	f.Close()
}

// A killed process leaves nothing in the folder.
func TestHostFileKilled(t *testing.T) {
	if dir := os.Getenv("SAGANN_FILE_DIR"); dir != "" {
		newFile(t, dir, 1<<20)
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			p.Kill()
		}
		select {}
	}
	dir := t.TempDir()
	newFile(t, dir, 1).Close()
	c := exec.Command(os.Args[0], "-test.run", "^TestHostFileKilled$")
	c.Env = append(os.Environ(), "SAGANN_FILE_DIR="+dir)
	if err := c.Run(); err == nil {
		t.Fatal("the process was not killed")
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("the folder holds %v (%v)", list, err)
	}
}
