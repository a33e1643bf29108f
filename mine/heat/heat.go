package heat

import (
	"cmp"
	"slices"
)

// Policy is what the choice of rows goes by.
type Policy string

// Policies. Exact is the reads of the extension to come, which its frontier tells, less the one that a copy takes; where rows are equal, the longest.
// History is the reads of the extensions before; the first goes by degree. Gamma is GAMMA's access heat: the reads of this extension and of each before, weighted by
// how many reads each has in all. Degree is chosen once. Cold chooses none.
const (
	Exact   Policy = "exact"
	History Policy = "history"
	Gamma   Policy = "gamma"
	Degree  Policy = "degree"
	Cold    Policy = "cold"
)

// Cache is the rows that lie on a card from extension to extension.
type Cache struct {
	policy Policy
	bytes  []int64 // by row
	room   int64
	here   []bool    // rows on the card
	past   []float64 // by row: reads of the extensions before, weighted by policy
	first  bool      // there was no extension yet
}

// NewCache is a card without rows, with room for so many bytes of them. bytes is the length of each row.
func NewCache(policy Policy, bytes []int64, room int64) *Cache {
	return &Cache{policy: policy, bytes: bytes, room: room, here: make([]bool, len(bytes)), past: make([]float64, len(bytes)), first: true}
}

// Extend is the bytes over the link of an extension that reads row v reads[v] times: of rows that are copied to the card, and of rows that are
// read where they lie.
func (c *Cache) Extend(reads []int64) (copied, cold int64) {
	var all float64
	for _, n := range reads {
		all += float64(n)
	}
	chosen := c.choose(reads, all)
	for v, n := range reads {
		switch {
		case !chosen[v]:
			cold += n * c.bytes[v]
			c.here[v] = false
		case n > 0 && !c.here[v]:
			copied += c.bytes[v]
			c.here[v] = true
		}
		if c.policy == Gamma {
			c.past[v] += all * float64(n)
		} else {
			c.past[v] += float64(n)
		}
	}
	c.first = false
	return copied, cold
}

// choose fills the room with the rows of the most heat.
func (c *Cache) choose(reads []int64, all float64) []bool {
	heat := make([]float64, len(reads))
	for v, n := range reads {
		switch {
		case c.policy == Exact:
			heat[v] = float64(n)
			if !c.here[v] {
				heat[v]-- // the copy reads it, too
			}
		case c.policy == Gamma:
			heat[v] = all*float64(n) + c.past[v]
		case c.policy == Degree || c.policy == History && c.first:
			heat[v] = float64(c.bytes[v])
		case c.policy == History:
			heat[v] = c.past[v]
		}
	}
	order := make([]int, len(reads))
	for v := range order {
		order[v] = v
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(heat[b], heat[a]), cmp.Compare(c.bytes[b], c.bytes[a])) })
	chosen, room := make([]bool, len(reads)), c.room
	for _, v := range order {
		if wanted := heat[v] > 0 || c.policy == Exact && (reads[v] > 0 || c.here[v]); wanted && c.bytes[v] <= room {
			chosen[v] = true
			room -= c.bytes[v]
		}
	}
	return chosen
}
