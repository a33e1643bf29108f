package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
)

// TestVariants reads small graphs whose parts have other shapes and types.
func TestVariants(t *testing.T) {
	nan := 0.0
	nan /= nan
	edges := member{"edge_index.npy", encoded(t, []int{2, 3}, int64(0), 1, 2, 1, 2, 0)}
	ring := chunk.Edges{V: 3, Src: []uint32{0, 1, 2}, Dst: []uint32{1, 2, 0}}
	with := func(change func(e *chunk.Edges, d *Data)) *Data {
		e := ring
		d := &Data{Name: "g", Edges: &e}
		change(&e, d)
		return d
	}
	for what, c := range map[string]struct {
		members []member
		want    *Data
	}{
		"several masks, of which the first counts": {[]member{edges, {"train_mask.npy", encoded(t, []int{3, 2}, true, true, false, true, true, false)}},
			with(func(e *chunk.Edges, d *Data) { d.Train = []uint32{0, 2} })},
		"names of several splits": {[]member{{"edges.npy", encoded(t, []int{3, 2}, int64(0), 1, 1, 2, 2, 0)}, {"node_labels.npy", encoded(t, []int{3}, int64(1), 0, 1)},
			{"node_features.npy", encoded(t, []int{3, 1}, float32(5), 6, 7)}, {"val_masks.npy", encoded(t, []int{2, 3}, false, true, true, false, false, false)}},
			with(func(e *chunk.Edges, d *Data) {
				d.Labels, d.Classes, d.Features, d.FeatureCols, d.Val = []int32{1, 0, 1}, 2, []float32{5, 6, 7}, 1, []uint32{1, 2}
			})},
		"a mask of bytes": {[]member{edges, {"test_mask.npy", encoded(t, []int{3}, uint8(0), 1, 0)}},
			with(func(e *chunk.Edges, d *Data) { d.Test = []uint32{1} })},
		"ids of a split": {[]member{edges, {"val_idx.npy", encoded(t, []int{2}, int64(2), 1)}},
			with(func(e *chunk.Edges, d *Data) { d.Val = []uint32{1, 2} })},
		"labels [V,1] of floats, one missing": {[]member{edges, {"y.npy", encoded(t, []int{3, 1}, 2, nan, 0)}},
			with(func(e *chunk.Edges, d *Data) { d.Labels, d.Classes = []int32{2, -1, 0}, 3 })},
		"multi-labels": {[]member{edges, {"y.npy", encoded(t, []int{3, 2}, float32(1), 0, 0, 1, 1, 1)}},
			with(func(e *chunk.Edges, d *Data) { d.MultiLabels, d.Classes = []float32{1, 0, 0, 1, 1, 1}, 2 })},
		"what edges carry": {[]member{edges, {"edge_weight.npy", encoded(t, []int{3, 1}, 0.5, 1, 2)}, {"edge_attr.npy", encoded(t, []int{3, 2}, int32(1), 2, 3, 4, 5, 6)},
			{"edge_type.npy", encoded(t, []int{3}, int64(1), 0, 1)}},
			with(func(e *chunk.Edges, d *Data) {
				e.Weight, e.Data, e.DataCols, e.Type, e.Types = []float32{0.5, 1, 2}, []float32{1, 2, 3, 4, 5, 6}, 2, []uint32{1, 0, 1}, 2
			})},
		"vertices without edges": {[]member{edges, {"num_nodes.npy", encoded(t, nil, int64(5))}}, with(func(e *chunk.Edges, d *Data) { e.V = 5 })},
		"graphs of a batch":      {[]member{edges, {"batch.npy", encoded(t, []int{3}, int64(0), 0, 1)}}, with(func(e *chunk.Edges, d *Data) { d.GraphOf = []uint32{0, 0, 1} })},
		"our names":              {[]member{{"edges.npy", encoded(t, []int{3, 2}, uint8(0), 1, 1, 2, 2, 0)}, {"ids.npy", encoded(t, []int{3}, int64(7), 5, 6)}}, with(func(e *chunk.Edges, d *Data) { d.Vertices.IDs = []uint64{7, 5, 6} })},
	} {
		dir := writeFiles(t, map[string]string{"g.npz": archived(t, c.members...)})
		if diff := cmp.Diff(c.want, mustLoad(t, filepath.Join(dir, "g.npz"), Options{})); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// TestMask takes another split than the first, whichever way the masks lie.
func TestMask(t *testing.T) {
	edges := member{"edge_index.npy", encoded(t, []int{2, 3}, int64(0), 1, 2, 1, 2, 0)}
	ours := member{"edges.npy", encoded(t, []int{2, 3}, int64(0), 1, 2, 1, 2, 0)}
	columns := member{"train_mask.npy", encoded(t, []int{3, 2}, uint8(1), 0, 1, 1, 0, 1)}
	rows := member{"train_masks.npy", encoded(t, []int{2, 3}, true, true, false, false, true, true)}
	for what, members := range map[string][]member{"columns": {edges, columns}, "rows": {ours, rows}} {
		path := filepath.Join(writeFiles(t, map[string]string{"g.npz": archived(t, members...)}), "g.npz")
		if d := mustLoad(t, path, Options{Mask: 1}); !slices.Equal(d.Train, []uint32{1, 2}) {
			t.Errorf("%s: train %v, want 1 and 2", what, d.Train)
		}
		if _, err := Load(path, Options{Mask: 2}); err == nil || !strings.Contains(err.Error(), "has 2 masks: no number 2") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTexts reads names of vertices and classes as NumPy keeps them; Python objects are
// left alone.
func TestTexts(t *testing.T) {
	const header = "\x93NUMPY\x01\x00\x76\x00{'descr': '<U2', 'fortran_order': False, 'shape': (3,), }"
	text := header + strings.Repeat(" ", 127-len(header)) + "\n" + "a\x00\x00\x00\x00\x00\x00\x00" + "\xe4\x00\x00\x00b\x00\x00\x00" + "c\x00\x00\x00d\x00\x00\x00"
	members := []member{
		{"adj_data.npy", encoded(t, []int{2}, float32(1), 1)}, {"adj_indices.npy", encoded(t, []int{2}, int32(1), 2)},
		{"adj_indptr.npy", encoded(t, []int{4}, int32(0), 1, 2, 2)}, {"adj_shape.npy", encoded(t, []int{2}, int64(3), 3)},
		{"labels.npy", encoded(t, []int{3}, int8(2), 0, 1)}, {"class_names.npy", text}, {"node_names.npy", text},
	}
	path := filepath.Join(writeFiles(t, map[string]string{"g.npz": archived(t, members...)}), "g.npz")
	d, err := Load(path, Options{Undirected: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a", "äb", "cd"}
	if !slices.Equal(d.Vertices.Names, want) || !slices.Equal(d.Schema.Vertex.Classes, want) || len(d.Report.Warnings) > 0 {
		t.Errorf("names %q, classes %q, warnings %q", d.Vertices.Names, d.Schema.Vertex.Classes, d.Report.Warnings)
	}
}

// TestTableVariants reads small tables by other columns and separators.
func TestTableVariants(t *testing.T) {
	const ids = "id;a;b\nx;1;0\n\"y;\"\"1\"\"\";0;1\nz;1;1\n"
	names := []string{"x", `y;"1"`, "z"}
	ring := []uint32{0, 1, 2}
	next := []uint32{1, 2, 0}
	for what, c := range map[string]struct {
		edges, vertices string
		with            Tables
		opt             Options
		want            *Data
	}{
		"several labels, types by the alphabet, numbers of edges": {"to,from,weight,type,e1,e2\n\"y;\"\"1\"\"\",x,1,likes,1,2\nz,\"y;\"\"1\"\"\",2,knows,3,4\nx,z,3,likes,5,6\n", ids,
			Tables{Label: []string{"a", "b"}, EdgeFeatures: []string{"e?"}}, Options{},
			&Data{Name: "e", Edges: &chunk.Edges{V: 3, Src: ring, Dst: next, Weight: []float32{1, 2, 3}, Type: []uint32{1, 0, 1}, Types: 2, Data: []float32{1, 2, 3, 4, 5, 6}, DataCols: 2},
				Vertices: Naming{Names: names}, MultiLabels: []float32{1, 0, 0, 1, 1, 1}, Classes: 2,
				Schema: Schema{Vertex: Labels{Classes: []string{"a", "b"}}, Edges: EdgeData{Relations: []string{"knows", "likes"}, Columns: []string{"e1", "e2"}}}}},
		"no heading, columns by number": {"0 1 9\n1 2 9\n2 0 9\n", "9,0,train\n8,1,val\n7,2,test\n",
			Tables{ID: "2", Label: []string{"1"}, Split: "3", Heading: "no"}, Options{},
			&Data{Name: "e", Edges: &chunk.Edges{V: 3, Src: ring, Dst: next}, Labels: []int32{9, 8, 7}, Classes: 10, Train: ring[:1], Val: ring[1:2], Test: ring[2:]}},
		"names as they come, over two lines": {"\ufeffsrc\tdst\na\tb\n\"b\"\t\"c\n\"\n\"c\n\"\ta\n", "", Tables{}, Options{},
			&Data{Name: "e", Edges: &chunk.Edges{V: 3, Src: ring, Dst: next}, Vertices: Naming{Names: []string{"a", "b", "c"}}}},
		"numbers with gaps": {"source,target\n10,30\n30,500\n500,10\n", "", Tables{}, Options{},
			&Data{Name: "e", Edges: &chunk.Edges{V: 3, Src: ring, Dst: next}, Vertices: Naming{IDs: []uint64{10, 30, 500}}}},
		"numbers that stay": {"source,target\n0,1\n1,2\n2,0\n", "", Tables{}, Options{Relabel: RelabelNever},
			&Data{Name: "e", Edges: &chunk.Edges{V: 3, Src: ring, Dst: next}}},
		"several blanks and tabs, none of them a field": {"  from   to  w\n0  1   9\n 1\t2 8  \n\"2\"   \"0\" \t7\n", "id  name\n0   \"a  b\"\n1 \t c\n2   \"\" \n",
			Tables{Weight: "w", Label: []string{"name"}}, Options{},
			&Data{Name: "e", Edges: &chunk.Edges{V: 3, Src: ring, Dst: next, Weight: []float32{9, 8, 7}}, Labels: []int32{0, 1, -1}, Classes: 2,
				Schema: Schema{Vertex: Labels{Classes: []string{"a  b", "c"}}}}},
		"tabs, with more blanks in the heading": {"the source\tthe other end\n0\t1\n1\t2\n2\t0\n", "", Tables{}, Options{},
			&Data{Name: "e", Edges: &chunk.Edges{V: 3, Src: ring, Dst: next}}},
		"other columns": {"a,b,c\n0,9,1\n1,9,2\n2,9,0\n", "", Tables{Source: "a", Target: "c"}, Options{},
			&Data{Name: "e", Edges: &chunk.Edges{V: 3, Src: ring, Dst: next}}},
	} {
		dir := writeFiles(t, map[string]string{"e.csv": c.edges, "v.csv": c.vertices})
		c.with.Edges = filepath.Join(dir, "e.csv")
		if c.vertices != "" {
			c.with.Vertices = filepath.Join(dir, "v.csv")
		}
		d, err := LoadTables(c.with, c.opt)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		d.Report = Report{}
		if diff := cmp.Diff(c.want, d); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}
