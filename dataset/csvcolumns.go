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
			name = fmt.Sprint(i + 1)
			t.columns[i] = name
		}
		if seen[name] {
			return t.errorf("two columns are named %.40q", name)
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
		if slices.ContainsFunc(o.known, func(k string) bool { return strings.EqualFold(k, name) }) {
			return true, nil
		}
		if _, err := parseFloat([]byte(name)); err == nil {
			numbers++
		}
	}
	if numbers > 0 {
		return false, nil
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
	for _, f := range row {
		if _, err := parseFloat(bytes.TrimSpace(f)); err == nil {
			return true, nil
		}
	}
	if len(row) == 1 {
		return true, nil
	}
	if o.row != nil {
		return !o.row(t.columns), nil
	}
	return false, fmt.Errorf("%s:1: %.80q may be a heading or a row: --heading yes or no says which", t.name, strings.Join(t.columns, string(t.sep)))
}

// find is the index of the column with that name. If name is "", it is the column with the first of the
// usual names that exists, or -1.
func (t *tableFile) find(name string, usual ...string) (int, error) {
	if name != "" {
		if i := slices.Index(t.columns, name); i >= 0 {
			return i, nil
		}
		return -1, fmt.Errorf("%s:1: no column %q; there are %s", t.name, name, t.list())
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

// match lists the columns that match one of the patterns, in the table's order.
func (t *tableFile) match(patterns []string) ([]int, error) {
	found := make([]bool, len(t.columns))
	for _, p := range patterns {
		any := false
		for i, c := range t.columns {
			ok, err := path.Match(p, c)
			if err != nil {
				return nil, fmt.Errorf("the pattern %q of columns: %w", p, err)
			}
			found[i] = found[i] || ok
			any = any || ok
		}
		if !any {
			return nil, fmt.Errorf("%s:1: no column fits %q; there are %s", t.name, p, t.list())
		}
	}
	var out []int
	for i, ok := range found {
		if ok {
			out = append(out, i)
		}
	}
	return out, nil
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
func (t *tableFile) list() string {
	const most = 20
	text := strings.Join(t.columns[:min(most, len(t.columns))], ", ")
	if n := len(t.columns); n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	}
	return fmt.Sprintf("%.400s", text)
}
