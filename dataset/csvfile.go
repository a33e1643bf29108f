package dataset

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// tableOptions say how a table is read.
type tableOptions struct {
	heading string                     // "yes", "no", or "" to find out
	known   []string                   // names that only a heading has
	edges   bool                       // rows may end with the data of an edge that networkx writes
	counts  bool                       // the first row has counts and is left out
	ids     bool                       // a list of ids: where row cannot tell, the first line is a row
	row     func(fields []string) bool // if a heading and rows are both words: whether fields are a row; nil: unknown
}

// tableFile reads a table in CSV or TSV format. The first line decides what separates fields: commas,
// semicolons or tabs or, if it has none of these, runs of blanks and tabs. Fields may be in
// double quotes. A quoted field may contain line ends, and a quote in it is written twice.
type tableFile struct {
	*textFile
	sep     byte
	columns []string     // names, or "1", "2", … without a heading, and the names of data of edges
	headed  bool         // there is a heading
	data    []string     // names of the data of edges
	hasData bool         // rows end with such data
	row     [][]byte     // reused
	buf     []byte       // the memory of row
	ahead   [][]byte     // lines that were read ahead
	days    map[int]bool // by column of times: its rows are days or moments, not numbers of another unit
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
	line, err := t.firstRow(o.counts)
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the table is empty", t.name)
	}
	if err != nil {
		return nil, err
	}
	first := slices.Clone(line)
	if o.edges && o.heading != "yes" {
		rest, data, ok, err := cutEdgeData(first)
		if err != nil {
			return nil, t.errorf("%w", err)
		}
		t.data, t.hasData = data.keys, ok
		line = rest
	}
	t.sep = separator(line)
	row, err := t.split(slices.Clone(line))
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(first, '"') >= 0 {
		first = slices.Clone(t.buf) // with further lines, if a quoted field has line ends
	}
	for _, f := range row {
		t.columns = append(t.columns, strings.TrimSpace(string(f)))
	}
	t.headed = o.heading == "yes"
	if (o.heading == "" || o.heading == "auto") && !t.hasData {
		if t.headed, err = t.looksLikeHeading(o); err != nil {
			return nil, err
		}
	}
	if t.headed {
		return t, t.checkHeading()
	}
	t.ahead = append([][]byte{first}, t.ahead...)
	t.textFile.line -= len(t.ahead)
	for i := range t.columns {
		t.columns[i] = fmt.Sprint(i + 1)
	}
	t.columns = append(t.columns, t.data...)
	return t, nil
}

// firstRow is the first line that is neither blank nor a comment; if that has counts, the line behind it.
func (t *tableFile) firstRow(counts bool) ([]byte, error) {
	for {
		line, err := t.line()
		if err != nil || !isComment(bytes.TrimLeft(line, blanks)) {
			if counts && err == nil {
				return t.line()
			}
			return line, err
		}
	}
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
		if err == nil && !isComment(bytes.TrimLeft(line, blanks)) {
			err = t.inUTF8(line)
		}
		if err != nil || len(bytes.TrimSpace(line)) > 0 {
			return line, err
		}
	}
}

// eachRow calls fn for every row after the heading. The fields are valid during the
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
		row, err := t.fields(line)
		if err != nil {
			return err
		}
		if len(row) != len(t.columns) {
			return t.errorf("%d fields, want %d", len(row), len(t.columns))
		}
		if t.headed && len(row) > 1 && slices.EqualFunc(row, t.columns, func(f []byte, c string) bool { return string(bytes.TrimSpace(f)) == c }) {
			return t.errorf("the heading stands here again: tables that were joined have one heading")
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// fields is split for a row, which may end with the data of an edge.
func (t *tableFile) fields(line []byte) ([][]byte, error) {
	if !t.hasData {
		return t.split(line)
	}
	line, data, _, err := cutEdgeData(line)
	if err != nil {
		return nil, t.errorf("%w", err)
	}
	row, err := t.split(line)
	for _, key := range t.data {
		value, _ := data.value(key)
		row = append(row, []byte(value))
	}
	for _, key := range data.keys {
		if err == nil && !slices.Contains(t.data, key) {
			err = t.errorf("the edge has %q, which the first edge does not have; networkx.to_pandas_edgelist(G).to_csv(\"edges.csv\", index=False) writes a table of all", key)
		}
	}
	t.row = row
	return row, err
}

// split cuts a line into fields and removes quotes. It reads further lines while a quote is open.
func (t *tableFile) split(line []byte) ([][]byte, error) {
	t.row = t.row[:0]
	if t.sep == ' ' {
		line = bytes.Trim(line, blanks)
	}
	if bytes.IndexByte(line, '"') < 0 {
		for {
			end, next := t.cut(line)
			t.row = append(t.row, line[:end])
			if end == len(line) {
				return t.row, nil
			}
			line = line[next:]
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
					if err == nil {
						err = t.inUTF8(more)
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
			if end, _ := t.cut(t.buf[at:]); end > 0 {
				return nil, t.errorf("field %d: %.20q follows the closing quote", len(t.row)+1, t.buf[at:])
			}
		} else {
			end, _ := t.cut(t.buf[at:])
			field = append(field, t.buf[at:at+end]...)
			at += end
		}
		t.row = append(t.row, field)
		_, next := t.cut(t.buf[at:])
		if at >= len(t.buf) || t.sep == ' ' && at+next >= len(t.buf) {
			return t.row, nil
		}
		at += next
	}
}

const blanks = " \t"

// cut returns the end of the first field of line and the beginning of the next one. Both are len(line) if
// there is no next field.
func (t *tableFile) cut(line []byte) (end, next int) {
	if t.sep != ' ' {
		if end = bytes.IndexByte(line, t.sep); end < 0 {
			return len(line), len(line)
		}
		return end, end + 1
	}
	if end = bytes.IndexAny(line, blanks); end < 0 {
		return len(line), len(line)
	}
	return end, len(line) - len(bytes.TrimLeft(line[end:], blanks))
}
