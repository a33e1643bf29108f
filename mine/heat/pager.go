package heat

// Pager is a card to which every row that is read is copied first.
type Pager struct {
	bytes       []int64
	room        int64
	last, next  []int32 // of rows on the card, in the order in which they were read last: the one read before, and after
	oldest, new int32   // -1: none
	here        []bool
	copied      int64
}

// NewPager is a card without rows, with room for so many bytes of them. A row of more bytes takes all of it.
func NewPager(bytes []int64, room int64) *Pager {
	return &Pager{bytes: bytes, room: room, last: make([]int32, len(bytes)), next: make([]int32, len(bytes)), here: make([]bool, len(bytes)), oldest: -1, new: -1}
}

// Read reads a row.
func (p *Pager) Read(row uint32) {
	v := int32(row)
	if p.here[v] {
		p.drop(v)
	} else {
		p.copied += p.bytes[v]
		for p.room < p.bytes[v] && p.oldest >= 0 {
			p.drop(p.oldest)
		}
	}
	p.room -= p.bytes[v]
	p.here[v], p.last[v], p.next[v] = true, p.new, -1
	if p.new < 0 {
		p.oldest = v
	} else {
		p.next[p.new] = v
	}
	p.new = v
}

// drop takes a row off the card.
func (p *Pager) drop(v int32) {
	last, next := p.last[v], p.next[v]
	if last < 0 {
		p.oldest = next
	} else {
		p.next[last] = next
	}
	if next < 0 {
		p.new = last
	} else {
		p.last[next] = last
	}
	p.here[v] = false
	p.room += p.bytes[v]
}

// Copied is the bytes that were copied since it was asked last.
func (p *Pager) Copied() int64 {
	n := p.copied
	p.copied = 0
	return n
}
