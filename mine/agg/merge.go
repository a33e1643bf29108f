package agg

import (
	"context"
	"errors"
	"os"
)

// merger yields the entries of several ascending sources in order. The sources form a heap by their next key.
type merger struct {
	heap    []source
	started []*reader
}

// source is a list in memory or a run, with its next entry.
type source struct {
	now  Entry
	rest []Entry
	run  *reader
}

// advance reads the next entry; ok is false at the end.
func (s *source) advance() (ok bool, err error) {
	if s.run != nil {
		s.now, ok, err = s.run.next()
		return ok, err
	}
	if len(s.rest) == 0 {
		return false, nil
	}
	s.now, s.rest = s.rest[0], s.rest[1:]
	return true, nil
}

// list adds a list.
func (m *merger) list(l []Entry) {
	s := source{rest: l}
	if ok, _ := s.advance(); ok {
		m.heap = append(m.heap, s)
	}
}

// leastBuffer is the least buffer of a run that is read, in bytes. mostOpen is how many are read at once, at most: a process
// may often have 1024 open files.
const (
	leastBuffer = 1 << 12
	mostOpen    = 256
)

// runs adds the runs of r. If they are too many, some are merged first.
func (m *merger) runs(ctx context.Context, r *runs) error {
	ways := int(min(r.o.Mem/leastBuffer, mostOpen))
	for len(r.paths) > ways {
		take := min(ways, len(r.paths)-ways+1)
		if err := r.merge(ctx, r.paths[:take:take]); err != nil {
			return err
		}
	}
	return m.open(r, r.paths)
}

// open adds runs of r, which share its memory.
func (m *merger) open(r *runs, paths []string) error {
	buffer := int(min(r.o.Mem/int64(len(paths)), 1<<20))
	for _, path := range paths {
		d, err := r.open(path, buffer)
		if err != nil {
			return errors.Join(err, m.close())
		}
		m.started = append(m.started, d)
		s := source{run: d}
		ok, err := s.advance()
		if err != nil {
			return errors.Join(err, m.close())
		}
		if ok {
			m.heap = append(m.heap, s)
		}
	}
	return nil
}

func (m *merger) close() (err error) {
	for _, d := range m.started {
		err = errors.Join(err, d.close())
	}
	m.started = nil
	return err
}

// merge makes one run of several, which it removes.
func (r *runs) merge(ctx context.Context, paths []string) error {
	var m merger
	if err := m.open(r, paths); err != nil {
		return err
	}
	w, err := r.create()
	if err != nil {
		return errors.Join(err, m.close())
	}
	m.yield(ctx, r.width > 8, func(e Entry, bad error) bool {
		if err = bad; err == nil {
			err = w.add(e.Key, e.Count)
		}
		return err == nil
	})
	if err != nil {
		return w.fail(err)
	}
	if err := w.finish(); err != nil {
		return err
	}
	r.paths = r.paths[len(paths):]
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// yield yields the entries in order; with sum, equal keys become one entry.
func (m *merger) yield(ctx context.Context, sum bool, yield func(Entry, error) bool) {
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	bad := func(err error) { yield(Entry{}, errors.Join(err, m.close())) }
	for n := 0; len(m.heap) > 0; n++ {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			bad(ctx.Err())
			return
		}
		e := m.heap[0].now
		if err := m.pop(); err != nil {
			bad(err)
			return
		}
		for sum && len(m.heap) > 0 && m.heap[0].now.Key == e.Key {
			e.Count += m.heap[0].now.Count
			if err := m.pop(); err != nil {
				bad(err)
				return
			}
		}
		if !yield(e, nil) {
			_ = m.close() // files that were only read
			return
		}
	}
	if err := m.close(); err != nil {
		yield(Entry{}, err)
	}
}

// pop advances the first source.
func (m *merger) pop() error {
	ok, err := m.heap[0].advance()
	if err != nil {
		return err
	}
	if !ok {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.down(0)
	return nil
}

// down moves source i to its place.
func (m *merger) down(i int) {
	for {
		least := i
		for _, j := range []int{2*i + 1, 2*i + 2} {
			if j < len(m.heap) && m.heap[j].now.Key < m.heap[least].now.Key {
				least = j
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}
