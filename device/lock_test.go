package device

import (
	"errors"
	"os"
	"runtime"
	"testing"
)

// TestLockFolder: one lock at a time, nothing written, none where there is no folder.
func TestLockFolder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("folders are locked on Linux")
	}
	dir := t.TempDir()
	unlock, err := LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockFolder(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if unlock, err = LockFolder(dir); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	if _, err := LockFolder(dir + "/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
