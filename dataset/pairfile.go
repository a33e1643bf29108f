package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sagann/internal/words"
)

// usualScore are names of columns that predictions and evaluation write, and that files of pairs need not have.
var usualScore = slices.Concat(usualLabel, []string{"probability"})

// pairEnds are the ids of the vertices that may stand first and second in pairs: of a relation between two types, those of the one and of the
// other, which are numbered behind the first.
type pairEnds struct {
	of   [2]*Data
	ids  [2]*idTable
	at   [2]uint32
	name [2]string // of their types; "" where there is one
}

func endsOfPairs(d *Data) *pairEnds {
	x := &pairEnds{of: [2]*Data{d, d}}
	if k := d.Vertices.Kinds; k != nil {
		r := &k.Graph.Relations[k.Relation]
		for i, t := range []int{r.Source, r.Target} {
			x.of[i], x.name[i] = k.Graph.Types[t].Rows, k.Graph.Types[t].Name
		}
		x.at[1] = k.behind()
	}
	x.ids[0] = x.of[0].finder()
	if x.ids[1] = x.ids[0]; x.of[1] != x.of[0] {
		x.ids[1] = x.of[1].finder()
	}
	return x
}

// find is the number in pairs of the vertex with an id that stands first (0) or second (1).
func (x *pairEnds) find(end int, id []byte) (uint32, error) {
	v, err := x.ids[end].find(id, x.of[end].Edges.V)
	if err != nil && x.name[end] != "" {
		err = fmt.Errorf("%w (type %.40s)", err, x.name[end])
	}
	return v + x.at[end], err
}

// isRow tells whether fields, the first of a file, are no heading.
func (x *pairEnds) isRow(fields []string) bool {
	return slices.ContainsFunc(fields, func(id string) bool {
		_, first := x.find(0, []byte(id))
		_, second := x.find(1, []byte(id))
		return first == nil || second == nil
	})
}

// file opens a table with so many columns, with ids of vertices in them; known are headings of other columns.
func (x *pairEnds) file(path string, known []string, columns ...int) (*tableFile, error) {
	f, err := openTable(path, tableOptions{ids: true, known: known, row: x.isRow})
	if err == nil && !slices.Contains(columns, len(f.columns)) {
		err = errors.Join(fmt.Errorf("%s: %d columns; want %s", path, len(f.columns), columnsText(columns)), f.Close())
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// swapped is an error if the columns that should have first and second ends are named after the types of the other.
func (x *pairEnds) swapped(f *tableFile, first, second int) error {
	if is := strings.EqualFold; f.headed && x.name[0] != x.name[1] && (is(f.columns[first], x.name[1]) || is(f.columns[second], x.name[0])) {
		return fmt.Errorf("%s:1: the heading has %q, %q; pairs are of types %.40s, %.40s, in this order", f.name, f.columns[first], f.columns[second], x.name[0], x.name[1])
	}
	return nil
}

// ReadPairs reads pairs of vertices of d from a text with two ids on each line, of a relation between two types (Hetero.Along) one of each; and
// behind them in all lines or in none the time of the pair. With types the name, or number, of the edge's type stands between the two ids. A
// heading is left out; one that names other columns, such as time, u, v, is an error. Columns that it names label or probability are not read,
// so that what evaluation writes can be read; left are their names. Errors name the file and line.
func ReadPairs(path string, d *Data, types bool) (p *Pairs, left []string, err error) {
	x := endsOfPairs(d)
	f, err := openTable(path, tableOptions{ids: true, row: x.isRow})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var at []int // the columns that are read
	for i, name := range f.columns {
		if f.headed && i > 0 && isUsual(name, usualScore) {
			left = append(left, name)
			continue
		}
		at = append(at, i)
	}
	number, want, second := map[string]uint32(nil), "2 or 3 columns: the ids of two vertices and, of links by time, a time", 1
	if types {
		number, want, second = typeNumbers(d), "3 columns: source, relation and target", 2
	}
	if n := len(at); n != 3 && (n != 2 || types) {
		beside := ""
		if left != nil {
			beside = " beside " + listed(left)
		}
		return nil, nil, fmt.Errorf("%s: %d columns%s; want %s", path, n, beside, want)
	}
	if err := errors.Join(f.endsAt(at[0], at[second]), x.swapped(f, at[0], at[second])); err != nil {
		return nil, nil, err
	}
	timed := !types && len(at) == 3
	if timed && f.headed && isUsual(f.columns[at[2]], slices.Concat(usualWeight, usualType)) {
		return nil, nil, fmt.Errorf("%s:1: the heading has %q as column %d; a third column of pairs has times", path, f.columns[at[2]], at[2]+1)
	}
	p = &Pairs{}
	err = f.eachRow(func(row [][]byte) error {
		u, err := x.find(0, row[at[0]])
		v, no := x.find(1, row[at[second]])
		if err = errors.Join(err, no); err != nil {
			return f.errorf("%w", err)
		}
		switch {
		case timed:
			t, err := f.time(row, at[2])
			if err != nil {
				return err
			}
			p.Time = append(p.Time, t)
		case types:
			typ, err := typeOf(number, row[at[1]])
			if err != nil {
				return f.errorf("%w", err)
			}
			p.Type = append(p.Type, typ)
		}
		p.add(u, v)
		return nil
	})
	if err == nil && p.Len() == 0 {
		err = fmt.Errorf("%s: no pairs", path)
	}
	return p, left, err
}

// typeOf is the number of a type of edges by its name.
func typeOf(number map[string]uint32, name []byte) (uint32, error) {
	typ, is := number[string(bytes.TrimSpace(name))]
	if !is {
		return 0, errors.New(words.Text("relation %.40q: the data have no edge of it; they have %d {relation|relations}", name, len(number)))
	}
	return typ, nil
}
