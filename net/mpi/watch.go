package mpi

import (
	"fmt"
	"time"
)

// watch tells when another rank has given no sign of life for too long.
type watch struct {
	timeout time.Duration
	last    time.Time // of a heartbeat
	looked  time.Time // when this rank last ran
	told    string    // what that rank did then
	asked   time.Time // when the launcher asked this rank to end; zero: it has not
}

// beatEvery is the time between two heartbeats. silentAfter is the silence that is told of once the launcher has asked this rank
// to end: it does so, and kills it a second later, when another has died.
const (
	beatEvery   = 100 * time.Millisecond
	silentAfter = 350 * time.Millisecond
)

// heard notes a heartbeat.
func (w *watch) heard(now time.Time, told string) { w.last, w.told = now, told }

// limit is how much silence ends all ranks: less than the timeout, as the launcher takes some seconds for that.
func (w *watch) limit() time.Duration { return w.timeout - min(3*w.timeout/8, 3*time.Second) }

// look tells for how long the other rank has been silent, whether that is to be told of, and whether all ranks are to end. Time in
// which this rank did not run itself does not count.
func (w *watch) look(now time.Time) (silent time.Duration, odd, gone bool) {
	if late := now.Sub(w.looked); late > time.Second {
		w.last = w.last.Add(late)
	}
	w.looked = now
	silent = now.Sub(w.last)
	gone = silent > w.limit()
	return silent, gone || !w.asked.IsZero() && now.Sub(w.asked) > silentAfter && silent > silentAfter, gone
}

// line says which rank is silent.
func (w *watch) line(rank int, host string, silent time.Duration, end bool) string {
	at := ""
	if w.told != "" {
		at = "; it was at: " + w.told
	}
	if end {
		at += "; all ranks end"
	}
	return fmt.Sprintf("rank %d (host %s) has given no sign of life for %.1f s%s", rank, host, silent.Seconds(), at)
}
