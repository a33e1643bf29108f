package chunk

import "fmt"

// This file reads and writes splits of vertices, graphs and edges, and the classes of edges. Edges are
// numbered in the order in which they were appended. So a store with splits, classes or targets of edges
// must keep that order (Meta.KeepOrder).

// split reports whether blocks of the kind are splits: lists of ids or numbers.
func (k Kind) split() bool {
	return k >= KindTrain && k <= KindTest || k >= KindGraphTrain && k <= KindEdgeTest
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
		if n, err = s.graphs(); err != nil {
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

// graphs is how many graphs have labels or targets.
func (s *Store) graphs() (int64, error) {
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
