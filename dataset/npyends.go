package dataset

import (
	"errors"
	"io/fs"
	"math"
	"slices"
)

// anyEnds lets all ids through.
var anyEnds = [2]bound{{below: math.MaxInt}, {below: math.MaxInt}}

// number finds the vertices of edges that have neither features nor labels. Other arrays of vertices name them by their rows; where
// there are none, vertices are the ids that occur at edges.
func (e *ends) number(from arrays, rows *rowCount) error {
	named := false
	for _, name := range []string{"ids", "graph_indicator", "train", "val", "test"} {
		r, err := from.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		r.Close()
		named = true
		if len(r.Shape) == 1 && (name == "ids" || name == "graph_indicator") {
			rows.v = r.Shape[0]
			return nil
		}
	}
	set := &idSet{}
	if err := e.each(anyEnds, func(src, dst []uint32) error {
		for i := range src {
			set.add(uint64(src[i]))
			set.add(uint64(dst[i]))
		}
		return nil
	}); err != nil {
		return err
	}
	if rows.v = set.count; set.count == 0 || set.largest+1 == uint64(set.count) {
		return nil
	}
	if named {
		rows.v = int(set.largest + 1)
		return nil
	}
	set.rankable()
	e.ids = set
	return nil
}

// places are the places of the ends of edges among all ids. The result is of use until the next call.
func (e *ends) places(src, dst []uint32) (a, b []uint32, err error) {
	e.room = e.room[:0]
	for _, id := range slices.Concat(src, dst) {
		v, ok := e.ids.rank(uint64(id))
		if !ok {
			return nil, nil, errChanged
		}
		e.room = append(e.room, v)
	}
	return e.room[:len(src)], e.room[len(src):], nil
}
