package leak

import "testing"

func waits(c chan struct{}) { <-c }

// TestRunning: a goroutine of a package is found while it runs, and not after.
func TestRunning(t *testing.T) {
	c := make(chan struct{})
	before := len(running("leak.waits"))
	Check(t, "leak.waits")
	go waits(c)
	for len(running("leak.waits")) != before+1 {
	}
	close(c)
}
