package device

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"strconv"
	"strings"
)

// HostAvailable is about how much host memory this process can still take, in bytes: what the system has to give, and what the limit of
// the process's group leaves, with the pages of files that it would give up. 0: not known.
func HostAvailable() int64 {
	free := int64(math.MaxInt64)
	if n := listed("/proc/meminfo", "MemAvailable:"); n > 0 {
		free = n << 10
	}
	if limit, used := number("/sys/fs/cgroup/memory.max"), number("/sys/fs/cgroup/memory.current"); limit > 0 {
		const stat = "/sys/fs/cgroup/memory.stat"
		free = min(free, max(1, limit-used+listed(stat, "inactive_file")+listed(stat, "active_file")))
	}
	if free == math.MaxInt64 {
		return 0
	}
	return free
}

// listed is the number behind a name in a list of the system; 0: there is none.
func listed(path, name string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) > 1 && f[0] == name {
			if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
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
