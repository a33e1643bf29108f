package dataset

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
	"sagann/dataset/npy"
)

func with(files map[string]string, name, text string) map[string]string {
	out := map[string]string{name: text}
	for k, v := range files {
		if k != name {
			out[k] = v
		}
	}
	return out
}

func TestTU(t *testing.T) {
	files := map[string]string{
		"M_A.txt":                  "1, 2\n2, 1\n3, 4\n4, 3\n",
		"M_graph_indicator.txt.gz": gz("1\n1\n2\n2\n"),
		"M_graph_labels.txt":       "-1\n1\n",
		"M_node_labels.txt":        "5\n3\n3\n9\n",
		"M_node_attributes.txt":    " 1.5, 2\n0,1\n-1e1,.25\n0,0\n",
		"M_edge_labels.txt":        "4\n4\n2\n2\n",
		"M_edge_attributes.txt":    "1\n2\n3\n4\n",
		"README.txt":               "1 2 3",
	}
	want := &Data{Name: "M",
		Edges: &chunk.Edges{V: 4, Src: []uint32{0, 1, 2, 3}, Dst: []uint32{1, 0, 3, 2},
			Type: []uint32{1, 1, 0, 0}, Types: 2, Data: []float32{1, 2, 3, 4}, DataCols: 1},
		Features: []float32{1.5, 2, 0, 1, 0, 0, 1, 1, 0, 0, -10, .25, 1, 0, 0, 0, 0, 0, 0, 1}, FeatureCols: 5,
		GraphOf: []uint32{0, 0, 1, 1}, GraphLabels: []int32{0, 1},
		Schema: Schema{Graph: Labels{Classes: []string{"-1", "1"}}, Edges: EdgeData{Relations: []string{"2", "4"}}, Features: Features{Columns: []Column{{Name: "attribute 0"}, {Name: "attribute 1"},
			{Name: "label=3", Of: "label", Category: "3"}, {Name: "label=5", Of: "label", Category: "5"}, {Name: "label=9", Of: "label", Category: "9"}}, Labels: "label"}}}
	if diff := cmp.Diff(want, mustLoad(t, writeFiles(t, files), Options{})); diff != "" {
		t.Error(diff)
	}
	want.Features, want.FeatureCols, want.Labels, want.Classes = []float32{1.5, 2, 0, 1, -10, .25, 0, 0}, 2, []int32{1, 0, 0, 2}, 3
	want.Schema.Features, want.Schema.Vertex.Classes = Features{}, []string{"3", "5", "9"}
	if diff := cmp.Diff(want, mustLoad(t, writeFiles(t, files), Options{Vertices: VertexClasses})); diff != "" {
		t.Error("for labels of vertices: " + diff)
	}
	for _, c := range []struct{ name, text, word string }{
		{"M_A.txt", "1, 5\n", "M_A.txt:1: edge 1, 5"},
		{"M_A.txt", "1, 2\n0, 1\n", "M_A.txt:2: edge 0, 1"},
		{"M_A.txt", "1, 2\n", "M_edge_labels.txt: 4 rows for 1 edges"},
		{"M_graph_indicator.txt.gz", gz("1\n0\n2\n2\n"), "vertex 2 belongs to graph 0"},
		{"M_graph_indicator.txt.gz", gz("1\n1\n2\n3\n"), "2 rows for 3 graphs"},
		{"M_graph_indicator.txt.gz", gz("1\n1\n2\nx\n"), "M_graph_indicator.txt.gz:4:"},
		{"M_node_labels.txt", "1\n2\n", "2 rows for 4 vertices"},
		{"M_node_labels.txt", "1\nx\n3\n3\n", "M_node_labels.txt:2:"},
		{"M_node_attributes.txt", "1,2\n1,2,3\n", "M_node_attributes.txt:2: 3 columns"},
		{"M_node_attributes.txt", "1,2\n1,nan\n", "M_node_attributes.txt:2: column 1: \"nan\" is not finite"},
		{"M_node_attributes.txt", "1,2\n", "1 rows for 4 vertices"},
		{"M_edge_attributes.txt", "1\n2\n", "2 rows for 4 edges"},
		{"M_graph_labels.txt", "0,1\n1,1\n", "M_graph_labels.txt: 2 columns"},
		{"M_edge_labels.txt", "0,1\n1,1\n1,1\n1,1\n", "M_edge_labels.txt: 2 columns"},
		{"M_graph_attributes.txt", "0.5\n1\n1.5\n", "M_graph_attributes.txt: 3 rows for 2 graphs"},
	} {
		_, err := Load(writeFiles(t, with(files, c.name, c.text)), Options{})
		refused(t, c.name, err, c.word)
	}
}

// TestTUKinds reads sets of two graphs with some of the files. What labels of vertices are depends on what else
// there is.
func TestTUKinds(t *testing.T) {
	const labels, two, attributes = "2\n0\n2\n7\n", "0, 3\n0, 1\n1, 1\n0, 2\n", "0.5\n0\n-1\n2\n"
	hot := []float32{0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}
	for what, c := range map[string]struct {
		files    map[string]string
		features []float32
		labels   []int32
		classes  []int32
		targets  Numbers
		kinds    []LabelKind
		changed  string // part of what is reported
		unread   string
	}{
		"labels of vertices and graphs": {map[string]string{"node_labels": labels, "graph_labels": "1\n-1\n"}, hot, nil, []int32{1, 0}, Numbers{}, []LabelKind{GraphLabels},
			"S_node_labels.txt: labels of vertices are features: a column of 0 and 1 for each of 3 values, behind 0 columns of attributes", ""},
		"attributes": {map[string]string{"node_attributes": attributes, "graph_labels": "1\n-1\n"}, []float32{.5, 0, -1, 2}, nil, []int32{1, 0}, Numbers{}, []LabelKind{GraphLabels}, "", ""},
		"both": {map[string]string{"node_labels": labels, "node_attributes": attributes, "graph_labels": "5\n5\n"},
			[]float32{.5, 0, 1, 0, 0, 1, 0, 0, -1, 0, 1, 0, 2, 0, 0, 1}, nil, []int32{0, 0}, Numbers{}, []LabelKind{GraphLabels}, "behind 1 column of", ""},
		"neither": {map[string]string{"graph_labels": "0\n1\n"}, nil, nil, []int32{0, 1}, Numbers{}, []LabelKind{GraphLabels}, "", ""},
		"two columns of labels": {map[string]string{"node_labels": two, "graph_labels": "0\n1\n"},
			[]float32{1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0}, nil, []int32{0, 1}, Numbers{}, []LabelKind{GraphLabels}, "each of 5 values", ""},
		"numbers of graphs":             {map[string]string{"node_labels": labels, "graph_attributes": "0.5, -2\n1e3, 4\n"}, hot, nil, nil, Numbers{[]float32{.5, -2, 1000, 4}, 2}, []LabelKind{GraphLabels}, "each of 3", ""},
		"numbers and classes of graphs": {map[string]string{"graph_labels": "3\n4\n", "graph_attributes": "7\n8\n"}, nil, nil, []int32{0, 1}, Numbers{[]float32{7, 8}, 1}, []LabelKind{GraphLabels}, "", ""},
		"labels of vertices alone":      {map[string]string{"node_labels": labels}, nil, []int32{1, 0, 1, 2}, nil, Numbers{}, []LabelKind{VertexLabels}, "", ""},
		"other files": {map[string]string{"graph_labels": "0\n1\n", "coordinates": "1\n", "label_readme": "x"}, nil, nil, []int32{0, 1}, Numbers{}, []LabelKind{GraphLabels}, "",
			"nothing reads S_coordinates.txt, S_label_readme.txt"},
	} {
		files := map[string]string{"S_A.txt": "1, 2\n2, 1\n3, 4\n4, 3\n", "S_graph_indicator.txt": "1\n1\n2\n2\n", "README.txt": "x"}
		for name, text := range c.files {
			files["S_"+name+".txt"] = text
		}
		d, err := Load(writeFiles(t, files), Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if diff := cmp.Diff([]any{c.features, c.labels, c.classes, c.targets, c.kinds}, []any{d.Features, d.Labels, d.GraphLabels, d.Targets.Graph, d.LabelKinds()}); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		if got := strings.Join(d.Report.Changes, "\n"); !strings.Contains(got, c.changed) || (got == "") != (c.changed == "") {
			t.Errorf("%s: changes %q", what, got)
		}
		if got := strings.Join(d.Report.Warnings, "\n"); !strings.Contains(got, c.unread) || (got == "") != (c.unread == "") {
			t.Errorf("%s: warnings %q", what, got)
		}
	}
}

func TestOGB(t *testing.T) {
	files := map[string]string{
		"arxiv/raw/num-node-list.csv":       "4\n",
		"arxiv/raw/edge.csv.gz":             gz("0,1\n1,2\n3,0\n"),
		"arxiv/raw/node-feat.csv":           "1,2\n3,4\n5,6\n7,-8\n",
		"arxiv/raw/node-label.csv.gz":       gz("2\n0.0\nnan\n1\n"),
		"arxiv/split/time/train.csv":        "3\n0\n",
		"arxiv/split/time/valid.csv.gz":     gz("1\n"),
		"arxiv/split/time/test.csv":         "",
		"arxiv/mapping/unused/whatever.csv": "x",
	}
	d, err := Load(filepath.Join(writeFiles(t, files), "arxiv"), Options{})
	if err != nil || d.Test != nil || d.Labels[2] != -1 {
		t.Errorf("an empty split: %v, %+v", err, d)
	}
	files["arxiv/raw/node-label.csv.gz"] = gz("2\n0\n0\n1\n")
	files["arxiv/split/time/test.csv"] = "2\n"
	want := &Data{Name: "arxiv (raw/edge.csv.gz)",
		Edges:    &chunk.Edges{V: 4, Src: []uint32{0, 1, 3}, Dst: []uint32{1, 2, 0}},
		Features: []float32{1, 2, 3, 4, 5, 6, 7, -8}, FeatureCols: 2,
		Labels: []int32{2, 0, 0, 1}, Classes: 3, Train: []uint32{0, 3}, Val: []uint32{1}, Test: []uint32{2}}
	dir := writeFiles(t, files)
	if diff := cmp.Diff(want, mustLoad(t, filepath.Join(dir, "arxiv"), Options{})); diff != "" {
		t.Error(diff)
	}
	want.Name = "arxiv"
	if diff := cmp.Diff(want, mustLoad(t, filepath.Join(dir, "arxiv/raw"), Options{})); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ name, text, word string }{
		{"raw/edge.csv.gz", gz("0,1\n1,4\n"), "edge.csv.gz:2: edge 1,4"},
		{"raw/num-node-list.csv", "3\n4\n", "2 graphs"},
		{"raw/num-node-list.csv", "-4\n", "-4 vertices"},
		{"raw/num-node-list.csv", "4000000000\n", "4000000000 vertices"},
		{"raw/node-feat.csv", "1,2\n", "1 rows for 4 vertices"},
		{"raw/node-label.csv.gz", gz("2\n0\n"), "2 rows for 4 vertices"},
		{"raw/node-label.csv.gz", gz("2\nx\n"), "node-label.csv.gz:2:"},
		{"raw/node-label.csv.gz", gz("0,1\n1,0\n1,1\n2,0\n"), "row 3, column 0"},
		{"raw/edge-feat.csv", "1\n", "1 rows for 3 edges"},
		{"split/time/train.csv", "4\n", "train.csv:1: vertex 4"},
		{"split/other/train.csv", "1\n", "2 split schemes"},
		{"split/time/train.pt", "x", "train.pt: a set of links to predict: of OGB only sets of one graph"},
	} {
		_, err := Load(filepath.Join(writeFiles(t, with(files, "arxiv/"+c.name, c.text)), "arxiv"), Options{})
		refused(t, c.name, err, c.word)
	}
	for name, word := range map[string]string{"ogbl_collab": "a set of links to predict", "ogbg_molhiv": "a set of graphs"} {
		dir := writeFiles(t, map[string]string{name + "/raw/edge.csv": "0,1\n", name + "/raw/num-node-list.csv": "2\n"})
		_, err := Load(filepath.Join(dir, name), Options{})
		refused(t, name, err, name+": "+word+": of OGB only")
	}
	_, err = Load(filepath.Join(writeFiles(t, map[string]string{"mag/raw/triplet-type-list.csv": "a,b,c\n", "mag/raw/nodetype-has-feat.csv": "a,b\n"}), "mag"), Options{})
	refused(t, "mag", err, "several types of vertices")
	files["arxiv/raw/node-label.csv.gz"] = gz("0,1\n1,0\n1,1\n0,0\n")
	d = mustLoad(t, filepath.Join(writeFiles(t, files), "arxiv"), Options{})
	if d.Labels != nil || d.Classes != 2 || !cmp.Equal(d.MultiLabels, []float32{0, 1, 1, 0, 1, 1, 0, 0}) {
		t.Errorf("%+v", d)
	}
}

// TestNpyFolderRefused replaces one array of a good folder.
func TestNpyFolderRefused(t *testing.T) {
	nan := float32(0)
	nan /= nan
	for _, c := range []struct {
		name  string
		shape []int
		data  any
		word  string
	}{
		{"edges", []int{2, 2}, []int32{0, 1, 2, -1}, "edges.npy: byte 140: -1 is negative"},
		{"edges", []int{2, 2}, []int32{0, 1, 2, 34}, "edges.npy: byte 140: vertex 34"},
		{"edges", []int{1, 2}, []int64{0, 34}, "edges.npy: byte 136: vertex 34"},
		{"edges", []int{3, 3}, make([]int32, 9), "edges.npy: byte 128: shape [3 3]"},
		{"edges", []int{2, 1}, []float32{0, 0.5}, "edges.npy: byte 132: 0.5"},
		{"features", []int{33, 1}, make([]float32, 33), "33 rows of features for 34 vertices, the number that num_nodes or meta.json gives"},
		{"features", []int{40, 1}, make([]float32, 40), "40 rows of features for 34 vertices"},
		{"features", []int{34, 2}, append(make([]float32, 65), nan, 0, 0), "features.npy: byte 388: row 32, column 1 is NaN"},
		{"features", []int{34}, make([]float32, 34), "shape [34]"},
		{"features", []int{0, 5}, []float32{}, "shape [0 5]"},
		{"features", []int{34, 0}, []float32{}, "at least one row and one column"},
		{"labels", []int{34}, append(make([]int32, 33), 2), "labels.npy: byte 260: label 2 of vertex 33"},
		{"labels", []int{34}, append(make([]int32, 33), -2), "label -2: must be -1 for none"},
		{"labels", []int{33}, make([]int32, 33), "33 labels for 34 vertices"},
		{"labels", []int{34, 2}, append(make([]uint8, 67), 2), "byte 195: label 2 of vertex 33, class 1"},
		{"labels", []int{34, 3}, make([]uint8, 102), "meta.json says 2 classes"},
		{"train", []int{1}, []int32{34}, "train.npy: byte 128: vertex 34"},
		{"test", []int{5}, make([]bool, 5), "a mask of 5"},
		{"edge_weight", []int{3}, make([]float32, 3), "edge_weight.npy: byte 128: shape [3], want 156 rows"},
		{"edge_weight", []int{156}, append(make([]float32, 155), nan), "edge_weight.npy: byte 748: row 155"},
		{"edge_type", []int{156, 2}, make([]int32, 312), "one type an edge"},
		{"edge_data", []int{155, 2}, make([]float32, 310), "want 156 rows"},
		{"graph_indicator", []int{3}, make([]int32, 3), "want 34 rows"},
		{"features_csr_indptr", []int{2}, []int32{0, 1}, "features_csr_indices.npy"},
	} {
		dir := filepath.Join(t.TempDir(), "karate")
		if err := WriteNpyFolder(dir, Karate()); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(c.name, "features_") {
			removeFile(t, filepath.Join(dir, "features.npy"))
		}
		writeArray(t, filepath.Join(dir, c.name+".npy"), c.shape, c.data)
		_, err := Load(dir, Options{})
		refused(t, c.name+" "+c.word, err, c.word, "karate")
	}
}

func TestSparseFeaturesRefused(t *testing.T) {
	good := map[string][]int32{"indptr": {0, 1, 2}, "indices": {0, 4}, "data": {1, 1}, "shape": {2, 5}}
	for _, c := range []struct {
		part string
		data []int32
		word string
	}{
		{"indptr", []int32{0, 2}, "vertex 1"},
		{"indptr", []int32{0, 1, 3}, "row pointers run from 0 to 3"},
		{"indptr", []int32{0, 3, 2}, "row pointer 1 is 3"},
		{"indptr", []int32{}, "row pointers"},
		{"indices", []int32{0, -1}, "byte 132: column -1: columns count from 0"},
		{"shape", []int32{2, 4}, "indices.npy: byte 132: column 4: columns must be below 4, as the shape [2 4] says"},
		{"shape", []int32{3, 5}, "shape [3 5], and the row pointers are of 2 rows"},
		{"indices", []int32{0, 2000000000}, "too sparse"},
		{"indices", []int32{0}, "2 values but 1 column indices"},
	} {
		dir := t.TempDir()
		writeArray(t, filepath.Join(dir, "edges.npy"), []int{2, 1}, []int32{0, 1})
		for name, data := range good {
			if name == c.part {
				data = c.data
			} else if name == "shape" {
				continue
			}
			writeArray(t, filepath.Join(dir, "features_csr_"+name+".npy"), []int{len(data)}, data)
		}
		_, err := Load(dir, Options{})
		refused(t, c.part, err, c.word)
	}
}

func writeArray(t *testing.T, path string, shape []int, data any) {
	t.Helper()
	var err error
	switch d := data.(type) {
	case []int32:
		err = npy.Write(path, shape, d)
	case []int64:
		err = npy.Write(path, shape, d)
	case []uint8:
		err = npy.Write(path, shape, d)
	case []float32:
		err = npy.Write(path, shape, d)
	case []bool:
		err = npy.Write(path, shape, d)
	}
	if err != nil {
		t.Fatal(err)
	}
}
