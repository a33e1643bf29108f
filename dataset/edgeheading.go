package dataset

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// notWeights are headings of a third column with numbers that are not weights.
var notWeights = []string{
	"time", "timestamp", "ts", "unixtime", "unix_time", "date", "datetime", "day", "month", "year", "created_at",
	"type", "edge_type", "relation", "rel", "kind", "category", "label", "edge_label", "class", "sign",
	"id", "edge_id", "edgeid", "eid", "index",
}

// edgeNumbers are headings of a first column that numbers the edges.
var edgeNumbers = []string{"edge_id", "edgeid", "eid", "edge", "index", "row"}

// tableWay is the command, for error messages, that reads the columns of an edge list by name.
func tableWay(path, options string) string {
	return fmt.Sprintf("saga data convert --edges %s%s --out graph.saga", path, options)
}

// isHeading reports whether a line names columns: its first two fields are words.
func isHeading(line []byte) bool {
	a, rest := field(line)
	b, _ := field(rest)
	word := func(f []byte) bool {
		f = bytes.TrimLeft(f, `"'`)
		return len(f) > 0 && (f[0]|0x20 >= 'a' && f[0]|0x20 <= 'z' || f[0] == '_')
	}
	return word(a) && word(b)
}

// checkHeading returns an error if a heading says that the columns are others than those of an edge list:
// a source, a target and perhaps a weight.
func checkHeading(t *textFile, line []byte) error {
	var names []string
	for _, f := range fields(line, nil) {
		names = append(names, strings.ToLower(strings.Trim(string(f), `"'`)))
	}
	const byName = " --source COL --target COL"
	for i, name := range names {
		for place, usual := range [][]string{usualSource, usualTarget} {
			if i != place && slices.Contains(usual, name) {
				return t.errorf("the heading has %q as column %d; in an edge list columns 1 and 2 are source and target. By names: %s", name, i+1, tableWay(t.name, byName))
			}
		}
	}
	if len(names) > 2 && slices.Contains(edgeNumbers, names[0]) {
		return t.errorf("the heading has %q as column 1; in an edge list columns 1 and 2 are source and target. By names: %s", names[0], tableWay(t.name, byName))
	}
	if len(names) == 3 && slices.Contains(notWeights, names[2]) {
		return t.errorf("the heading has %q as column 3, which in an edge list is the weight of the edge. Without it, or with --weight %s or --edge-type %s: %s",
			names[2], names[2], names[2], tableWay(t.name, ""))
	}
	return nil
}
