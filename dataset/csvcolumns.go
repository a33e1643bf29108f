package dataset

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

func (t *tableFile) checkHeading() error {
	t.textFile.line -= len(t.ahead)
	seen := map[string]bool{}
	for i, name := range t.columns {
		if name == "" { // pandas writes an empty name for the index
			if name = fmt.Sprint(i + 1); slices.Contains(t.columns, name) {
				name = "unnamed " + name
			}
			t.columns[i] = name
		}
		if seen[name] {
			return t.errorf("two columns are named %.40q: rename one of them; the ends of edges within one type are columns such as source,target", name)
		}
		seen[name] = true
	}
	return nil
}

// separator is the most frequent of comma, tab and semicolon in the line, outside of quotes. If none of
// these occurs, it is a blank.
func separator(line []byte) byte {
	count := map[byte]int{}
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if !quoted {
			count[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte{'\t', ';'} {
		if count[c] > count[best] {
			best = c
		}
	}
	if count[best] == 0 && count[' '] > 0 {
		return ' '
	}
	return best
}

// looksLikeHeading reports whether the first line names columns and has no values. It does if it has
// a known name, if it has words where the next line has numbers, or if o.row says that it is no row.
func (t *tableFile) looksLikeHeading(o tableOptions) (bool, error) {
	numbers := 0
	for _, name := range t.columns {
		if isNumber([]byte(name)) {
			numbers++
		} else if isUsual(name, o.known) {
			return true, nil
		}
	}
	if numbers > 0 {
		return false, nil
	}
	if o.ids {
		return len(t.columns) > 1 && !o.row(t.columns), nil
	}
	line, err := t.line()
	if err == io.EOF {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	second := slices.Clone(line)
	row, err := t.split(line)
	if err != nil {
		return false, err
	}
	if bytes.IndexByte(second, '"') >= 0 {
		second = slices.Clone(t.buf)
	}
	t.ahead = [][]byte{second}
	if slices.ContainsFunc(row, isNumber) {
		return true, nil
	}
	if len(row) == 1 {
		return true, nil
	}
	if o.row != nil {
		return !o.row(t.columns), nil
	}
	return false, fmt.Errorf("%s:1: %.80q may be a heading or a row: --heading yes or no says which", t.name, strings.Join(t.columns, string(t.sep)))
}

// find is the index of the column with that name, or with that number, from 1. If name is "", it is the column with the first of the
// usual names that exists, or -1.
func (t *tableFile) find(name string, usual ...string) (int, error) {
	if name != "" {
		if i, ok := position(name); ok {
			return i, t.checkPosition(name, i)
		}
		if i := slices.Index(t.columns, name); i >= 0 {
			return i, nil
		}
		return -1, &columnError{t.name, fmt.Sprintf("no column %q", name), name, t.list()}
	}
	for _, u := range usual {
		for i, c := range t.columns {
			if strings.EqualFold(u, c) {
				return i, nil
			}
		}
	}
	return -1, nil
}

// ofType is the only column with a usual name for the ids of vertices of a type; -1 if there is none, or several.
func (t *tableFile) ofType(of string) int {
	names, found := typeColumns(of), -1
	for i, c := range t.columns {
		if !isUsual(c, names) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// checkPosition checks column i, from 0, which a flag names by its number.
func (t *tableFile) checkPosition(flag string, i int) error {
	if i < 0 || i >= len(t.columns) {
		return fmt.Errorf("%s:1: no column %s: columns count from 1 to %d; there are %s", t.name, flag, len(t.columns), t.list())
	}
	if named := slices.Index(t.columns, flag); t.headed && named >= 0 && named != i {
		return fmt.Errorf("%s:1: column %s is %q, and column %d is named %q; a number is a position: rename the column", t.name, flag, t.columns[i], named+1, flag)
	}
	return nil
}

// match lists the columns that the patterns choose: those of each pattern in the table's order, behind those of the pattern before.
func (t *tableFile) match(patterns []string) ([]int, error) {
	var out []int
	take := func(i int) {
		if !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	for _, p := range patterns {
		if i, ok := position(p); ok {
			if err := t.checkPosition(p, i); err != nil {
				return nil, err
			}
			take(i)
			continue
		}
		any := false
		for i, c := range t.columns {
			ok, err := path.Match(p, c)
			if err != nil {
				return nil, fmt.Errorf("the pattern %q of columns: %w", p, err)
			}
			if ok {
				take(i)
				any = true
			}
		}
		if !any {
			return nil, &columnError{t.name, fmt.Sprintf("no column fits %q", p), p, t.list()}
		}
	}
	return out, nil
}

// columnError says that a table has no column of a name.
type columnError struct{ table, what, name, there string }

// Error implements error.
func (e *columnError) Error() string {
	return fmt.Sprintf("%s:1: %s; there are %s", e.table, e.what, e.there)
}

// names lists the names of columns; nil if the table has none.
func (t *tableFile) names(columns []int) (list []string) {
	if !t.headed {
		return nil
	}
	for _, i := range columns {
		list = append(list, t.columns[i])
	}
	return list
}

// list names the columns, for errors.
func (t *tableFile) list() string { return listColumns(t.columns) }

// findID is the column of ids: that of the flag, or with a usual name, or the only one whose name ends in id, or name, or the first.
func (t *tableFile) findID(flag string) (int, error) {
	at, err := t.find(flag, usualID...)
	if err != nil || at >= 0 {
		return at, err
	}
	var some []string
	for i, c := range t.columns {
		if c != "" && endsInID(c) {
			some, at = append(some, c), i
		}
	}
	if len(some) > 1 {
		return -1, fmt.Errorf("%s:1: which column has the ids of vertices, %s? --id COL names it", t.name, listColumns(some))
	}
	if len(some) == 0 {
		at, err = t.find("", "name")
	}
	return max(at, 0), err
}

// namesID reports whether a column is named as one of ids, or of names.
func namesID(column string) bool {
	return isUsual(column, usualID) || column != "" && endsInID(column) || isUsual(column, []string{"name"})
}
