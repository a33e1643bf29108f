package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// idTable numbers the ids of vertices, for every reader of texts. An id that is a whole number is this number, however it is
// written: 7, 007 and 7.0 are one vertex. Every other id is its text.
//
// The ids of a table of vertices (ordered) are numbered in its order. Otherwise ids are those that occur at edges: numbers are
// numbered in ascending order, and if some ids are words, all are numbered in the order in which they occur.
type idTable struct {
	ordered bool
	texts   bool // ids are kept as texts: some are words, or numbers that uint64 does not give back as they were written

	set     idSet             // numbers, unless ordered or texts
	numbers []uint64          // numbers, if ordered and not texts
	place   map[uint64]uint32 // of numbers
	names   []string          // texts, as first written
	named   map[string]uint32 // of texts, by their key

	words  bool      // some id is no whole number
	twice  [2]string // two ways in which an id is written
	same   bool      // the id of vertex v is v + first
	first  uint64
	column string   // the column of the table of vertices that has the ids
	added  *idTable // nil, or ids of vertices that are numbered behind these
}

// errTexts says that the ids at edges must be read again, as texts.
var errTexts = errors.New("ids that are texts")

// wholeID reads an id that is a whole number: its digits without leading zeros, with a minus if it is negative. form says that
// the number alone does not give the id back as it is written. A fraction of zeros, as in 7.0, is left out, and so is the form of numbers
// that programs write with an exponent, 7.0e+00 and 1e+05; 1e5 is a text.
func wholeID(id []byte) (key []byte, form, ok bool) {
	digits, minus := id, false
	if len(id) > 1 && (id[0] == '-' || id[0] == '+') {
		digits, minus, form = id[1:], id[0] == '-', true
	}
	if point := bytes.IndexByte(digits, '.'); point > 0 && !bytes.ContainsAny(digits, "eE") {
		if len(bytes.Trim(digits[point+1:], "0")) > 0 {
			return nil, false, false
		}
		digits = digits[:point]
	}
	if len(digits) == 0 {
		return nil, false, false
	}
	if at := bytes.IndexAny(id, "eE"); at > 0 && (bytes.IndexByte(id[:at], '.') > 0 || at+1 < len(id) && id[at+1] == '+') {
		x, err := parseFloat(id)
		if err != nil || x != math.Trunc(x) || math.Abs(x) >= 1<<53 {
			return nil, false, false
		}
		return strconv.AppendInt(nil, int64(x), 10), x < 0, true
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return nil, false, false
		}
	}
	short := bytes.TrimLeft(digits[:len(digits)-1], "0")
	key = digits[len(digits)-1-len(short):]
	form = form || len(key) < len(digits)
	if minus && string(key) != "0" {
		key = append([]byte{'-'}, key...)
	}
	return key, form, true
}

// plainNumber reads an id that uint64 gives back as it is written, but for a fraction of zeros.
func plainNumber(id []byte) (n uint64, ok bool) {
	if n, err := parseUint(id); err == nil && (id[0] != '0' || len(id) == 1) {
		return n, true
	}
	key, form, ok := wholeID(id)
	if !ok || form {
		return 0, false
	}
	n, err := parseUint(key)
	return n, err == nil
}

// add gives an id a number, if it has none. key is one number for each id.
func (t *idTable) add(id []byte) (key uint64, isNew bool, err error) {
	id = bytes.TrimSpace(id)
	if len(id) == 0 {
		return 0, false, errors.New("the id is empty")
	}
	if !t.texts {
		n, ok := plainNumber(id)
		switch {
		case ok && !t.ordered:
			return n, t.set.add(n), nil
		case ok:
			v, known := t.place[n]
			if !known {
				v = uint32(len(t.numbers))
				if t.place == nil {
					t.place = map[uint64]uint32{}
				}
				t.place[n] = v
				t.numbers = append(t.numbers, n)
			}
			return uint64(v), !known, checkCount(len(t.numbers))
		case !t.ordered:
			return 0, false, errTexts
		}
		t.keepTexts()
	}
	return t.addText(id)
}

// keepTexts begins to keep ids as texts.
func (t *idTable) keepTexts() {
	t.texts, t.named = true, make(map[string]uint32, len(t.numbers))
	for v, n := range t.numbers {
		t.names = append(t.names, strconv.FormatUint(n, 10))
		t.named[t.names[v]] = uint32(v)
	}
	t.numbers, t.place, t.set = nil, nil, idSet{}
}

func (t *idTable) addText(id []byte) (uint64, bool, error) {
	key, form, whole := wholeID(id)
	name := id
	if !whole {
		key = id
		if err := checkID(id, t.ordered); err != nil {
			return 0, false, err
		}
	} else if !form {
		name = key
	}
	if v, ok := t.named[string(key)]; ok {
		if first := t.names[v]; t.twice[0] == "" && first != string(name) {
			t.twice = [2]string{first, string(name)}
		}
		return uint64(v), false, nil
	}
	v := uint32(len(t.names))
	t.words = t.words || !whole
	t.named[string(key)] = v
	t.names = append(t.names, string(name))
	return uint64(v), true, checkCount(len(t.names))
}

func checkCount(ids int) error {
	if ids > math.MaxUint32 {
		return errors.New("more than 2^32 vertices")
	}
	return nil
}

func (t *idTable) len() int {
	switch {
	case t.texts:
		return len(t.names)
	case t.ordered:
		return len(t.numbers)
	}
	return t.set.count
}

// seal ends the ids of a table of vertices.
func (t *idTable) seal() {
	for v, n := range t.numbers {
		if n != uint64(v) {
			return
		}
	}
	if !t.texts {
		t.same, t.place = true, nil
	}
}

// sealEnds ends the ids of so many edges and returns the number of vertices. Only ids that occur are vertices, unless relabel says
// that the numbers from 0 to the largest id are.
func (t *idTable) sealEnds(relabel Relabel, edges int) (vertices int, err error) {
	if t.texts {
		if !t.words {
			t.sortNumbers()
		}
		return len(t.names), nil
	}
	largest := t.set.largest
	if relabel == RelabelNever {
		if largest == math.MaxUint64 {
			return 0, fmt.Errorf("vertex id %d is too large", largest)
		}
		t.same, t.set = true, idSet{}
		if err := checkVertexCount(largest+1, edges); err != nil {
			return 0, fmt.Errorf("largest vertex id %d: %w", largest, err)
		}
		return int(largest + 1), nil
	}
	n := t.set.count
	t.set.rankable()
	if relabel == RelabelAuto && largest+1 == uint64(n) {
		t.same, t.set = true, idSet{}
	}
	return n, checkCount(n)
}

// sortNumbers numbers texts, all of which are whole numbers, in ascending order.
func (t *idTable) sortNumbers() {
	type item struct{ key, name string }
	items := make([]item, len(t.names))
	for key, v := range t.named {
		items[v] = item{key, t.names[v]}
	}
	slices.SortFunc(items, func(a, b item) int { return compareWhole(a.key, b.key) })
	for v, x := range items {
		t.names[v], t.named[x.key] = x.name, uint32(v)
	}
}

// compareWhole compares whole numbers of any size, as wholeID writes them.
func compareWhole(a, b string) int {
	minus := strings.HasPrefix(a, "-")
	if minus != strings.HasPrefix(b, "-") {
		return map[bool]int{true: -1, false: 1}[minus]
	}
	c := cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	if minus {
		return -c
	}
	return c
}

// find is the vertex of an id, of so many.
func (t *idTable) find(id []byte, vertices int) (uint32, error) {
	if t.added == nil {
		return t.findOwn(id, vertices)
	}
	n := vertices - t.added.len()
	v, err := t.findOwn(id, n)
	if err != nil {
		if v, err = t.added.findOwn(id, t.added.len()); err == nil {
			return uint32(n) + v, nil
		}
		err = fmt.Errorf("%.40q is neither a vertex of the graph nor one of those that are added", bytes.TrimSpace(id))
	}
	return v, err
}

func (t *idTable) findOwn(id []byte, vertices int) (uint32, error) {
	id = bytes.TrimSpace(id)
	if t.texts {
		key, _, whole := wholeID(id)
		if !whole {
			key = id
		}
		if v, ok := t.named[string(key)]; ok {
			return v, nil
		}
		return 0, fmt.Errorf("%.40q is not a vertex%s", id, t.hint())
	}
	n, err := parseUint(id)
	if err != nil {
		key, _, ok := wholeID(id)
		if ok {
			n, err = parseUint(key)
		}
		if !ok || err != nil {
			return 0, fmt.Errorf("%.40q is not a vertex%s", id, t.hint())
		}
	}
	if t.same {
		if n-t.first >= uint64(vertices) {
			if t.first > 0 {
				return 0, fmt.Errorf("vertex %d: ids are %d to %d%s", n, t.first, t.first+uint64(vertices)-1, t.hint())
			}
			return 0, fmt.Errorf("vertex %d: ids must be below %d%s", n, vertices, t.hint())
		}
		return uint32(n - t.first), nil
	}
	v, ok := t.place[n]
	if !t.ordered {
		v, ok = t.set.rank(n)
	}
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

// give sets the ids of d, and reports how they were numbered.
func (t *idTable) give(d *Data) {
	switch {
	case t.texts:
		d.Vertices.Names = t.names
	case t.ordered && !t.same:
		d.Vertices.IDs = t.numbers
	case !t.same:
		d.Vertices = t.set.naming()
	}
	if t.twice[0] != "" {
		d.warn("%q and %q are one vertex: ids that are whole numbers are compared as numbers", t.twice[0], t.twice[1])
	}
	switch {
	case t.ordered || !d.HasIDs():
	case t.words:
		d.change("%d {id was|ids were} numbered from 0 on, in the order in which they occur", t.len())
	default:
		d.change("%d {id was|ids were} numbered from 0 on, in ascending order", t.len())
	}
}

// warnLinks warns if no id is both a source and a target. fine says that some is, or that the file is a plain list of two numbers a line.
func (t *idTable) warnLinks(d *Data, path string, fine bool) {
	if !fine {
		d.warn("%s: no id is both a source and a target: every edge goes from one set of vertices to another; where that is not meant, other columns are the ends (saga data convert --edges FILE --source COL --target COL), or ids are written in two ways", path)
	}
}

// linkedEnds looks for an id that is both a source and a target.
type linkedEnds struct {
	sources, targets idSet
	both             bool
}

// see takes the keys of the ends of an edge.
func (l *linkedEnds) see(src, dst uint64) {
	if l.both || src == dst {
		l.both = true
		return
	}
	l.sources.add(src)
	l.targets.add(dst)
	if l.both = l.targets.has(src) || l.sources.has(dst); l.both {
		l.sources, l.targets = idSet{}, idSet{}
	}
}
