package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/dataset/npy"
)

// WriteNpyFolder writes d to the folder dir, in the form that Load reads. It makes dir if it does not
// exist. It writes those of these files that d has data for: edges.npy [2,E], edge_weight.npy [E],
// edge_type.npy [E], edge_data.npy [E,cols], features.npy [V,F] float32
// (sparse ones as features_csr_indptr.npy, _indices, _data and _shape), labels.npy [V] int32 or
// [V,C] uint8 (float32 with NaN if some are not known), targets.npy [V,C] float32, train.npy, val.npy, test.npy, ids.npy [V] or names.csv,
// graph_indicator.npy [V], graph_labels.npy, edge_labels.npy [E], and the splits graph_train.npy,
// edge_train.npy and so on; of a split of links link_train.npy [2,N] and so on. It always writes meta.json with the name and counts.
//
// Ids are int32, or int64 if there are too many vertices or types for that. It is an error, and nothing
// is written, if d does not pass Validate or dir has edges.npy already.
func WriteNpyFolder(dir string, d *Data) error {
	if err := Validate(d); err != nil {
		return err
	}
	if exists(filepath.Join(dir, "edges.npy")) {
		return fmt.Errorf("%s: holds a graph already", dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	w := folderWriter{dir: dir, wide: max(d.Edges.V, d.Edges.Types, d.Edges.E()) > math.MaxInt32}
	e := d.Edges
	w.edges(e)
	if d.Vertices.Time != nil {
		write(&w, "vertex_time", []int{e.V}, d.Vertices.Time)
	}
	if rows := streamOf(d).sparseRows(); rows != nil {
		w.sparse(rows, d.FeatureCols)
	} else if d.HoldFeatures(); d.Features != nil {
		write(&w, "features", []int{e.V, d.FeatureCols}, d.Features)
	}
	if d.Labels != nil {
		write(&w, "labels", []int{e.V}, d.Labels)
	}
	w.sets("labels", d.Sets(VertexLabels))
	if t := d.Targets; t.Vertex != nil {
		write(&w, "targets", []int{e.V, t.Cols}, t.Vertex)
	}
	w.splits(d, VertexLabels, "")
	if d.Vertices.Names == nil && d.HasIDs() {
		ids := make([]uint64, e.V)
		for v := range ids {
			ids[v] = d.Vertices.Number(v)
		}
		write(&w, "ids", []int{e.V}, ids)
	}
	if d.Vertices.Names != nil {
		w.names(d.Vertices.Names)
	}
	if d.GraphOf != nil {
		w.ids("graph_indicator", []int{e.V}, d.GraphOf)
	}
	if t := d.Targets.Graph; t.Rows != nil {
		write(&w, targetNames[GraphLabels], []int{t.Len(), t.Cols}, t.Rows)
	}
	if t := d.Targets.Edge; t.Rows != nil {
		write(&w, targetNames[EdgeLabels], []int{t.Len(), t.Cols}, t.Rows)
	}
	w.sets("graph_labels", d.Targets.GraphSets)
	w.sets("edge_labels", d.Targets.EdgeSets)
	if d.GraphLabels != nil {
		write(&w, "graph_labels", []int{len(d.GraphLabels)}, d.GraphLabels)
	}
	if d.Labelled(GraphLabels) {
		w.splits(d, GraphLabels, "graph_")
	}
	if d.EdgeLabels != nil {
		write(&w, "edge_labels", []int{e.E()}, d.EdgeLabels)
	}
	if d.Labelled(EdgeLabels) {
		w.splits(d, EdgeLabels, "edge_")
	}
	if d.Targets.Given != nil {
		for _, p := range d.Targets.Given.linkParts() {
			if n := p.pairs.Len(); n > 0 {
				w.ids(p.array, []int{2, n}, p.pairs.Src, p.pairs.Dst)
			}
		}
	}
	w.meta(d)
	// The edges are written last: without them the folder is not a graph, so a partial folder is not loaded.
	w.ids("edges", []int{2, e.E()}, e.Src, e.Dst)
	return w.err
}

// edges writes what edges have beside their ends.
func (w *folderWriter) edges(e *chunk.Edges) {
	if e.Weight != nil {
		write(w, "edge_weight", []int{e.E()}, e.Weight)
	}
	if e.Type != nil {
		w.ids("edge_type", []int{e.E()}, e.Type)
	}
	if e.Data != nil {
		write(w, "edge_data", []int{e.E(), e.DataCols}, e.Data)
	}
	if e.Time != nil {
		write(w, "edge_time", []int{e.E()}, e.Time)
	}
}

// folderWriter keeps the first error; later writes do nothing.
type folderWriter struct {
	dir  string
	wide bool // ids need int64
	err  error
}

func (w *folderWriter) path(name string) string { return filepath.Join(w.dir, name) }

func write[T npy.Elem](w *folderWriter, name string, shape []int, data []T) {
	if w.err == nil {
		w.err = npy.Write(w.path(name+".npy"), shape, data)
	}
}

// ids writes the lists one after the other as one array.
func (w *folderWriter) ids(name string, shape []int, lists ...[]uint32) {
	if w.wide {
		write(w, name, shape, joined[int64](lists))
	} else {
		write(w, name, shape, joined[int32](lists))
	}
}

// sparse writes sparse features, of which cols columns there are.
func (w *folderWriter) sparse(s *SparseRows, cols int) {
	const name = "features_csr_"
	write(w, name+"indptr", []int{len(s.Ptr)}, s.Ptr)
	w.ids(name+"indices", []int{len(s.Cols)}, s.Cols)
	write(w, name+"data", []int{len(s.Vals)}, s.Vals)
	write(w, name+"shape", []int{2}, []int64{int64(len(s.Ptr) - 1), int64(cols)})
}

// sets writes labels of several classes, if there are any: bytes or, if some are not known, floats with NaN for those.
func (w *folderWriter) sets(name string, n Numbers) {
	shape := []int{n.Len(), n.Cols}
	switch {
	case n.Rows == nil:
	case n.AllKnown():
		small := make([]uint8, len(n.Rows))
		for i, x := range n.Rows {
			small[i] = uint8(x)
		}
		write(w, name, shape, small)
	default:
		x := slices.Clone(n.Rows)
		for i, y := range x {
			if y < 0 {
				x[i] = float32(math.NaN())
			}
		}
		write(w, name, shape, x)
	}
}

func (w *folderWriter) splits(d *Data, k LabelKind, prefix string) {
	for i, ids := range d.Splits(k) {
		if ids != nil {
			w.ids(prefix+[3]string{"train", "val", "test"}[i], []int{len(ids)}, ids)
		}
	}
}

func joined[T int32 | int64](lists [][]uint32) []T {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	out := make([]T, 0, n)
	for _, list := range lists {
		for _, id := range list {
			out = append(out, T(id))
		}
	}
	return out
}

// names writes a table of one column, each name in quotes.
func (w *folderWriter) names(names []string) {
	if w.err != nil {
		return
	}
	var b bytes.Buffer
	b.WriteString("name\n")
	for _, name := range names {
		b.WriteString(`"` + strings.ReplaceAll(name, `"`, `""`) + "\"\n")
	}
	w.err = os.WriteFile(filepath.Join(w.dir, namesFile), b.Bytes(), 0o666)
}

func (w *folderWriter) meta(d *Data) {
	if w.err != nil {
		return
	}
	text, err := json.MarshalIndent(map[string]any{
		"name": d.Name, "vertices": d.Edges.V, "edges_directed": d.Edges.E(), "edge_types": d.Edges.Types,
		"features": d.FeatureCols, "classes": d.Classes, "multilabel": d.MultiLabels != nil,
		"schema": d.Record(),
	}, "", " ")
	if err == nil {
		err = os.WriteFile(w.path("meta.json"), append(text, '\n'), 0o666)
	}
	w.err = err
}
