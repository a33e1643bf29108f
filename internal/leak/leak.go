// Package leak finds goroutines that a test leaves behind.
package leak

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// Check fails t if, at its end, a goroutine still runs code of a package whose path contains part, and did not when Check
// was called. A goroutine may take some seconds to end.
func Check(t testing.TB, part string) {
	t.Helper()
	before := running(part)
	t.Cleanup(func() {
		var left []string
		for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			left = nil
			for id, stack := range running(part) {
				if _, ok := before[id]; !ok {
					left = append(left, stack)
				}
			}
			if len(left) == 0 {
				return
			}
			if time.Now().After(end) {
				break
			}
		}
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	})
}

// patience is how long goroutines may take to end.
const patience = 5 * time.Second

// running lists the stacks of goroutines that run code of a package, by their first line without the state.
func running(part string) map[string]string {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	list := map[string]string{}
	for i, stack := range strings.Split(string(text), "\n\n") {
		if i == 0 || !strings.Contains(stack, part) { // the first is this one
			continue
		}
		id, _, _ := strings.Cut(stack, " [")
		list[id] = stack
	}
	return list
}
