package run

import (
	"fmt"
	"sync/atomic"
)

// Meter counts memory that is taken while work goes on, against a bound. A nil Meter has none.
type Meter struct {
	room       int64 // 0: no bound
	used, peak atomic.Int64
	short      atomic.Bool
}

// NewMeter makes a Meter for so many bytes; 0: no bound.
func NewMeter(room int64) *Meter { return &Meter{room: room} }

// Room is how many bytes there are; 0: no bound.
func (m *Meter) Room() int64 { return m.room }

// Take takes n bytes, and reports whether no more are taken than there are. They count as taken in any case.
func (m *Meter) Take(n int64) bool {
	if m == nil {
		return true
	}
	used := m.used.Add(n)
	for peak := m.peak.Load(); used > peak && !m.peak.CompareAndSwap(peak, used); {
		peak = m.peak.Load()
	}
	return m.room == 0 || used <= m.room
}

// TakeHalf takes n bytes if no more than half of the bytes are taken then.
func (m *Meter) TakeHalf(n int64) bool {
	if m == nil {
		return true
	}
	if used := m.used.Add(n); m.room > 0 && used > m.room/2 {
		m.used.Add(-n)
		return false
	}
	m.Take(0) // notes the peak
	return true
}

// Give gives n bytes back.
func (m *Meter) Give(n int64) { m.Take(-n) }

// Stop notes that the work cannot go on: the peak is only what it has taken so far.
func (m *Meter) Stop() { m.short.Store(true) }

// Stopped reports whether Stop was called.
func (m *Meter) Stopped() bool { return m.short.Load() }

// Err is a *RoomError if more was taken at any time than there is.
func (m *Meter) Err() error {
	if peak := m.peak.Load(); m.room > 0 && peak > m.room {
		return &RoomError{peak, m.short.Load()}
	}
	return nil
}

// RoomError says how many bytes work takes that has fewer.
type RoomError struct {
	Need int64
	More bool // perhaps more than Need: the work was not done to the end
}

// Error names the bytes.
func (e *RoomError) Error() string { return fmt.Sprintf("the work takes %d bytes", e.Need) }
