package dataset

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sagann/dataset/npy"
)

// finder is a table of the ids of the vertices of d.
func (d *Data) finder() *idTable {
	t := &idTable{ordered: true, numbers: d.Vertices.IDs}
	switch {
	case d.Vertices.Names != nil:
		t.keepTexts()
		for v, name := range d.Vertices.Names {
			key := []byte(name)
			if whole, _, ok := wholeID(key); ok {
				key = whole
			}
			if _, known := t.named[string(key)]; !known {
				t.named[string(key)] = uint32(v)
			}
		}
	case t.numbers != nil:
		t.place = make(map[uint64]uint32, len(t.numbers))
		for v, n := range t.numbers {
			t.place[n] = uint32(v)
		}
	default:
		t.same, t.first = true, d.Vertices.First
	}
	return t
}

// fileOf opens a text with ids of vertices, which has one of these numbers of columns. A first line without numbers is a heading if none of
// its fields is a vertex, or if one of them is a known name.
func (d *Data) fileOf(path string, t *idTable, known []string, columns ...int) (*tableFile, error) {
	isRow := func(fields []string) bool {
		return slices.ContainsFunc(fields, func(id string) bool { _, err := t.find([]byte(id), d.Edges.V); return err == nil })
	}
	o := tableOptions{row: isRow, ids: true, known: known}
	if len(columns) == 1 && columns[0] == 1 { // of ids
		if o.known = slices.Concat(usualID, []string{"name"}); !t.texts {
			o.ids, o.row = false, func([]string) bool { return false }
		}
	}
	f, err := openTable(path, o)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(columns, len(f.columns)) {
		f.Close()
		return nil, fmt.Errorf("%s: %d columns; want %s", path, len(f.columns), columnsText(columns))
	}
	return f, nil
}

// endsAt returns an error if a heading says that sources and targets are not in these columns, counted from 0.
func (t *tableFile) endsAt(source, target int) error {
	if !t.headed {
		return nil
	}
	for i, name := range t.columns {
		if i != source && isUsual(name, usualSource) || i != target && isUsual(name, usualTarget) || (i == source || i == target) && isUsual(name, usualTime) {
			return fmt.Errorf("%s:1: the heading has %q as column %d; sources are in column %d and targets in column %d of such a file", t.name, name, i+1, source+1, target+1)
		}
	}
	return nil
}

func columnsText(columns []int) string {
	text := strconv.Itoa(columns[0])
	for _, n := range columns[1:] {
		text += " or " + strconv.Itoa(n)
	}
	return text
}

// ReadVertices reads vertices of d from a text with an id on each line, or from a .npy of numbers: ids or, where ids are texts, numbers of
// vertices in the order of the data, from 0 on. It returns their numbers. Errors name the file and the line or place.
func ReadVertices(path string, d *Data) ([]uint32, error) {
	t := d.finder()
	var out []uint32
	if filepath.Ext(path) == ".npy" {
		numbers, err := listedNumbers(path, d.Edges.V)
		for i, n := range numbers {
			v := uint32(n)
			if t.texts {
				if n < 0 || n >= int64(d.Edges.V) {
					return nil, fmt.Errorf("%s: number %d is %d; vertices have names, and numbers from 0 to %d", path, i, n, d.Edges.V-1)
				}
			} else if v, err = t.find(strconv.AppendInt(nil, n, 10), d.Edges.V); err != nil {
				return nil, fmt.Errorf("%s: number %d: %w", path, i, err)
			}
			out = append(out, v)
		}
		return out, err
	}
	f, err := d.fileOf(path, t, nil, 1)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = f.eachRow(func(row [][]byte) error {
		v, err := t.find(row[0], d.Edges.V)
		if err != nil {
			return f.errorf("%w", err)
		}
		out = append(out, v)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: no vertices", path)
	}
	return out, err
}

// listedNumbers reads a list of numbers of vertices, or of ids, from a .npy. v is how many vertices there are.
func listedNumbers(path string, v int) ([]int64, error) {
	array, err := npy.Read(path)
	if err != nil {
		return nil, err
	}
	const want = "a list of ids is wanted, as numpy.flatnonzero makes of a mask"
	_, mask := array.Data.([]bool)
	wide := 0
	for _, n := range array.Shape {
		if n > 1 {
			wide++
		}
	}
	switch {
	case mask:
		return nil, fmt.Errorf("%s: booleans; %s", path, want)
	case wide > 1:
		return nil, fmt.Errorf("%s: shape %v; %s", path, array.Shape, want)
	case array.Len() == 0:
		return nil, fmt.Errorf("%s: no vertices", path)
	}
	numbers, err := array.Int64s()
	if err == nil && v > 2 && len(numbers) == v && !slices.ContainsFunc(numbers, func(n int64) bool { return n != 0 && n != 1 }) {
		return nil, fmt.Errorf("%s: a 0 or 1 for each of %d vertices; %s", path, v, want)
	}
	return numbers, err
}

// FindVertices is the vertices of d with these ids. The error names the first that is not there.
func FindVertices(ids []string, d *Data) ([]uint32, error) {
	t := d.finder()
	var out []uint32
	for _, id := range ids {
		v, err := t.find([]byte(strings.TrimSpace(id)), d.Edges.V)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// ReadLabels reads a label for each vertex of d: from a .npy of whole numbers in the order of the data; or from a text with a label on each
// line, in this order, or with an id and a label. Labels are whole numbers, with -1 for none, or words, which are numbered by the alphabet. Of
// numbers some of which are negative or beyond 31 bits the different ones are numbered in ascending order; names lists what was numbered. Errors name
// the file and line.
func ReadLabels(path string, d *Data) (labels []int32, names []string, err error) {
	if filepath.Ext(path) == ".npy" {
		array, err := npy.Read(path)
		if err != nil {
			return nil, nil, err
		}
		if labels, err = array.Int32s(); err != nil {
			return nil, nil, err
		}
		for i, x := range labels {
			if x < -1 {
				return nil, nil, fmt.Errorf("%s: label %d: must be -1 for none, or from 0 on", array.Where(i), x)
			}
		}
		return labels, nil, nil
	}
	t := d.finder()
	f, err := d.fileOf(path, t, nil, 1, 2)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	c, at := &classText{most: math.MaxInt32}, []uint32(nil)
	read := func(row [][]byte) error {
		if len(row) == 2 {
			v, err := t.find(row[0], d.Edges.V)
			if err != nil {
				return f.errorf("%w", err)
			}
			at = append(at, v)
		}
		if err := c.add(bytes.TrimSpace(row[len(row)-1])); err != nil {
			return f.errorf("%w", err)
		}
		return nil
	}
	if err := f.eachRow(read); err != nil {
		return nil, nil, err
	}
	v := d.Edges.V
	if at == nil && len(c.of) == v+1 { // the first line is a heading
		first := c.texts[0]
		if c.of = c.of[1:]; !slices.Contains(c.of, 0) && !isNumber([]byte(first)) {
			c.drop()
		} else {
			return nil, nil, fmt.Errorf("%s: %d labels for %d vertices", path, v+1, v)
		}
	}
	if at == nil && len(c.of) != v {
		return nil, nil, fmt.Errorf("%s: %d labels for %d vertices; a line with an id and a label is of one vertex", path, len(c.of), v)
	}
	list, names := c.marks()
	if len(c.texts) == 0 {
		return nil, nil, fmt.Errorf("%s: no vertex has a label", path)
	}
	if at == nil {
		return list, names, nil
	}
	labels = slices.Repeat([]int32{math.MinInt32}, v)
	for i, u := range at {
		if labels[u] != math.MinInt32 {
			return nil, nil, fmt.Errorf("%s: vertex %s has two labels", path, d.ID(int(u)))
		}
		labels[u] = list[i]
	}
	for u, l := range labels {
		labels[u] = max(l, -1)
	}
	return labels, names, nil
}

// marks are the labels as they are, if all are whole numbers from 0 to the largest int32; others are numbered, and names lists them.
func (c *classText) marks() (list []int32, names []string) {
	values, fit := make([]int64, len(c.texts)), true
	for i, text := range c.texts {
		n, err := parseInt([]byte(text))
		if err != nil {
			values = nil
			break
		}
		values[i], fit = n, fit && n >= 0 && n <= math.MaxInt32
	}
	to := make([]int32, len(c.texts))
	switch {
	case values == nil:
		names = slices.Sorted(slices.Values(c.texts))
		for i, text := range c.texts {
			k, _ := slices.BinarySearch(names, text)
			to[i] = int32(k)
		}
	case fit:
		for i, n := range values {
			to[i] = int32(n)
		}
	default:
		to, names, _ = classesOf(values)
	}
	for _, k := range c.of {
		if k >= 0 {
			k = to[k]
		}
		list = append(list, max(k, -1))
	}
	return list, names
}

// drop forgets the first text, which no row has.
func (c *classText) drop() {
	c.texts = c.texts[1:]
	for i := range c.of {
		c.of[i] = max(c.of[i]-1, -1)
	}
}
