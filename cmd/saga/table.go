package main

import (
	"bufio"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sagann/dataset/npy"
	"sagann/internal/cli"
	"sagann/internal/safetensors"
)

// canWrite says whether a table can be put at path, which a flag names and which has one of the endings, before
// the work begins.
func canWrite(flag, path string, endings ...string) error {
	if !slices.Contains(endings, filepath.Ext(path)) {
		return cli.Usagef("--%s %s: the ending must be %s", flag, path, strings.Join(endings, " or "))
	}
	return cli.CanWrite(path)
}

// csvForm says how texts stand in a .csv.
type csvForm struct {
	CSVSafe bool `name:"csv-safe" help:"In a .csv, names that a spreadsheet could take for a formula (they begin with = + - @) stand behind an apostrophe, and control characters in names as \\x1b and the like."`
}

// idle says that the form has no effect if nothing is written as .csv.
func (f csvForm) idle(a *app, paths ...string) {
	if !slices.ContainsFunc(paths, func(path string) bool { return filepath.Ext(path) == ".csv" }) {
		a.Idle("what is not written as .csv", "csv-safe")
	}
}

// plainLine replaces what cli.Plain leaves.
var plainLine = strings.NewReplacer("\n", `\x0a`, "\t", `\x09`)

// field is text that may hold commas, quotes or ends of lines, which go in quotes.
func (f csvForm) field(text string) string {
	if f.CSVSafe {
		text = plainLine.Replace(cli.Plain(text))
		if _, err := strconv.ParseFloat(text, 64); err != nil && text != "" && strings.ContainsRune("=+-@", firstOf(text)) {
			text = "'" + text
		}
	}
	if !strings.ContainsAny(text, ",\"\r\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// firstOf is the first character of text that is no space, those of East Asian width as the common ones.
func firstOf(text string) rune {
	for _, r := range text {
		if 0xff01 <= r && r <= 0xff5e {
			r -= 0xff01 - '!'
		}
		if !unicode.IsSpace(r) {
			return r
		}
	}
	return ' '
}

// table says how numbers are written.
type table struct {
	csvForm
	path   string
	name   string           // of the tensor in a .safetensors
	row    string           // what a row is, such as vertex; the heading of a .csv
	column string           // what a column is, numbered when there are several
	ids    func(int) string // names of rows in a .csv; nil: their numbers
	shape  []int            // [V] or [V, columns]
	names  []string         // of columns, or of the classes in a single one; nil: numbers
}

// writeTable writes rows to t.path by its ending.
func writeTable[T float32 | int32 | uint8](t table, x []T) error {
	defer removedOnSignal(t.path)()
	switch filepath.Ext(t.path) {
	case ".npy":
		return npy.Write(t.path, t.shape, x)
	case ".safetensors":
		return cli.WriteWhole(t.path, func(w *bufio.Writer) error {
			return safetensors.Write(w, []safetensors.Tensor{{Name: t.name, Shape: t.shape, Data: x}}, map[string]string{"rows": t.row})
		})
	}
	return cli.WriteWhole(t.path, func(w *bufio.Writer) error {
		cols := 1
		w.WriteString(t.row)
		if len(t.shape) > 1 {
			cols = t.shape[1]
			for i := range cols {
				w.WriteByte(',')
				w.WriteString(t.field(className(t.names, i, t.column)))
			}
		} else {
			w.WriteString("," + t.column)
		}
		w.WriteByte('\n')
		var buf []byte
		for v := range t.shape[0] {
			buf = t.appendID(buf[:0], t.ids, v)
			for _, y := range x[v*cols : (v+1)*cols] {
				if buf = append(buf, ','); len(t.shape) == 1 && t.names != nil {
					buf = append(buf, t.field(className(t.names, int(y), ""))...)
				} else {
					buf = strconv.AppendFloat(buf, float64(y), 'g', -1, 32)
				}
			}
			w.Write(append(buf, '\n'))
		}
		return nil
	})
}

// className is the name of class k; where classes have none, its number after what.
func className(names []string, k int, what string) string {
	if k < len(names) {
		return names[k]
	}
	return what + strconv.Itoa(k)
}

// appendID appends the name of row v, or its number where ids is nil.
func (f csvForm) appendID(buf []byte, ids func(int) string, v int) []byte {
	if ids == nil {
		return strconv.AppendInt(buf, int64(v), 10)
	}
	return append(buf, f.field(ids(v))...)
}
