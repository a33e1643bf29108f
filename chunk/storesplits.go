package chunk

import (
	"fmt"
	"slices"
)

// This file reads and writes splits of vertices, graphs and edges, and the classes of edges. Edges are
// numbered in the order in which they were appended. So a store with splits, classes or targets of edges
// must keep that order (Meta.KeepOrder).

// split reports whether blocks of the kind are splits: lists of ids or numbers.
func (k Kind) split() bool {
	return k >= KindTrain && k <= KindTest || k >= KindGraphTrain && k <= KindEdgeTest || k.pairs()
}

// pairs reports whether blocks of the kind are lists of pairs of vertices.
func (k Kind) pairs() bool { return k >= KindLinkTrain && k <= KindLinkMessages }

// SetPairs sets a list of pairs of vertices, in user ids, of a kind from KindLinkTrain to KindLinkMessages. Without pairs no block is
// written.
func (w *Writer) SetPairs(k Kind, src, dst []uint32) error {
	if !k.pairs() || len(src) != len(dst) {
		return w.fail(fmt.Errorf("%v of %d first and %d second vertices", k, len(src), len(dst)))
	}
	if len(src) == 0 {
		return nil
	}
	for i := range src {
		if int64(max(src[i], dst[i])) >= int64(w.meta.V) {
			return w.fail(fmt.Errorf("%v: pair %d is (%d, %d) of %d vertices", k, i, src[i], dst[i], w.meta.V))
		}
	}
	return w.once(k, bytesOf(slices.Concat(src, dst)))
}

// Pairs reads what SetPairs writes; nil if the store has none.
func (s *Store) Pairs(k Kind) (src, dst []uint32, err error) {
	ids, err := s.readIDs(k, s.h.V)
	if err == nil && len(ids)%2 != 0 {
		err = fmt.Errorf("%s: %v has %d vertices, which make no pairs", s.path, s.blocks[s.single[k]], len(ids))
	}
	if err != nil || len(ids) == 0 {
		return nil, nil, err
	}
	n := len(ids) / 2
	return ids[:n:n], ids[n:], nil
}

// SetSplits sets the three splits of vertices (from is KindTrain), graphs (KindGraphTrain) or edges
// (KindEdgeTrain), as lists of user ids or numbers. A nil split is not written. Before it is called, all
// edges must be appended, and labels or targets of graphs must be set.
func (w *Writer) SetSplits(from Kind, train, val, test []uint32) error {
	n := int64(w.meta.V)
	switch from {
	case KindGraphTrain:
		n = max(w.h.Graphs, w.graphs)
	case KindEdgeTrain:
		n = w.h.E
	}
	for i, ids := range [][]uint32{train, val, test} {
		if ids == nil {
			continue
		}
		k := from + Kind(i)
		if err := w.edgesInOrder(k); err != nil {
			return err
		}
		for _, v := range ids {
			if int64(v) >= n {
				return w.fail(fmt.Errorf("%v split names number %d of %d", k, v, n))
			}
		}
		if err := w.once(k, bytesOf(ids)); err != nil {
			return err
		}
	}
	return nil
}

// edgesInOrder returns an error if the store does not keep the order of edges.
func (w *Writer) edgesInOrder(k Kind) error {
	if k >= KindEdgeLabels && (k < KindGraphTrain || k > KindGraphTest) && w.meta.Base > 1 && !w.meta.KeepOrder {
		return w.fail(fmt.Errorf("%v need the order of the edges, which is not kept", k))
	}
	return nil
}

// Splits reads the three splits of vertices, graphs or edges; a missing split is nil. from is as for
// SetSplits.
func (s *Store) Splits(from Kind) (train, val, test []uint32, err error) {
	n := s.h.V
	switch from {
	case KindGraphTrain:
		if n, err = graphsOf(s); err != nil {
			return nil, nil, nil, err
		}
	case KindEdgeTrain:
		n = s.h.E
	}
	var ids [3][]uint32
	for i := range ids {
		if ids[i], err = s.readIDs(from+Kind(i), n); err != nil {
			return nil, nil, nil, err
		}
	}
	return ids[0], ids[1], ids[2], nil
}

// graphsOf is how many graphs have labels or targets.
func graphsOf(s *Store) (int64, error) {
	n := s.h.Graphs
	rows, cols, err := s.Targets(KindGraphTargets)
	if err != nil {
		return 0, err
	}
	if rows != nil {
		n = max(n, int64(len(rows)/cols))
	}
	if rows, cols, err = s.Sets(KindGraphSets); rows != nil {
		n = max(n, int64(len(rows)/cols))
	}
	return n, err
}

// SetEdgeLabels sets the class of each edge, from -1 on, after all edges were appended.
func (w *Writer) SetEdgeLabels(labels []int32) error {
	if int64(len(labels)) != w.h.E {
		return w.fail(fmt.Errorf("%d labels for %d edges", len(labels), w.h.E))
	}
	if err := w.edgesInOrder(KindEdgeLabels); err != nil {
		return err
	}
	for e, c := range labels {
		if c < -1 {
			return w.fail(fmt.Errorf("edge %d has class %d", e, c))
		}
	}
	return w.once(KindEdgeLabels, bytesOf(labels))
}

// EdgeLabels reads the class of each edge, -1 where there is none, in the order in which edges were appended; nil
// where the store has none.
func (s *Store) EdgeLabels() ([]int32, error) {
	labels, err := readSingle[int32](s, KindEdgeLabels)
	for e, c := range labels {
		if err == nil && c < -1 {
			err = fmt.Errorf("%s: edge %d has class %d", s.path, e, c)
		}
	}
	return labels, err
}
