package net

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Status is what a rank tells the others with each heartbeat.
type Status struct {
	Where  string // what the rank is doing, for people
	Moved  uint64 // pieces of messages that it has sent and received
	Number uint64 // of the collective operation that it is in, or of the last one; 0: there was none
	Past   []Run  // the last operations up to that one
	Busy   bool   // it answers an ask of another rank
	Waits  []Wait // ranks whose messages it waits for
}

// Run is collective operations that follow each other and have the same name.
type Run struct {
	First uint64 // number of the first
	Name  string
}

// mostPast bounds Status.Past.
const mostPast = 8

// name is the name of operation n, or "" if that is not known.
func (s *Status) name(n uint64) string {
	if n > s.Number {
		return ""
	}
	for _, x := range slices.Backward(s.Past) {
		if x.First <= n {
			return x.Name
		}
	}
	return ""
}

// Wait is a wait of a rank for another one.
type Wait struct {
	On       int  // the other rank; anyRank: all others
	Together bool // in a collective operation, which the rank does nothing beside
}

// anyRank is Wait.On in Close, which waits for all ranks.
const anyRank = -1

// mostWaits bounds the waits that a Status tells, as links bound the length of a text.
const mostWaits = 32

// Text is s as one text, which ReadStatus reads.
func (s *Status) Text() string {
	flag := "-"
	if s.Busy {
		flag = "busy"
	}
	var waits []string
	for _, w := range s.Waits[:min(len(s.Waits), mostWaits)] {
		kind := "m"
		if w.Together {
			kind = "t"
		}
		waits = append(waits, kind+strconv.Itoa(w.On))
	}
	var past []string
	for _, x := range s.Past {
		past = append(past, fmt.Sprintf("%d=%s", x.First, x.Name))
	}
	return fmt.Sprintf("%d %d %s %s\n%s\n%s", s.Moved, s.Number, flag, strings.Join(waits, ","), strings.Join(past, ";"), s.Where)
}

// ReadStatus reads a text of Status.Text. Any other text is a Status with that text as Where.
func ReadStatus(text string) Status {
	lines := strings.SplitN(text, "\n", 3)
	words := strings.Split(lines[0], " ")
	if len(lines) != 3 || len(words) != 4 {
		return Status{Where: text}
	}
	s := Status{Where: lines[2], Busy: words[2] == "busy"}
	var err [2]error
	s.Moved, err[0] = strconv.ParseUint(words[0], 10, 64)
	s.Number, err[1] = strconv.ParseUint(words[1], 10, 64)
	if err[0] != nil || err[1] != nil {
		return Status{Where: text}
	}
	for w := range strings.SplitSeq(words[3], ",") {
		if w == "" {
			continue
		}
		on, err := strconv.Atoi(w[1:])
		if err != nil {
			return Status{Where: text}
		}
		s.Waits = append(s.Waits, Wait{on, w[0] == 't'})
	}
	for x := range strings.SplitSeq(lines[1], ";") {
		first, name, ok := strings.Cut(x, "=")
		if n, err := strconv.ParseUint(first, 10, 64); ok && err == nil {
			s.Past = append(s.Past, Run{n, name})
		}
	}
	return s
}

// together tells whether the rank is in a collective operation and waits there for others.
func (s *Status) together() bool {
	return slices.ContainsFunc(s.Waits, func(w Wait) bool { return w.Together })
}

// same tells whether nothing has happened between s and o.
func (s *Status) same(o *Status) bool {
	return s.Moved == o.Moved && s.Number == o.Number && s.Busy == o.Busy && slices.Equal(s.Waits, o.Waits)
}

// doing is what a rank is at, for its Status.
type doing struct {
	mu     sync.Mutex
	number uint64
	past   []Run
	moved  uint64
	busy   int
	waits  map[Wait]int
}

// wait records a wait, and end its end.
func (d *doing) wait(w Wait) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waits == nil {
		d.waits = map[Wait]int{}
	}
	d.waits[w]++
}

func (d *doing) end(w Wait) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waits[w]--; d.waits[w] == 0 {
		delete(d.waits, w)
	}
}

// piece records that a piece of a message was sent or received.
func (d *doing) piece() {
	d.mu.Lock()
	d.moved++
	d.mu.Unlock()
}

// answers records that the rank begins (1) or ends (-1) answering an ask.
func (d *doing) answers(by int) {
	d.mu.Lock()
	d.busy += by
	d.mu.Unlock()
}

// next begins a collective operation and returns its number.
func (d *doing) next(name string) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.number++
	if n := len(d.past); n == 0 || d.past[n-1].Name != name {
		if n == mostPast {
			d.past = slices.Delete(d.past, 0, 1)
		}
		d.past = append(d.past, Run{d.number, name})
	}
	return d.number
}

// name is the name of operation n of this rank, or "" if that is not known.
func (d *doing) name(n uint64) string { return d.status("").name(n) }

// status is d as others are told.
func (d *doing) status(where string) *Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &Status{Where: where, Moved: d.moved, Number: d.number, Past: slices.Clone(d.past), Busy: d.busy > 0}
	for w := range d.waits {
		s.Waits = append(s.Waits, w)
	}
	slices.SortFunc(s.Waits, func(a, b Wait) int {
		if a.Together != b.Together { // first, so that they are always told
			if a.Together {
				return -1
			}
			return 1
		}
		return a.On - b.On
	})
	if s.together() {
		s.Where = fmt.Sprintf("%s, operation %d (%s)", where, s.Number, s.name(s.Number))
	}
	return s
}
