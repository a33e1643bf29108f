package net

import (
	"strings"
	"testing"
	"time"

	"sagann/internal/leak"
)

// A rank is given up when it has been silent for the timeout, but not for time in which the watcher slept itself.
func TestWatch(t *testing.T) {
	leak.Check(t, "sagann/net")
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	fresh := func() *Watch {
		w := &Watch{timeout: 8 * time.Second, looked: start}
		w.Heard(start, "epoch 3, receive h chunk 1 from device 2")
		return w
	}
	// run looks every 100 ms until the end; the first time that the other rank is given up, 0 if it never is.
	run := func(w *Watch, end time.Duration) time.Duration {
		for d := w.looked.Sub(start); d <= end; d += 100 * time.Millisecond {
			if _, gone := w.Look(at(d)); gone {
				return d
			}
		}
		return 0
	}
	if d := run(fresh(), 20*time.Second); d < 5*time.Second || d > 6*time.Second {
		t.Errorf("given up after %v, the timeout is 8 s, of which the launcher takes 3", d)
	}
	w := fresh()
	w.Look(at(time.Minute)) // this rank was stopped
	if d := run(w, 64*time.Second); d != 0 {
		t.Errorf("given up %v after this rank slept for a minute", d-time.Minute)
	}
	if line := fresh().Line(2, "b2", 7*time.Second, true); !strings.Contains(line, "rank 2 (host b2)") || !strings.Contains(line, "epoch 3, receive h chunk 1") {
		t.Error(line)
	}
}
