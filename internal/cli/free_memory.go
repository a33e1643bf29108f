package cli

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
)

// FreeMemory is about how much host memory this process can still take, in bytes: what the system has to give, and what the limit of
// the process's group leaves. 0: not known.
func FreeMemory() int64 {
	free := int64(math.MaxInt64)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			if f := strings.Fields(lines.Text()); len(f) > 1 && f[0] == "MemAvailable:" {
				if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
					free = n << 10
				}
			}
		}
	}
	if limit, used := number("/sys/fs/cgroup/memory.max"), number("/sys/fs/cgroup/memory.current"); limit > 0 {
		free = min(free, max(1, limit-used))
	}
	if free == math.MaxInt64 {
		return 0
	}
	return free
}

// number is the number in a file of the system; 0: there is none.
func number(path string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
