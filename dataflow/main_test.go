package dataflow_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain puts files in place of host memory into memory, where the system has a folder for that: programs have several of them,
// and to make one on a disk takes some milliseconds. Small programs one after the other spend half of their time on
// garbage collection, unless it waits for more.
func TestMain(m *testing.M) {
	const memory = "/dev/shm"
	if f, err := os.CreateTemp(memory, "saga-test-*"); err == nil {
		f.Close()
		os.Remove(f.Name())
		os.Setenv("TMPDIR", memory)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
