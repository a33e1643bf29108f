package net

import (
	"fmt"
	"time"
)

// Watch watches another rank: it measures how long that rank has sent no heartbeat.
type Watch struct {
	timeout time.Duration
	last    time.Time // when the last heartbeat came
	looked  time.Time // when Look was last called
	status  Status    // what the last heartbeat said
	since   time.Time // when status last changed, apart from its text
}

// Watching begins to watch a rank. Shortly before it has been silent for timeout, it is given up.
func Watching(timeout time.Duration, now time.Time) Watch {
	return Watch{timeout: timeout, last: now, looked: now, since: now}
}

// BeatEvery is the time between two heartbeats. When the launcher asks a rank to end, that rank reports the
// ranks that have been silent for SilentAfter.
const (
	BeatEvery   = 100 * time.Millisecond
	SilentAfter = 350 * time.Millisecond
)

// Heard records a heartbeat with the text of a Status.
func (w *Watch) Heard(now time.Time, told string) {
	s := ReadStatus(told)
	if !s.same(&w.status) {
		w.since = now
	}
	w.last, w.status = now, s
}

// Silent is the time since the last heartbeat.
func (w *Watch) Silent(now time.Time) time.Duration { return now.Sub(w.last) }

// limit is the silence after which all ranks end. It is less than the timeout, as the launcher takes some
// seconds to end them.
func (w *Watch) limit() time.Duration { return w.timeout - min(3*w.timeout/8, 3*time.Second) }

// Look returns how long the other rank has been silent, and whether all ranks must end because of that. If
// this rank itself did not run for more than a second, that time does not count.
func (w *Watch) Look(now time.Time) (silent time.Duration, gone bool) {
	if late := now.Sub(w.looked); late > time.Second {
		w.last, w.since = w.last.Add(late), w.since.Add(late)
	}
	w.looked = now
	silent = now.Sub(w.last)
	return silent, silent > w.limit()
}

// Line is the message that a rank is silent. host is the name of that rank's host; end says that all ranks
// end.
func (w *Watch) Line(rank int, host string, silent time.Duration, end bool) string {
	at := ""
	if w.status.Where != "" {
		at = "; it was at: " + w.status.Where
	}
	if end {
		at += "; all ranks end"
	}
	return fmt.Sprintf("rank %d (host %s) has given no sign of life for %.1f s%s", rank, host, silent.Seconds(), at)
}

// Staying is the message that a rank has not ended when others have.
func (w *Watch) Staying(rank int, host string) string {
	return fmt.Sprintf("rank %d (host %s) is at %s", rank, host, w.status.Where)
}

// Gone is the message that a rank has ended, as its connection was closed.
func (w *Watch) Gone(rank int, host string) string {
	at := ""
	if w.status.Where != "" {
		at = "; it was at: " + w.status.Where
	}
	return fmt.Sprintf("rank %d (host %s) has ended%s; all ranks end", rank, host, at)
}
