package chunk

import "math/bits"

// sortKey is the field of a record that a pass sorts by.
type sortKey int

const (
	byDst sortKey = iota
	bySrc
	byType
)

// pass is one stable counting sort on a digit of a key.
type pass struct {
	key   sortKey
	shift uint
	mask  uint32
}

// sorter sorts records by keys, least significant pass first. It keeps scratch memory for
// the largest number of records so far.
type sorter struct {
	types  []uint32 // edge types by stored position, for byType
	tmp    []rec
	counts []uint32
	passes []pass
}

// plan appends the passes that sort n records by a key below limit. A digit has
// about as many values as there are records, so that clearing and summing the
// counters stays linear in n however wide the key.
func (s *sorter) plan(key sortKey, limit, n int) {
	width := bits.Len32(uint32(max(limit-1, 0)))
	if width == 0 {
		return
	}
	digit := min(max(bits.Len(uint(n)), 8), 16)
	k := (width + digit - 1) / digit
	digit = (width + k - 1) / k
	for i := range k {
		s.passes = append(s.passes, pass{key, uint(i * digit), 1<<digit - 1})
	}
}

// inPlace sorts recs by the planned passes and forgets the plan.
func (s *sorter) inPlace(recs []rec) {
	from := recs
	if len(s.passes)%2 == 1 && len(recs) > 1 { // an odd number of moves starts elsewhere
		s.room(len(recs))
		from = s.tmp[:len(recs)]
		copy(from, recs)
	}
	s.sort(recs, from)
}

// room makes tmp hold n records.
func (s *sorter) room(n int) {
	if len(s.tmp) < n {
		s.tmp = make([]rec, n)
	}
}

// sort writes from, sorted by the planned passes, to dst and forgets the plan.
// The slices have the same length. They do not overlap; or they are the same slice and the
// number of passes is even; or from is tmp and the number is odd.
func (s *sorter) sort(dst, from []rec) {
	defer func() { s.passes = s.passes[:0] }()
	if len(s.passes) == 0 || len(from) < 2 {
		copy(dst, from)
		return
	}
	if len(s.passes) > 1 {
		s.room(len(from))
	}
	// Ping-pong between tmp and dst such that the last pass ends in dst.
	for i, p := range s.passes {
		to := dst
		if (len(s.passes)-i)%2 == 0 {
			to = s.tmp[:len(from)]
		}
		s.run(to, from, p)
		from = to
	}
}

func (s *sorter) run(dst, from []rec, p pass) {
	if len(s.counts) < int(p.mask)+1 {
		s.counts = make([]uint32, p.mask+1)
	}
	counts := s.counts[:p.mask+1]
	clear(counts)
	for i := range from {
		counts[s.digit(&from[i], p)]++
	}
	at := uint32(0)
	for d, n := range counts {
		counts[d] = at
		at += n
	}
	for i := range from {
		d := s.digit(&from[i], p)
		dst[counts[d]] = from[i]
		counts[d]++
	}
}

func (s *sorter) digit(r *rec, p pass) uint32 {
	k := r.dst
	switch p.key {
	case bySrc:
		k = r.src
	case byType:
		k = s.types[r.e]
	}
	return k >> p.shift & p.mask
}
