package dataset

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// idTable numbers the ids of vertices. Ids are numbers if all of them are whole numbers, and texts
// otherwise.
type idTable struct {
	numbers []uint64
	place   map[uint64]uint32
	names   []string
	named   map[string]uint32 // used instead of place if some id is not a number
	same    bool              // the id of vertex v is v
	column  string            // the table and column that ids are read from
}

// plainNumber reads an id that is a whole number without leading zeros.
func plainNumber(id []byte) (uint64, bool) {
	if len(id) == 0 || len(id) > 20 || len(id) > 1 && id[0] == '0' {
		return 0, false
	}
	n, err := parseUint(id)
	return n, err == nil
}

// add gives an id the next number; isNew is false if it has a number already.
func (t *idTable) add(id []byte) (isNew bool, err error) {
	id = bytes.TrimSpace(id)
	if len(id) == 0 {
		return false, fmt.Errorf("the id is empty")
	}
	if t.named == nil {
		if n, ok := plainNumber(id); ok {
			if t.place == nil {
				t.place = map[uint64]uint32{}
			}
			if _, ok := t.place[n]; ok {
				return false, nil
			}
			if len(t.numbers) == math.MaxUint32 {
				return false, fmt.Errorf("more than 2^32 vertices")
			}
			t.place[n] = uint32(len(t.numbers))
			t.numbers = append(t.numbers, n)
			return true, nil
		}
		t.named = make(map[string]uint32, len(t.numbers))
		for v, n := range t.numbers {
			t.names = append(t.names, strconv.FormatUint(n, 10))
			t.named[t.names[v]] = uint32(v)
		}
		t.numbers, t.place = nil, nil
	}
	if _, ok := t.named[string(id)]; ok {
		return false, nil
	}
	if len(t.names) == math.MaxUint32 {
		return false, fmt.Errorf("more than 2^32 vertices")
	}
	name := string(id)
	t.named[name] = uint32(len(t.names))
	t.names = append(t.names, name)
	return true, nil
}

func (t *idTable) len() int {
	if t.named != nil {
		return len(t.names)
	}
	return len(t.numbers)
}

// seal sets t.same, when all ids were added.
func (t *idTable) seal() {
	if t.named != nil {
		return
	}
	for v, n := range t.numbers {
		if n != uint64(v) {
			return
		}
	}
	t.same, t.place = true, nil
}

// ascending numbers ids that are whole numbers in ascending order. With RelabelAuto it keeps the ids
// unless more than half of the numbers from 0 to the largest id are missing.
func (t *idTable) ascending(relabel Relabel, edges int) (vertices int, err error) {
	slices.Sort(t.numbers)
	largest := t.numbers[len(t.numbers)-1]
	if relabel == RelabelNever || relabel == RelabelAuto && largest/2 < uint64(len(t.numbers)) {
		n := uint64(len(t.numbers))
		t.same, t.place, t.numbers = true, nil, nil
		if largest == math.MaxUint64 {
			return 0, fmt.Errorf("vertex id %d is too large", largest)
		}
		if n == largest+1 {
			return int(n), nil
		}
		return int(largest + 1), checkVertexCount(largest+1, edges)
	}
	for v, n := range t.numbers {
		t.place[n] = uint32(v)
	}
	return len(t.numbers), nil
}

// find is the vertex of an id.
func (t *idTable) find(id []byte, vertices int) (uint32, error) {
	id = bytes.TrimSpace(id)
	if t.named != nil {
		if v, ok := t.named[string(id)]; ok {
			return v, nil
		}
		return 0, fmt.Errorf("%.40q is not a vertex%s", id, t.hint())
	}
	n, ok := plainNumber(id)
	if !ok {
		return 0, fmt.Errorf("%.40q is not a vertex%s", id, t.hint())
	}
	if t.same {
		if n >= uint64(vertices) {
			return 0, fmt.Errorf("vertex %d: ids must be below %d%s", n, vertices, t.hint())
		}
		return uint32(n), nil
	}
	v, ok := t.place[n]
	if !ok {
		return 0, fmt.Errorf("%d is not a vertex%s", n, t.hint())
	}
	return v, nil
}

// hint says, for errors, where the ids of vertices come from.
func (t *idTable) hint() string {
	if t.column == "" {
		return ""
	}
	return fmt.Sprintf("; ids are column %q (--id)", t.column)
}

// give sets the ids of d.
func (t *idTable) give(d *Data) {
	switch {
	case t.named != nil:
		d.Vertices.Names = t.names
	case !t.same:
		d.Vertices.IDs = t.numbers
	}
}
