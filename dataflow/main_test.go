package dataflow_test

import (
	"os"
	"testing"
)

// TestMain puts files in place of host memory into memory, where the system has a folder for that: programs have several of them,
// and to make one on a disk takes some milliseconds.
func TestMain(m *testing.M) {
	const memory = "/dev/shm"
	if f, err := os.CreateTemp(memory, "saga-test-*"); err == nil {
		f.Close()
		os.Remove(f.Name())
		os.Setenv("TMPDIR", memory)
	}
	os.Exit(m.Run())
}
