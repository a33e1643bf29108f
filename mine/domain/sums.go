package domain

import "sagann/mine/run"

// sums are counters by two types. Few types have a table, many a map.
type sums struct {
	types int
	table []run.Total
	used  []uint32 // entries of the table that were added to, at least once each
	all   map[uint64]run.Total
	meter *run.Meter // of the map
}

// mostSums bounds the entries of a table.
const mostSums = 1 << 22

func newSums(types int, meter *run.Meter) *sums {
	s := &sums{types: types, meter: meter}
	if types <= mostSums/max(types, 1) {
		s.table = make([]run.Total, types*types)
	} else {
		s.all = map[uint64]run.Total{}
	}
	return s
}

// add adds n·m.
func (s *sums) add(a, b uint32, n, m uint64) {
	if n == 0 || m == 0 {
		return
	}
	if s.table == nil {
		key := uint64(a)<<32 | uint64(b)
		t, ok := s.all[key]
		if !ok && !s.meter.Take(sumBytes) {
			s.meter.Give(sumBytes)
			s.meter.Stop()
			return
		}
		t.AddProduct(n, m)
		s.all[key] = t
		return
	}
	i := uint32(int(a)*s.types + int(b))
	t := &s.table[i]
	if *t == (run.Total{}) {
		s.used = append(s.used, i)
	}
	t.AddProduct(n, m)
}

// addRow adds n·far[b] to the counter of a and b, for each b of seen.
func (s *sums) addRow(a uint32, seen []uint32, far []uint64, n uint64) {
	if s.table == nil {
		for _, b := range seen {
			s.add(a, b, n, far[b])
		}
		return
	}
	from := int(a) * s.types
	row := s.table[from : from+s.types]
	for _, b := range seen {
		t := &row[b]
		if *t == (run.Total{}) {
			s.used = append(s.used, uint32(from)+b)
		}
		t.AddProduct(n, far[b])
	}
}

// sub subtracts n, which is no more than what was added.
func (s *sums) sub(a, b uint32, n run.Total) {
	if s.table == nil {
		key := uint64(a)<<32 | uint64(b)
		s.all[key] = s.all[key].Minus(n)
		return
	}
	t := &s.table[int(a)*s.types+int(b)]
	*t = t.Minus(n)
}

// take calls f with the counters that are not 0, in no stated order, and sets all to 0.
func (s *sums) take(f func(a, b uint32, n run.Total)) {
	for _, i := range s.used {
		n := s.table[i]
		s.table[i] = run.Total{}
		if n != (run.Total{}) {
			f(i/uint32(s.types), i%uint32(s.types), n)
		}
	}
	s.used = s.used[:0]
	for key, n := range s.all {
		if n != (run.Total{}) {
			f(uint32(key>>32), uint32(key), n)
		}
	}
	s.meter.Give(sumBytes * int64(len(s.all)))
	clear(s.all)
}
