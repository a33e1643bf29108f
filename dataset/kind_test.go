package dataset

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sagann/chunk"
	"sagann/dataset/npy"
)

// labelled is a graph of two graphs with labels of every kind.
func labelled(t *testing.T) *Data {
	t.Helper()
	d := &Data{Name: "all", Edges: &chunk.Edges{V: 20}, Labels: make([]int32, 20), Classes: 2, GraphLabels: []int32{0, 1, 2, 1, -1}}
	for v := range uint32(20) {
		d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, v), append(d.Edges.Dst, (v+1)%20)
		d.GraphOf = append(d.GraphOf, v%5)
		d.EdgeLabels = append(d.EdgeLabels, int32(v%4)-1)
	}
	for _, k := range d.LabelKinds() {
		if err := RandomSplitOf(d, k, 0.5, 0.25, 7); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestLabelKinds(t *testing.T) {
	d := labelled(t)
	if err := Validate(d); err != nil {
		t.Fatal(err)
	}
	if got := d.LabelKinds(); !slices.Equal(got, []LabelKind{GraphLabels, VertexLabels, EdgeLabels}) {
		t.Errorf("kinds %v", got)
	}
	if d.GraphClasses() != 3 || d.EdgeClasses() != 3 || (&Data{}).EdgeClasses() != 0 {
		t.Errorf("%d classes of graphs, %d of edges", d.GraphClasses(), d.EdgeClasses())
	}
	for k, n := range map[LabelKind]int{VertexLabels: 2, EdgeLabels: 3, GraphLabels: 3, LinkLabels: 0} {
		if got := k.ClassesOf(d); got != n {
			t.Errorf("%d classes of %s, want %d", got, k.Plural(), n)
		}
	}
	// Only what has a label is split, and every one of them.
	for k, n := range map[LabelKind]int{VertexLabels: 20, EdgeLabels: 15, GraphLabels: 4} {
		s := d.Splits(k)
		if got := len(s[0]) + len(s[1]) + len(s[2]); got != n {
			t.Errorf("%d %s in splits, want %d", got, k.Plural(), n)
		}
		if err := ValidateLabels(d, k); err != nil {
			t.Error(err)
		}
	}
	again := labelled(t)
	if diff := cmp.Diff(d, again); diff != "" {
		t.Errorf("equal seeds, other splits:\n%s", diff)
	}
}

func TestLabelKindsRefused(t *testing.T) {
	for _, tc := range []struct {
		text  string
		spoil func(d *Data)
	}{
		{"19 edge labels for 20 edges", func(d *Data) { d.EdgeLabels = d.EdgeLabels[1:] }},
		{"edge 3 has label -2", func(d *Data) { d.EdgeLabels[3] = -2 }},
		{"edge 3 has label 1048600", func(d *Data) { d.EdgeLabels[3] = 1048600 }},
		{"graph 0 has label 2147483647", func(d *Data) { d.GraphLabels[0] = 1<<31 - 1 }},
		{"the edge test split has edge 20", func(d *Data) { d.EdgeSplit.Test = append(d.EdgeSplit.Test, 20) }},
		{"graph 4 of the graph test split has no label", func(d *Data) { d.GraphSplit.Test = []uint32{4} }},
		{"is in the edge training and in the edge validation split", func(d *Data) { d.EdgeSplit.Val = d.EdgeSplit.Train }},
		{"the graph validation split is empty", func(d *Data) { d.GraphSplit.Val = []uint32{} }},
		{"the edge training split has edge 1: ids must be below 0", func(d *Data) {
			d.Edges, d.EdgeLabels, d.EdgeSplit.Train = &chunk.Edges{V: 20}, nil, []uint32{1}
		}},
	} {
		d := labelled(t)
		tc.spoil(d)
		if err := Validate(d); err == nil || !strings.Contains(err.Error(), tc.text) {
			t.Errorf("error %v, want %q", err, tc.text)
		}
	}
	d := labelled(t)
	d.EdgeLabels, d.EdgeSplit.Train, d.EdgeSplit.Val, d.EdgeSplit.Test = nil, nil, nil, nil
	if err := ValidateLabels(d, EdgeLabels); err == nil || !strings.Contains(err.Error(), "no edge labels") {
		t.Error(err)
	}
	if err := RandomSplitOf(d, EdgeLabels, 0.5, 0.2, 1); err == nil {
		t.Error("edges without labels were split")
	}
	d.GraphSplit.Val = nil
	if err := ValidateLabels(d, GraphLabels); err != nil {
		t.Error(err)
	}
	d.GraphSplit.Train = nil
	if err := ValidateLabels(d, GraphLabels); err == nil || !strings.Contains(err.Error(), "graph training split is empty") {
		t.Error(err)
	}
}

// A folder and a store keep labels, targets and splits of every kind, the store whatever order its edges lie in.
func TestLabelKindsOnDisk(t *testing.T) {
	d, dir := labelled(t), filepath.Join(t.TempDir(), "all")
	d.Targets.Edge = Numbers{Rows: make([]float32, 2*d.Edges.E()), Cols: 2}
	for i := range d.Targets.Edge.Rows {
		d.Targets.Edge.Rows[i] = float32(i)
	}
	if err := WriteNpyFolder(dir, d); err != nil {
		t.Fatal(err)
	}
	got := mustLoad(t, dir, Options{})
	if diff := cmp.Diff(d, got); diff != "" {
		t.Errorf("read back (-written +read):\n%s", diff)
	}
	if _, err := Load(dir, Options{Simple: true}); err == nil || !strings.Contains(err.Error(), "cannot be rearranged") {
		t.Errorf("labelled edges were rearranged: %v", err)
	}
	for _, base := range []int{1, 3} {
		path, piece := filepath.Join(t.TempDir(), "all.saga"), filepath.Join(t.TempDir(), "pieces.saga")
		if err := WriteStore(path, d, base); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, mustLoad(t, path, Options{})); diff != "" {
			t.Errorf("store of base %d (-written +read):\n%s", base, diff)
		}
		if _, _, err := Convert(Conversion{From: dir, Out: piece, Base: base}); err != nil {
			t.Fatal(err)
		}
		got := mustLoad(t, piece, Options{})
		got.Report = Report{}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Errorf("converted (-written +read):\n%s", diff)
		}
	}
}

// TestConvertBadEdgeKinds: what is wrong with labels and splits of edges is found before anything is written.
func TestConvertBadEdgeKinds(t *testing.T) {
	for want, spoil := range map[string]func(d *Data){
		"edge 2 has label -7": func(d *Data) { d.EdgeLabels[2] = -7 },
		"must be finite":      func(d *Data) { d.Targets.Edge.Rows[1] = float32(math.Inf(1)) },
	} {
		d, dir := labelled(t), filepath.Join(t.TempDir(), "bad")
		d.Targets.Edge = Numbers{Rows: make([]float32, d.Edges.E()), Cols: 1}
		if err := WriteNpyFolder(dir, d); err != nil {
			t.Fatal(err)
		}
		spoil(d)
		for name, write := range map[string]func() error{
			"edge_labels": func() error {
				return npy.Write(filepath.Join(dir, "edge_labels.npy"), []int{len(d.EdgeLabels)}, d.EdgeLabels)
			},
			"edge_targets": func() error {
				return npy.Write(filepath.Join(dir, "edge_targets.npy"), []int{len(d.Targets.Edge.Rows)}, d.Targets.Edge.Rows)
			},
			"edge_train": func() error {
				return npy.Write(filepath.Join(dir, "edge_train.npy"), []int{len(d.EdgeSplit.Train)}, d.EdgeSplit.Train)
			},
			"edge_test": func() error {
				return npy.Write(filepath.Join(dir, "edge_test.npy"), []int{len(d.EdgeSplit.Test)}, d.EdgeSplit.Test)
			},
		} {
			if err := write(); err != nil {
				t.Fatal(name, err)
			}
		}
		out := filepath.Join(t.TempDir(), "bad.saga")
		if _, _, err := Convert(Conversion{From: dir, Out: out}); err == nil || !strings.Contains(err.Error(), want) || exists(out) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestLabelsAsTargets: classes become the numbers that they are named after.
func TestLabelsAsTargets(t *testing.T) {
	d := &Data{Edges: &chunk.Edges{V: 4}, Labels: []int32{0, 2, -1, 1}, Classes: 3, GraphOf: make([]uint32, 4), GraphLabels: []int32{1}}
	d.Schema.Vertex.Classes = []string{"-1", "0.5", "7"}
	for _, k := range []LabelKind{VertexLabels, GraphLabels, EdgeLabels} {
		if err := d.LabelsAsTargets(k); err != nil {
			t.Fatal(err)
		}
	}
	nan := float32(math.NaN())
	if diff := cmp.Diff(Targets{Vertex: []float32{-1, 7, nan, 0.5}, Cols: 1, Graph: Numbers{[]float32{1}, 1}}, d.Targets, cmpopts.EquateNaNs()); diff != "" || d.Labels != nil || d.GraphLabels != nil {
		t.Errorf("%s, labels %v", diff, d.Labels)
	}
	if err := Validate(d); err != nil {
		t.Error(err)
	}
	d = &Data{Edges: &chunk.Edges{V: 1}, Labels: []int32{0}, Classes: 1}
	d.Schema.Vertex.Classes = []string{"cat"}
	refused(t, "names", d.LabelsAsTargets(VertexLabels), "cat")
}

// TestDrawn: which splits were drawn is told apart by what has them, and another split of the same takes the place of the text.
func TestDrawn(t *testing.T) {
	d := full(t)
	d.Train, d.Val, d.Test = nil, nil, nil
	d.EdgeLabels = make([]int32, d.Edges.E())
	drawn := func(vertices, edges, graphs bool) {
		t.Helper()
		if x := [3]bool{d.Report.Drawn(VertexLabels), d.Report.Drawn(EdgeLabels), d.Report.Drawn(GraphLabels)}; x != [3]bool{vertices, edges, graphs} {
			t.Errorf("drawn: %v of vertices, edges and graphs: %q", x, d.Report.Changes)
		}
	}
	drawn(false, false, false)
	for _, k := range []LabelKind{VertexLabels, EdgeLabels} {
		if err := DefaultSplit(d, k, 1); err != nil {
			t.Fatal(err)
		}
	}
	drawn(true, true, false)
	if err := RandomSplitOf(d, EdgeLabels, 0.5, 0.2, 1); err != nil {
		t.Fatal(err)
	}
	drawn(true, false, false)
}
