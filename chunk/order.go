package chunk

import "fmt"

// Order is a re-encoding of the V vertices: New[old id] = new id and
// Old[new id] = old id. A nil *Order stands for the identity wherever the
// package takes one.
type Order struct{ New, Old []uint32 }

// Identity is the order that changes nothing.
func Identity(v int) *Order {
	id := make([]uint32, v)
	Ranges(v, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			id[i] = uint32(i)
		}
	})
	return &Order{New: id, Old: id}
}

// OrderOf makes the order in which old id i becomes newID[i]. It is an error
// when newID is not a permutation. The slice is kept, not copied.
func OrderOf(newID []uint32) (*Order, error) {
	old := make([]uint32, len(newID))
	seen := make([]bool, len(newID))
	for i, n := range newID {
		if int64(n) >= int64(len(newID)) {
			return nil, fmt.Errorf("chunk: order gives vertex %d the id %d of %d", i, n, len(newID))
		}
		if seen[n] {
			return nil, fmt.Errorf("chunk: order gives vertices %d and %d the same id %d", old[n], i, n)
		}
		seen[n], old[n] = true, uint32(i)
	}
	return &Order{New: newID, Old: old}, nil
}

// Validate returns an error unless New and Old are inverse permutations of 0..v-1. A nil order fits
// every v.
func (o *Order) Validate(v int) error {
	if o == nil {
		return nil
	}
	if len(o.New) != v || len(o.Old) != v {
		return fmt.Errorf("chunk: order of %d and %d entries for %d vertices", len(o.New), len(o.Old), v)
	}
	i := First(v, func(lo, hi int) int {
		for i := lo; i < hi; i++ {
			if n := o.New[i]; int64(n) >= int64(v) || o.Old[n] != uint32(i) {
				return i
			}
		}
		return -1
	})
	if i >= 0 {
		return fmt.Errorf("chunk: order is not a permutation: vertex %d has new id %d, whose old id is another", i, o.New[i])
	}
	return nil
}

// IsIdentity reports whether o, which must be valid, is the identity.
func (o *Order) IsIdentity() bool {
	return o == nil || First(len(o.New), func(lo, hi int) int {
		for i := lo; i < hi; i++ {
			if o.New[i] != uint32(i) {
				return i
			}
		}
		return -1
	}) < 0
}

// newIDs is the table from old to new ids, or nil for the identity.
func (o *Order) newIDs() []uint32 {
	if o.IsIdentity() {
		return nil
	}
	return o.New
}
