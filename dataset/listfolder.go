package dataset

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataset/npy"
)

// openListFolder reads an edge list and the arrays in its folder dir. The rows of the arrays are the vertices: row v is vertex v or, if
// texts with a row for each vertex have ids in the first column, the vertex with that id.
func openListFolder(dir, list string, opt Options) (*Stream, error) {
	path := filepath.Join(dir, list)
	if opt.Relabel == RelabelAlways {
		return nil, fmt.Errorf("%s: ids are rows of the arrays beside the list and cannot be numbered anew (--relabel always)", path)
	}
	const rows = " (ids are rows of the arrays beside the list, such as features.npy, and count from 0)"
	s, err := openEdgeList(path, RelabelAuto)
	if err != nil {
		return nil, fmt.Errorf("%w"+rows, err)
	}
	d, err := s.collect(Options{})
	if err != nil {
		return nil, err
	}
	if d.Vertices.Names != nil {
		return nil, fmt.Errorf("%s: %q is an id"+rows, path, d.Vertices.Names[0])
	}
	texts, err := readTextArrays(dir)
	if err != nil {
		return nil, err
	}
	ids, err := idsOfRows(texts, d)
	if err != nil {
		return nil, err
	}
	e := d.Edges
	for _, ends := range [][]uint32{e.Src, e.Dst} {
		if err := rowsOfEnds(ends, d, ids, path, rows); err != nil {
			return nil, err
		}
	}
	made := map[string]*npy.Array{"edges": npy.New(path, []int{2, e.E()}, slices.Concat(e.Src, e.Dst))}
	if e.Weight != nil {
		if exists(filepath.Join(dir, "edge_weight.npy")) {
			return nil, fmt.Errorf("%s: the list has weights, and so has edge_weight.npy", path)
		}
		made["edge_weight"] = npy.New(path, []int{e.E()}, e.Weight)
	}
	changes, err := arraysOf(texts, ids, made)
	if err != nil {
		return nil, err
	}
	s, err = openArraysIn(dir, made, "edge list with arrays", opt)
	if err == nil {
		s.Data.Report.Changes = append(s.Data.Report.Changes, changes...)
		for _, w := range d.Report.Warnings {
			if !strings.Contains(w, "beside it are not read") {
				s.Data.warn("%s", w)
			}
		}
	}
	return s, err
}

// rowsOfEnds makes rows of the ends of edges, whose ids are those of d.
func rowsOfEnds(ends []uint32, d *Data, ids []uint64, path, rule string) error {
	for i, v := range ends {
		id := d.Vertices.Number(int(v))
		row, ok := int(id), id < math.MaxUint32
		if ids != nil {
			row, ok = slices.BinarySearch(ids, id)
		}
		switch {
		case !ok && ids == nil:
			return fmt.Errorf("%s: vertex id %d is too large"+rule, path, id)
		case !ok:
			return fmt.Errorf("%s: vertex %d is not among the ids in the first column of the arrays beside it, %d to %d", path, id, ids[0], ids[len(ids)-1])
		}
		ends[i] = uint32(row)
	}
	return nil
}

// ofVertices are the arrays with a row for each vertex.
var ofVertices = []string{"features", "labels", "targets", "graph_indicator"}

// idsOfRows finds the arrays whose first column has ids, takes this column off and sorts their rows by it. The result is the ids in
// ascending order; nil if the number of each row is its id.
func idsOfRows(texts []*textArray, d *Data) (ids []uint64, err error) {
	var from *textArray
	sorted := true
	for _, a := range texts {
		its := a.idColumn(d)
		if its != nil && !slices.Contains(ofVertices, a.name) { // of edges or graphs: the rows are in order
			a.sort(its)
			a.sorted = true
			continue
		}
		if its == nil && a.ids && a.cols > 1 {
			return nil, fmt.Errorf("%s: the first column looks like ids, which must be 0, 1, …, or the ids of the edges, each once; this reads a table by its ids: saga data convert --edges EDGES.csv --vertices %s --id COLUMN --features COLUMNS --label COLUMN --out graph.saga",
				a.path, quotedPath(a.path))
		}
		if its == nil {
			continue
		}
		a.sorted = slices.IsSorted(its)
		sorted = sorted && a.sorted
		a.sort(its)
		slices.Sort(its)
		if from != nil && !slices.Equal(ids, its) {
			return nil, fmt.Errorf("%s and %s have other ids in their first columns", from.path, a.path)
		}
		from, ids = a, its
	}
	if from == nil || ids[len(ids)-1] == uint64(len(ids)-1) {
		return nil, nil
	}
	for _, a := range texts {
		if !sorted && slices.Contains(ofVertices, a.name) && !a.counted {
			return nil, fmt.Errorf("%s: which vertex is each row? The rows of %s have ids, not in ascending order, and these have none", a.path, from.path)
		}
	}
	return ids, nil
}

// idColumn is the first column, if it is ids. For an array of vertices these are each of 0 to rows-1, or of 1 to rows, once, or different
// numbers that include all ids of d; for others 0, 1, 2, …. Otherwise the result is nil.
func (a *textArray) idColumn(d *Data) []uint64 {
	rows := len(a.values) / a.cols
	if a.cols < 2 || rows < 2 {
		return nil
	}
	ids, set := make([]uint64, rows), make(map[uint64]bool, rows)
	for i := range ids {
		x := a.values[i*a.cols]
		if x < 0 || x != math.Trunc(x) || x >= 1<<53 {
			return nil
		}
		ids[i] = uint64(x)
		set[ids[i]] = true
	}
	if len(set) < rows {
		return nil
	}
	if !slices.Contains(ofVertices, a.name) {
		if slices.IsSorted(ids) && ids[rows-1] == uint64(rows-1) {
			return ids
		}
		return nil
	}
	least, largest := slices.Min(ids), slices.Max(ids)
	if least <= 1 && largest == least+uint64(rows)-1 && (rows >= a.enough() || slices.IsSorted(ids)) {
		return ids
	}
	past := false // some id is no row
	for v := range d.Edges.V {
		id := d.Vertices.Number(v)
		if !set[id] {
			return nil
		}
		past = past || id >= uint64(rows)
	}
	if !past && rows < a.enough() {
		return nil
	}
	return ids
}

// enough is from how many rows on it is no chance that a column has each of so many numbers once, in no order. A heading that calls it by
// another name than those of ids speaks against ids.
func (a *textArray) enough() int {
	switch {
	case a.ids:
		return 2
	case a.headed:
		return 16
	}
	return 5
}

// sort takes the first column off and sorts the rows by ids.
func (a *textArray) sort(ids []uint64) {
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(ids[i], ids[j]) })
	values := make([]float64, 0, len(ids)*(a.cols-1))
	for _, i := range order {
		values = append(values, a.values[i*a.cols+1:(i+1)*a.cols]...)
	}
	a.values, a.cols, a.counted = values, a.cols-1, true
}

// arraysOf puts the arrays that .npy files would hold into made. changes says what became of columns of ids.
func arraysOf(texts []*textArray, ids []uint64, made map[string]*npy.Array) (changes []string, err error) {
	for _, a := range texts {
		if made[a.name] != nil {
			return nil, fmt.Errorf("%s: the edge list has %s, and so has %s", filepath.Dir(a.path), a.name, filepath.Base(a.path))
		}
		if ids != nil && slices.Contains([]string{"train", "val", "test"}, a.name) {
			if err := a.splitRows(ids); err != nil {
				return nil, err
			}
		}
		if made[a.name], err = a.array(); err != nil {
			return nil, err
		}
		switch {
		case a.counted && a.sorted && ids == nil:
			changes = append(changes, fmt.Sprintf("the first column of %s, the numbers of its rows, was left out", filepath.Base(a.path)))
		case a.counted:
			changes = append(changes, fmt.Sprintf("the rows of %s are the vertices whose ids are in its first column", filepath.Base(a.path)))
		}
	}
	if ids != nil && made["ids"] == nil {
		made["ids"] = npy.New("ids", []int{len(ids)}, ids)
	}
	return changes, nil
}

// splitRows makes rows of a list of ids; a mask stays.
func (a *textArray) splitRows(ids []uint64) error {
	if a.isMask() {
		return nil
	}
	for i, x := range a.values {
		row, ok := slices.BinarySearch(ids, uint64(x))
		if !ok || x != math.Trunc(x) {
			return fmt.Errorf("%s: %v is not among the ids of the vertices, %d to %d", a.path, x, ids[0], ids[len(ids)-1])
		}
		a.values[i] = float64(row)
	}
	return nil
}
