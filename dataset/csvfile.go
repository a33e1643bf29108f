package dataset

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// tableOptions say how a table is read.
type tableOptions struct {
	heading string   // yes, no, or "" to look
	known   []string // names that show that the first line is a heading
}

// tableFile reads a table of CSV or TSV: fields parted by commas, semicolons or tabs,
// whichever stands in the first line, perhaps in double quotes, in which a quote is
// written twice and a line may end.
type tableFile struct {
	*textFile
	sep     byte
	columns []string // names, or "1", "2", … without a heading
	row     [][]byte // reused
	buf     []byte   // what row lies in
	ahead   [][]byte // lines that were read to look at them
}

// openTable opens path, or path+".gz", and reads its heading.
func openTable(path string, o tableOptions) (*tableFile, error) {
	f, err := openText(path)
	if err != nil {
		return nil, err
	}
	t, err := newTable(f, o)
	if err != nil {
		f.Close()
		return nil, err
	}
	return t, nil
}

func newTable(f *textFile, o tableOptions) (*tableFile, error) {
	t := &tableFile{textFile: f}
	line, err := t.line()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the table is empty", t.name)
	}
	if err != nil {
		return nil, err
	}
	first := slices.Clone(line)
	t.sep = separator(first)
	row, err := t.split(slices.Clone(first))
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(first, '"') >= 0 {
		first = slices.Clone(t.buf) // with the lines that quotes went on to
	}
	for _, f := range row {
		t.columns = append(t.columns, strings.TrimSpace(string(f)))
	}
	heading := o.heading == "yes"
	if o.heading == "" || o.heading == "auto" {
		if heading, err = t.looksLikeHeading(o.known); err != nil {
			return nil, err
		}
	}
	if heading {
		return t, t.checkHeading()
	}
	t.ahead = append([][]byte{first}, t.ahead...)
	t.textFile.line -= len(t.ahead)
	for i := range t.columns {
		t.columns[i] = fmt.Sprint(i + 1)
	}
	return t, nil
}

func (t *tableFile) checkHeading() error {
	t.textFile.line -= len(t.ahead)
	seen := map[string]bool{}
	for i, name := range t.columns {
		if name == "" { // as pandas writes the index
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

// separator is what stands most often in the line outside of quotes.
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
	for _, c := range []byte{'\t', ';', ' '} {
		if count[c] > count[best] {
			best = c
		}
	}
	if best == ' ' && (count[','] > 0 || count['\t'] > 0 || count[';'] > 0) {
		return ','
	}
	return best
}

// looksLikeHeading tells a first line that names columns from one of values: it holds
// a known name, or words where the next line holds numbers.
func (t *tableFile) looksLikeHeading(known []string) (bool, error) {
	numbers := 0
	for _, name := range t.columns {
		if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
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
	return false, fmt.Errorf("%s:1: %.80q may be a heading or a row: --heading yes or no says which", t.name, strings.Join(t.columns, string(t.sep)))
}

// line is the next line that is not blank.
func (t *tableFile) line() ([]byte, error) {
	if len(t.ahead) > 0 {
		line := t.ahead[0]
		t.ahead = t.ahead[1:]
		t.textFile.line++
		return line, nil
	}
	for {
		line, err := t.next()
		if err != nil || len(bytes.TrimSpace(line)) > 0 {
			return line, err
		}
	}
}

// eachRow calls fn for every row behind the heading; its fields are valid during the
// call only.
func (t *tableFile) eachRow(fn func(row [][]byte) error) error {
	for {
		line, err := t.line()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		row, err := t.split(line)
		if err != nil {
			return err
		}
		if len(row) != len(t.columns) {
			return t.errorf("%d fields, want %d", len(row), len(t.columns))
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// split cuts a line into fields and undoes quotes, reading on while one is open.
func (t *tableFile) split(line []byte) ([][]byte, error) {
	t.row = t.row[:0]
	if bytes.IndexByte(line, '"') < 0 {
		for {
			i := bytes.IndexByte(line, t.sep)
			if i < 0 {
				t.row = append(t.row, line)
				return t.row, nil
			}
			t.row = append(t.row, line[:i])
			line = line[i+1:]
		}
	}
	begin := t.textFile.line
	t.buf = append(t.buf[:0], line...)
	var field []byte
	for at := 0; ; {
		field = field[:0:0]
		if at < len(t.buf) && t.buf[at] == '"' {
			at++
			for {
				i := bytes.IndexByte(t.buf[at:], '"')
				if i < 0 { // the line ended inside the quotes
					more, err := t.next()
					if err == io.EOF {
						err = fmt.Errorf("%s:%d: a quote is not closed", t.name, begin)
					}
					if err == nil && len(t.buf)+len(more) > maxLine {
						err = fmt.Errorf("%s:%d: a row of more than %d MiB: is a quote not closed?", t.name, begin, maxLine>>20)
					}
					if err != nil {
						return nil, err
					}
					t.buf = append(append(t.buf, '\n'), more...)
					continue
				}
				field = append(field, t.buf[at:at+i]...)
				at += i + 1
				if at < len(t.buf) && t.buf[at] == '"' {
					field = append(field, '"')
					at++
					continue
				}
				break
			}
			if at < len(t.buf) && t.buf[at] != t.sep {
				return nil, t.errorf("field %d: %.20q follows the closing quote", len(t.row)+1, t.buf[at:])
			}
		} else {
			i := bytes.IndexByte(t.buf[at:], t.sep)
			if i < 0 {
				i = len(t.buf) - at
			}
			field = append(field, t.buf[at:at+i]...)
			at += i
		}
		t.row = append(t.row, field)
		if at >= len(t.buf) {
			return t.row, nil
		}
		at++ // the separator
	}
}

// find is the column of that name, or the first of some usual names when name is "";
// -1 when there is none of those.
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

// match lists the columns that fit one of the patterns, in the table's order.
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

// list names the columns, for errors.
func (t *tableFile) list() string {
	const most = 20
	text := strings.Join(t.columns[:min(most, len(t.columns))], ", ")
	if n := len(t.columns); n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	}
	return fmt.Sprintf("%.400s", text)
}
