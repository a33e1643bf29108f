package mpi

import (
	"fmt"
	"time"
)

// watch tells when the rank before this one has given no sign of life for too long.
type watch struct {
	timeout time.Duration
	last    time.Time // of a heartbeat
	looked  time.Time // when this rank last ran
	told    string    // what that rank did then
	asked   time.Time // when the launcher asked this rank to end; zero: it has not
	ends    bool      // some rank ends all, and has said so
}

// beatEvery is the time between two heartbeats, graceAfter the silence that counts once the launcher wants all ranks to
// end: it kills them a second later, as it does after one has died.
const (
	beatEvery  = 200 * time.Millisecond
	graceAfter = 700 * time.Millisecond
)

// farewell is the heartbeat of a rank that ends all.
const farewell = "\x00"

// heard notes a heartbeat.
func (w *watch) heard(now time.Time, told string) {
	w.last, w.told = now, told
	w.ends = w.ends || told == farewell
}

// look tells for how long the other rank has been silent, if that is too long. Time in which this rank did not run
// itself does not count.
func (w *watch) look(now time.Time) (silent time.Duration, gone bool) {
	if late := now.Sub(w.looked); late > time.Second {
		w.last = w.last.Add(late)
	}
	w.looked = now
	silent = now.Sub(w.last)
	if w.ends {
		return silent, false
	}
	if !w.asked.IsZero() && now.Sub(w.asked) > graceAfter && silent > graceAfter {
		return silent, true
	}
	return silent, silent > w.timeout-min(w.timeout/8, time.Second) // the launcher takes two seconds to end all
}

// line says which rank was given up.
func (w *watch) line(rank int, host string, silent time.Duration) string {
	at := ""
	if w.told != "" {
		at = "; it was at: " + w.told
	}
	return fmt.Sprintf("rank %d (host %s) has given no sign of life for %.1f s%s; all ranks end", rank, host, silent.Seconds(), at)
}
