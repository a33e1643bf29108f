package net

import (
	"fmt"
	"strings"
	"time"
)

// Stuck returns why the ranks can never go on, or "". watches are the watches of all ranks by number, that of the
// calling rank included; hosts are the names of their hosts. There are two reasons:
//   - a rank is in a collective operation, and one of the same number was another for another rank: their programs differ;
//   - some ranks wait for each other, and no message of theirs has moved for nearly the timeout.
//
// A rank in a collective operation, or in Close, does nothing else, so it cannot send what others wait for. A
// rank that waits for a message of a task may compute at the same time. Its wait counts only if the other
// rank is in a collective operation. So a slow rank never ends a run.
func Stuck(watches []Watch, hosts []string, now time.Time) string {
	at := func(r int) string {
		return fmt.Sprintf("rank %d (host %s) is at %s", r, hosts[r], watches[r].status.Where)
	}
	for r := range watches {
		s := &watches[r].status
		if !s.together() {
			continue
		}
		for o := range watches {
			other := &watches[o].status
			if name := other.name(s.Number); name != "" && name != s.name(s.Number) {
				if other.Number == s.Number {
					return differ(at(min(o, r)), at(max(o, r)))
				}
				return differ(at(r), fmt.Sprintf("its operation %d was %s for rank %d, and %s", s.Number, name, o, at(o)))
			}
		}
	}
	stuck := make([]bool, len(watches))
	for r := range watches {
		w := &watches[r]
		stuck[r] = len(w.status.Waits) > 0 && !w.status.Busy && now.Sub(w.since) > w.limit()
	}
	waits := func(r int) bool { // for a rank that is stuck
		for _, w := range watches[r].status.Waits {
			for o := range watches {
				if o != r && stuck[o] && (w.On == o || w.On == anyRank) && (w.Together || watches[o].status.together()) {
					return true
				}
			}
		}
		return false
	}
	left := 0
	for changed := true; changed; {
		changed, left = false, 0
		for r := range stuck {
			if stuck[r] && !waits(r) {
				stuck[r], changed = false, true
			}
			if stuck[r] {
				left++
			}
		}
	}
	if left == 0 {
		return ""
	}
	var list []string
	for r := range stuck {
		if stuck[r] {
			list = append(list, at(r))
		}
	}
	return fmt.Sprintf("ranks wait for each other: %s; all ranks end", strings.Join(list, ", "))
}

// differ is the error of ranks that are in different collective operations.
func differ(one, other string) string {
	return fmt.Sprintf("ranks do not do the same: %s, and %s; start all ranks with the same program, data and settings", one, other)
}
