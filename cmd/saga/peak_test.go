package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"sagann/internal/cli"
)

// peakVariable names the file into which a process of the command writes the most memory that it had, in KiB.
const peakVariable = "SAGA_TEST_PEAK"

// mainMeasured is the command, which also obeys peakVariable.
func mainMeasured() {
	cli.Unheeded(interrupted)
	status := run(os.Args[1:], os.Stdout, os.Stderr)
	if path := os.Getenv(peakVariable); path != "" {
		text, err := os.ReadFile("/proc/self/status")
		if m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text); err != nil || m == nil || os.WriteFile(path, m[1], 0o600) != nil {
			status = 99
		}
	}
	os.Exit(status)
}

// measured has c tell the most memory it had, in bytes, which the function returns when c has ended. What the system counts of a child
// begins with the memory of the process that started it.
func measured(t *testing.T, c *exec.Cmd) (*exec.Cmd, func() int64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "peak")
	c.Env = append(c.Environ(), peakVariable+"="+path)
	return c, func() int64 {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kib, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return kib << 10
	}
}
