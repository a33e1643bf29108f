package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Regular files are read up to a bound; FIFOs, devices, folders and links to them are refused, without waiting.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(in("text"), []byte("hello"), 0o600), os.WriteFile(in("empty"), nil, 0o600), syscall.Mkfifo(in("fifo"), 0o600),
		os.Symlink(in("text"), in("link")), os.Symlink(os.DevNull, in("device")), os.Symlink(in("fifo"), in("linked")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path       string
		most       int64
		want, says string
	}{
		{in("text"), 5, "hello", ""}, {in("link"), 100, "hello", ""}, {in("empty"), 0, "", ""},
		{in("text"), 4, "", "5 bytes, at most 4"}, {"/proc/self/status", 2, "", "more than 2 bytes"},
		{in("fifo"), 9, "", "a pipe"}, {in("linked"), 9, "", "a pipe"}, {in("device"), 9, "", "a device"}, {dir, 9, "", "a folder"},
	} {
		b, err := ReadFile(c.path, c.most)
		if string(b) != c.want && c.says == "" || (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.path)) {
			t.Errorf("%s: %q, %v", c.path, b, err)
		}
	}
	if b, err := ReadFile("/proc/self/status", 1<<20); err != nil || !strings.Contains(string(b), "Pid:") {
		t.Errorf("a file of the kernel: %q, %v", b, err)
	}
	if _, err := Open(in("absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
