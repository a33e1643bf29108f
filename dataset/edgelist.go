package dataset

import (
	"fmt"
	"math"
	"slices"

	"sagann/chunk"
)

// ScanEdges calls fn for every edge of the edge list at path, plain or gzip, in
// the order of the file. It holds one line in memory. A line has a
// source, a destination and perhaps a weight (1 when absent), separated by blanks,
// tabs, commas or semicolons. Lines that begin with # or % are comments. A
// first line of words is a heading; it is an error if it names other
// columns. An error of fn ends the scan and is returned with the file and line.
func ScanEdges(path string, fn func(src, dst uint64, weight float32) error) error {
	t, err := openText(path)
	if err != nil {
		return err
	}
	defer t.Close()
	return scanEdges(t, true, fn)
}

// scanEdges is ScanEdges for an open file. If the file could also be a table (table), the heading is checked, and
// errors name the command for tables. Files of OGB and TU sets cannot be tables.
func scanEdges(t *textFile, table bool, fn func(src, dst uint64, weight float32) error) error {
	way := func(what string) string {
		if !table {
			return ""
		}
		return "; " + what + ": " + tableWay(t.name, "")
	}
	end := func(side string, f []byte) (uint64, error) {
		id, err := parseUint(f)
		if err == nil {
			return id, nil
		}
		hint := ""
		if len(f) == 0 {
			hint = way("a table of other columns")
		} else if _, no := parseFloat(f); no != nil {
			hint = way("ids that are text")
		}
		return 0, t.errorf("%s: %w%s", side, err, hint)
	}
	columns := 0
	heading := true // a heading may still come
	return t.eachLine(func(line []byte) error {
		if heading {
			heading = false
			if isHeading(line) {
				if table {
					return checkHeading(t, line)
				}
				return nil
			}
		}
		s, rest := field(line)
		d, rest := field(rest)
		src, err := end("source", s)
		if err != nil {
			return err
		}
		dst, err := end("destination", d)
		if err != nil {
			return err
		}
		n, weight := 2, float32(1)
		if len(rest) > 0 {
			n = 3
			w, more := field(rest)
			if len(more) > 0 {
				return t.errorf("more than three fields (source, destination, weight)%s", way("a table of more columns"))
			}
			f, err := parseFloat(w)
			if err == nil {
				weight, err = toFloat32(f)
			}
			if err != nil {
				return t.errorf("weight: %w%s", err, way("a table of other columns"))
			}
		}
		if columns == 0 {
			columns = n
		}
		if n != columns {
			return t.errorf("%d fields, the lines before have %d", n, columns)
		}
		if err := fn(src, dst, weight); err != nil {
			return t.errorf("%w", err)
		}
		return nil
	})
}

// ReadEdgeList reads the edge list at path as ScanEdges does. If the ids were
// relabelled, ids[v] is the id that vertex v has in the file; otherwise ids is nil. Weights
// that are all 1 are dropped.
func ReadEdgeList(path string, relabel Relabel) (e *chunk.Edges, ids []uint64, err error) {
	t, err := openText(path)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	return readEdgeList(t, relabel)
}

func readEdgeList(t *textFile, relabel Relabel) (*chunk.Edges, []uint64, error) {
	var src, dst []uint64
	var weight []float32
	largest := uint64(0)
	err := scanEdges(t, true, func(s, d uint64, w float32) error {
		if w != 1 && weight == nil {
			weight = slices.Repeat([]float32{1}, len(src))
		}
		if weight != nil {
			weight = append(weight, w)
		}
		src, dst = append(src, s), append(dst, d)
		largest = max(largest, s, d)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(src) == 0 {
		return nil, nil, fmt.Errorf("%s: no edges", t.name)
	}
	e := &chunk.Edges{Weight: weight}
	var ids []uint64
	if relabel != RelabelNever {
		ids = distinct(src, dst, largest)
		// The difference cannot overflow, largest+1 could.
		if relabel == RelabelAuto && largest/2 < uint64(len(ids)) {
			ids = nil
		}
	}
	vertices := uint64(len(ids))
	if ids == nil {
		if largest == math.MaxUint64 {
			return nil, nil, fmt.Errorf("%s: vertex id %d is too large", t.name, largest)
		}
		vertices = largest + 1
	}
	if err := checkVertexCount(vertices, len(src)); err != nil {
		return nil, nil, fmt.Errorf("%s: largest vertex id %d: %w", t.name, largest, err)
	}
	e.V = int(vertices)
	e.Src, e.Dst = renumber(src, ids), renumber(dst, ids)
	return e, ids, nil
}

// distinct lists the ids that occur, ascending.
func distinct(src, dst []uint64, largest uint64) []uint64 {
	if largest < 1<<24+64*uint64(len(src)) {
		seen := make([]bool, largest+1)
		n := 0
		for _, list := range [2][]uint64{src, dst} {
			for _, id := range list {
				if !seen[id] {
					seen[id] = true
					n++
				}
			}
		}
		ids := make([]uint64, 0, n)
		for id, s := range seen {
			if s {
				ids = append(ids, uint64(id))
			}
		}
		return ids
	}
	ids := slices.Concat(src, dst)
	slices.Sort(ids)
	return slices.Clip(slices.Compact(ids))
}

// renumber replaces each id by its place in ids, which is ascending; nil keeps them.
func renumber(list []uint64, ids []uint64) []uint32 {
	out := make([]uint32, len(list))
	if ids == nil {
		for i, id := range list {
			out[i] = uint32(id)
		}
		return out
	}
	place := make(map[uint64]uint32, len(ids))
	for i, id := range ids {
		place[id] = uint32(i)
	}
	for i, id := range list {
		out[i] = place[id]
	}
	return out
}
