package dataset

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
)

// TestSchemaRoundTrip: names survive a store, shards' rest and a folder of arrays.
func TestSchemaRoundTrip(t *testing.T) {
	half := 0.5
	d := &Data{Name: "g", Edges: &chunk.Edges{V: 5, Src: []uint32{0, 1, 2}, Dst: []uint32{1, 2, 0}, Type: []uint32{0, 1, 0}, Types: 2, Data: []float32{1, 2, 3}, DataCols: 1},
		Vertices: Naming{First: 1}, Labels: []int32{0, 1, 1, -1, 0}, Classes: 3, Features: make([]float32, 10), FeatureCols: 2,
		GraphOf: []uint32{0, 0, 0, 1, 1}, GraphLabels: []int32{1, 0}, EdgeLabels: []int32{0, 0, 1},
		Targets: Targets{Vertex: make([]float32, 10), Cols: 2}}
	d.Schema = Schema{Vertex: Labels{Classes: []string{"red", "green", "blue"}, Targets: []string{"price", "age"}},
		Edge: Labels{Classes: []string{"old", "new"}}, Graph: Labels{Classes: []string{"-1", "1", "7"}},
		Features: Features{Columns: []Column{{Name: "height", Fill: &half, Mean: &half, Scale: &half}, {Name: "city=Ulm", Of: "city", Category: "Ulm"}}},
		Edges:    EdgeData{Relations: []string{"likes", "knows"}, Columns: []string{"since"}}}
	want := &Schema{Version: 1, Vertices: 5, Features: Features{Cols: 2, Columns: d.Schema.Features.Columns},
		Vertex: Labels{Form: OneClass, Count: 3, Classes: []string{"red", "green", "blue"}, Cols: 2, Targets: []string{"price", "age"}},
		Edge:   Labels{Form: OneClass, Count: 2, Classes: []string{"old", "new"}}, Graph: Labels{Form: OneClass, Count: 3, Classes: []string{"-1", "1", "7"}},
		Edges: EdgeData{Types: 2, Relations: []string{"likes", "knows"}, Cols: 1, Columns: []string{"since"}}, IDs: IDs{First: 1}}
	if diff := cmp.Diff(want, d.Record()); diff != "" {
		t.Error(diff)
	}
	if got := want.Tasks(); !cmp.Equal(got, []LabelKind{GraphLabels, VertexLabels, EdgeLabels}) {
		t.Errorf("tasks %v", got)
	}
	store := filepath.Join(t.TempDir(), "g.saga")
	if err := WriteStore(store, d, 1); err != nil {
		t.Fatal(err)
	}
	got := mustLoad(t, store, Options{})
	if diff := cmp.Diff(d, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, got.Record()); diff != "" {
		t.Error(diff)
	}
	// A folder of arrays keeps neither graphs' nor edges' classes that do not occur, but the names do not go.
	d.Vertices.First, want.IDs.First = 0, 0
	folder := filepath.Join(t.TempDir(), "g")
	if err := WriteNpyFolder(folder, d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, mustLoad(t, folder, Options{}).Record()); diff != "" {
		t.Error(diff)
	}
}

// TestParseSchema refuses records that this program cannot read rightly.
func TestParseSchema(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":1}`: "", `{"version":1,"later":[1,2]}`: "",
		`{"version":1,"needs":["vertex types","16-bit features"]}`: "cannot read vertex types, 16-bit features",
		`{"version":2}`: "version 2", `{}`: "version 0", `{"version":1,`: "damaged", ``: "damaged",
	} {
		s, err := ParseSchema(text)
		switch {
		case want == "" && (err != nil || s.Version != 1):
			t.Errorf("%s: %+v, %v", text, s, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestCheckSchema: lists of names have the length of what they name, and no name twice.
func TestCheckSchema(t *testing.T) {
	for want, change := range map[string]func(s *Schema){
		"":                                      func(s *Schema) { s.Vertex.Classes = []string{"a", "b"} },
		"1 names for 0 classes of edges":        func(s *Schema) { s.Edge.Classes = []string{"a"} },
		"3 names for 2 classes of vertices":     func(s *Schema) { s.Vertex.Classes = []string{"a", "b", "c"} },
		`two classes of vertices are named "a"`: func(s *Schema) { s.Vertex.Classes = []string{"a", "a"} },
		"1 names for 0 relations":               func(s *Schema) { s.Edges.Relations = []string{"a"} },
		"1 names for 0 targets of graphs":       func(s *Schema) { s.Graph.Targets = []string{"a"} },
		"1 names for 34 columns of features":    func(s *Schema) { s.Features.NameColumns([]string{"a"}) },
	} {
		d := Karate()
		change(&d.Schema)
		err := Validate(d)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
