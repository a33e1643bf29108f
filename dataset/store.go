package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"sagann/chunk"
	"sagann/internal/regular"
)

// storeMagic is the beginning of a store. chunk.Open checks the rest.
const storeMagic = "sagaNN"

// loadStore reads the store at path into memory. ok is
// false if path is not a store.
func loadStore(path string, opt Options) (d *Data, ok bool, err error) {
	if !isStore(path) {
		return nil, false, nil
	}
	s, err := chunk.Open(path)
	if errors.Is(err, chunk.ErrParts) {
		return nil, true, fmt.Errorf("%s: %w", path, ErrSeveralTypes)
	}
	if err != nil {
		return nil, true, err
	}
	defer s.Close()
	d, err = readStore(s, opt)
	return d, true, err
}

// readStore reads all of a store, unless opt leaves something unread.
func readStore(s *chunk.Store, opt Options) (d *Data, err error) {
	if d, err = restOfStore(s); err != nil {
		return nil, err
	}
	if d.Edges, err = s.ReadEdges(); err != nil {
		return nil, err
	}
	switch {
	case d.FeatureCols == 0 || d.Late.Sparse != nil:
	case opt.unread() && d.Schema.Features.Labels == "":
		d.Late.Make = func(row func(v int) []float32) {
			chunk.Ranges(s.V(), func(lo, hi int) {
				for v := lo; v < hi; v++ {
					clear(row(v))
				}
			})
		}
	default:
		if d.Features, err = s.ReadFeatures(0, s.V()); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// restOfStore reads all but the edges and dense features.
func restOfStore(s *chunk.Store) (d *Data, err error) {
	d = &Data{FeatureCols: s.FeatureCols(), Edges: &chunk.Edges{V: s.V(), Types: s.Types(), DataCols: s.DataCols()}}
	if d.Name, err = s.Name(); err != nil {
		return nil, err
	}
	if d.Labels, err = s.Labels(); err != nil {
		return nil, err
	}
	if d.MultiLabels, err = s.MultiLabels(); err != nil {
		return nil, err
	}
	if d.Labels != nil || d.MultiLabels != nil {
		d.Classes = s.Classes()
	}
	if d.GraphOf, d.GraphLabels, err = s.Graphs(); err != nil {
		return nil, err
	}
	if d.EdgeLabels, err = s.EdgeLabels(); err != nil {
		return nil, err
	}
	if d.Targets.Vertex, d.Targets.Cols, err = s.Targets(chunk.KindTargets); err != nil {
		return nil, err
	}
	for k, n := range map[chunk.Kind]*Numbers{chunk.KindGraphTargets: &d.Targets.Graph, chunk.KindEdgeTargets: &d.Targets.Edge} {
		if n.Rows, n.Cols, err = s.Targets(k); err != nil {
			return nil, err
		}
	}
	for k, n := range map[chunk.Kind]*Numbers{chunk.KindGraphSets: &d.Targets.GraphSets, chunk.KindEdgeSets: &d.Targets.EdgeSets} {
		if n.Rows, n.Cols, err = s.Sets(k); err != nil {
			return nil, err
		}
	}
	for k, first := range splitKinds {
		to := d.parts(k)
		if *to[0], *to[1], *to[2], err = s.Splits(first); err != nil {
			return nil, err
		}
	}
	given := &LinkSplit{}
	for i, p := range given.linkParts() {
		if p.pairs.Src, p.pairs.Dst, err = s.Pairs(chunk.KindLinkTrain + chunk.Kind(i)); err != nil {
			return nil, err
		}
		if p.pairs.Len() > 0 {
			d.Targets.Given = given
		}
	}
	rows, err := s.Sparse()
	if err == nil && rows != nil {
		err = d.SetSparse(&SparseRows{Ptr: rows.Ptr, Cols: rows.Ids, Vals: rows.Vals}, rows.Cols)
	}
	if err != nil {
		return nil, err
	}
	if d.Vertices.Time, err = chunk.VertexTimes(s); err != nil {
		return nil, err
	}
	names, err := s.VertexNames()
	if err != nil {
		return nil, err
	}
	d.setNames(names)
	if d.Report, err = Notes(s); err != nil {
		return nil, err
	}
	return d, d.readSchema(s)
}

// readSchema reads the schema. A store before version 3 has only the names of the classes of vertices, in its notes.
func (d *Data) readSchema(s *chunk.Store) error {
	text, err := s.Schema()
	if err != nil {
		return err
	}
	if text != "" {
		kept, err := ParseSchema(text)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		d.Schema, d.Vertices.First = kept.named(), kept.IDs.First
		return nil
	}
	d.Schema.Older = true
	notes, err := s.Notes()
	var old struct{ ClassNames []string }
	if err == nil && json.Unmarshal([]byte(notes), &old) == nil && len(old.ClassNames) == d.Classes {
		d.Schema.Vertex.Classes = old.ClassNames
	}
	return err
}

// streamStore opens a store for reading in pieces; closing closes it.
func streamStore(path string) (s *Stream, closing func() error, err error) {
	f, err := chunk.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if s, err = streamOfStore(f); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return s, f.Close, nil
}

// streamOfStore is the Stream of f, which stays open.
func streamOfStore(f *chunk.Store) (*Stream, error) {
	d, err := restOfStore(f)
	if err != nil {
		return nil, err
	}
	s := &Stream{Data: d, E: int(f.E()), Weighted: f.Weighted(), Timed: chunk.Timed(f), EachEdges: f.EachEdges, counted: true}
	if d.FeatureCols > 0 && d.Late.Sparse == nil {
		s.EachRows = func(fn func([]float32) error) error {
			step := max(1, pieceValues/d.FeatureCols)
			for lo := 0; lo < f.V(); lo += step {
				rows, err := f.ReadFeatures(lo, min(f.V(), lo+step))
				if err == nil {
					err = fn(rows)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	return s, nil
}

// splitKinds are the kinds of blocks of the training splits in a store (see chunk.Writer.SetSplits).
var splitKinds = map[LabelKind]chunk.Kind{VertexLabels: chunk.KindTrain, GraphLabels: chunk.KindGraphTrain, EdgeLabels: chunk.KindEdgeTrain}

// Notes is the report in a store of how it was made; empty if it has none.
func Notes(s interface{ Notes() (string, error) }) (r Report, err error) {
	text, err := s.Notes()
	if err != nil || text == "" {
		return r, err
	}
	if json.Unmarshal([]byte(text), &r) != nil { // written by another program
		r = Report{Changes: []string{text}}
	}
	return r, nil
}

// setNames sets the vertices' names, as numbers if all of them are whole numbers.
func (d *Data) setNames(names []string) {
	if names == nil {
		return
	}
	ids := make([]uint64, len(names))
	for v, name := range names {
		n, err := parseUint([]byte(name))
		if err != nil || name != strconv.FormatUint(n, 10) {
			d.Vertices.Names = names
			return
		}
		ids[v] = n
	}
	d.Vertices.IDs = ids
}

func isStore(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(storeMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == storeMagic
}

// WriteStore writes d as a store with a base×base grid, base 1..chunk.MaxBase, over a
// vertex order that balances the edges per cell. Loading the store gives d again,
// with edges in the same order. Data that does not pass Validate is an error.
func WriteStore(path string, d *Data, base int) error {
	if err := Validate(d); err != nil {
		return err
	}
	return streamOf(d).write(path, base, func(string, int, int) {})
}

// write writes a store, edges and features in pieces, and reports progress.
func (s *Stream) write(path string, base int, progress func(what string, done, of int)) error {
	return s.writeTo(func(meta chunk.Meta) (*chunk.Writer, error) { return chunk.Create(path, meta) }, base, progress)
}

// writeTo writes to the store, or part of a store, that create begins.
func (s *Stream) writeTo(create func(chunk.Meta) (*chunk.Writer, error), base int, progress func(what string, done, of int)) error {
	d, e := s.Data, s.Data.Edges
	sparse := s.sparseRows()
	cols := d.FeatureCols
	if sparse != nil {
		cols = 0
	}
	meta := chunk.Meta{Name: d.Name, V: e.V, Base: base, KeepOrder: true, Weighted: s.Weighted, Timed: s.Timed,
		Types: e.Types, DataCols: e.DataCols, FeatureCols: cols, Classes: d.Classes}
	if base > 1 {
		in, out, err := s.degrees(progress)
		if err != nil {
			return err
		}
		meta.Order = chunk.BalanceDegrees(in, out, s.E, base)
	}
	w, err := create(meta)
	if err != nil {
		return err
	}
	defer w.Abort()
	done := 0
	err = s.EachEdges(func(p *chunk.Edges) error {
		done += p.E()
		progress("edges", done, s.E)
		return w.AppendEdges(p)
	})
	if err != nil {
		return err
	}
	switch {
	case sparse != nil:
		if err := w.SetSparse(&chunk.Sparse{Cols: d.FeatureCols, Ptr: sparse.Ptr, Ids: sparse.Cols, Vals: sparse.Vals}); err != nil {
			return err
		}
	case s.EachRows != nil:
		done = 0
		if err := s.EachRows(func(rows []float32) error {
			done += len(rows) / d.FeatureCols
			progress("rows of features", done, e.V)
			return w.AppendFeatures(rows)
		}); err != nil {
			return err
		}
	}
	return s.writeRest(w)
}

// degrees counts the edges into and out of each vertex.
func (s *Stream) degrees(progress func(what string, done, of int)) (in, out []uint32, err error) {
	in, out = make([]uint32, s.Data.Edges.V), make([]uint32, s.Data.Edges.V)
	done := 0
	err = s.EachEdges(func(p *chunk.Edges) error {
		if p.E() == s.E { // all edges are one piece: count on all processors
			in, out = p.InDegrees(), p.OutDegrees()
			return nil
		}
		for i := range p.Src {
			out[p.Src[i]]++
			in[p.Dst[i]]++
		}
		done += p.E()
		progress("degrees of edges", done, s.E)
		return nil
	})
	return in, out, err
}

// writeRest writes labels, targets, splits, names and the report, and closes the store. The writer keeps its
// first error, and Close returns it.
func (s *Stream) writeRest(w *chunk.Writer) error {
	d := s.Data
	if d.Labels != nil {
		w.SetLabels(d.Labels)
	}
	if d.MultiLabels != nil {
		w.SetMultiLabels(d.MultiLabels)
	}
	if t := d.Targets; t.Vertex != nil {
		w.SetTargets(chunk.KindTargets, t.Vertex, t.Cols)
	}
	if t := d.Targets.Graph; t.Rows != nil {
		w.SetTargets(chunk.KindGraphTargets, t.Rows, t.Cols)
	}
	if t := d.Targets.Edge; t.Rows != nil {
		w.SetTargets(chunk.KindEdgeTargets, t.Rows, t.Cols)
	}
	if t := d.Targets.GraphSets; t.Rows != nil {
		w.SetSets(chunk.KindGraphSets, t.Rows, t.Cols)
	}
	if t := d.Targets.EdgeSets; t.Rows != nil {
		w.SetSets(chunk.KindEdgeSets, t.Rows, t.Cols)
	}
	if d.GraphOf != nil {
		w.SetGraphs(d.GraphOf, d.GraphLabels)
	}
	if d.EdgeLabels != nil {
		w.SetEdgeLabels(d.EdgeLabels)
	}
	for _, k := range []LabelKind{VertexLabels, GraphLabels, EdgeLabels} {
		ids := d.Splits(k)
		w.SetSplits(splitKinds[k], ids[0], ids[1], ids[2])
	}
	if d.Targets.Given != nil {
		for i, p := range d.Targets.Given.linkParts() {
			w.SetPairs(chunk.KindLinkTrain+chunk.Kind(i), p.pairs.Src, p.pairs.Dst)
		}
	}
	if d.Vertices.IDs != nil || d.Vertices.Names != nil {
		names := make([]string, d.Edges.V)
		for v := range names {
			names[v] = d.ID(v)
		}
		w.SetVertexNames(names)
	}
	if d.Vertices.Time != nil {
		w.SetVertexTimes(d.Vertices.Time)
	}
	w.SetSchema(s.record().Text())
	if d.Report.Form != "" || d.Report.Changes != nil {
		text, err := d.Report.kept()
		if err != nil {
			return err
		}
		w.SetNotes(text)
	}
	return w.Close()
}

// kept is the report as a store keeps it: without warnings, which are about the file that was read.
func (r Report) kept() (string, error) {
	r.Warnings = nil
	text, err := json.Marshal(r)
	return string(text), err
}
