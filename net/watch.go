package net

import (
	"fmt"
	"time"
)

// Watch tells when another rank has given no sign of life for too long.
type Watch struct {
	timeout time.Duration
	last    time.Time // of a heartbeat
	looked  time.Time // when this rank last ran
	told    string    // what that rank did then
}

// Watching begins to watch a rank, which is given up after timeout.
func Watching(timeout time.Duration, now time.Time) Watch {
	return Watch{timeout: timeout, last: now, looked: now}
}

// BeatEvery is the time between two heartbeats. Where the launcher has asked a rank to end, others that are silent for
// SilentAfter are told of.
const (
	BeatEvery   = 100 * time.Millisecond
	SilentAfter = 350 * time.Millisecond
)

// Heard notes a heartbeat.
func (w *Watch) Heard(now time.Time, told string) { w.last, w.told = now, told }

// Silent is how long it has been.
func (w *Watch) Silent(now time.Time) time.Duration { return now.Sub(w.last) }

// limit is how much silence ends all ranks: less than the timeout, as the launcher takes some seconds for that.
func (w *Watch) limit() time.Duration { return w.timeout - min(3*w.timeout/8, 3*time.Second) }

// Look tells for how long the other rank has been silent, and whether all ranks are to end. Time in which this rank did not run
// itself does not count.
func (w *Watch) Look(now time.Time) (silent time.Duration, gone bool) {
	if late := now.Sub(w.looked); late > time.Second {
		w.last = w.last.Add(late)
	}
	w.looked = now
	silent = now.Sub(w.last)
	return silent, silent > w.limit()
}

// Line says which rank is silent.
func (w *Watch) Line(rank int, host string, silent time.Duration, end bool) string {
	at := ""
	if w.told != "" {
		at = "; it was at: " + w.told
	}
	if end {
		at += "; all ranks end"
	}
	return fmt.Sprintf("rank %d (host %s) has given no sign of life for %.1f s%s", rank, host, silent.Seconds(), at)
}

// Gone says that a rank has ended, which its connection told.
func (w *Watch) Gone(rank int, host string) string {
	at := ""
	if w.told != "" {
		at = "; it was at: " + w.told
	}
	return fmt.Sprintf("rank %d (host %s) has ended%s; all ranks end", rank, host, at)
}
