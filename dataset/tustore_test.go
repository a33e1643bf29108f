package dataset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStoreOfTU converts TU sets, with graph labels and node labels, as a store and as a folder of arrays: each keeps the classes of graphs
// and, for VertexClasses, those of vertices, as the set itself has them.
func TestStoreOfTU(t *testing.T) {
	const v = 40
	var edges, of, labels, odd, attributes, graphs strings.Builder
	for i := range v {
		fmt.Fprintf(&edges, "%d, %d\n", i+1, i/4*4+1)
		fmt.Fprintln(&of, i/4+1)
		fmt.Fprintln(&labels, i%3)
		fmt.Fprintln(&odd, []int{7, -2, 40, 7}[i%4])
		fmt.Fprintf(&attributes, "%d.5, %d\n", i, i*i%7)
	}
	for g := range v / 4 {
		fmt.Fprintln(&graphs, 2*(g%2)-1)
	}
	for name, c := range map[string]struct {
		files   map[string]string
		columns int      // of features as graphs are learned
		classes []string // of vertices
		rest    int      // columns of features as vertices are learned
	}{
		"labels":                {map[string]string{"node_labels": labels.String()}, 3, nil, 0},
		"other values":          {map[string]string{"node_labels": odd.String()}, 3, []string{"-2", "7", "40"}, 0},
		"attributes and labels": {map[string]string{"node_labels": odd.String(), "node_attributes": attributes.String()}, 5, []string{"-2", "7", "40"}, 2},
		"attributes":            {map[string]string{"node_attributes": attributes.String()}, 2, nil, -1},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"S_A.txt": edges.String(), "S_graph_indicator.txt": of.String(), "S_graph_labels.txt": graphs.String()}
			for file, text := range c.files {
				files["S_"+file+".txt"] = text
			}
			dir := writeFiles(t, files)
			folder := mustLoad(t, dir, Options{})
			if folder.FeatureCols != c.columns || folder.GraphClasses() != 2 || slices.Contains(folder.Record().Tasks(), VertexLabels) != (c.rest >= 0) {
				t.Errorf("%d features, %d classes of graphs, tasks %v", folder.FeatureCols, folder.GraphClasses(), folder.Record().Tasks())
			}
			store, npy := filepath.Join(t.TempDir(), "s.saga"), filepath.Join(t.TempDir(), "npy")
			if err := WriteStore(store, folder, 1); err != nil {
				t.Fatal(err)
			}
			if err := WriteNpyFolder(npy, mustLoad(t, store, Options{})); err != nil {
				t.Fatal(err)
			}
			want := mustLoad(t, dir, Options{Vertices: VertexClasses})
			if c.rest >= 0 && (want.FeatureCols != c.rest || want.Classes != 3 || !slices.Equal(want.Schema.Vertex.Classes, c.classes)) {
				t.Errorf("as classes: %d features, %d classes %q", want.FeatureCols, want.Classes, want.Schema.Vertex.Classes)
			}
			want.Name, want.Report = "", Report{}
			for _, path := range []string{store, npy} {
				again := mustLoad(t, path, Options{})
				if again.FeatureCols != c.columns || again.Labels != nil || again.GraphClasses() != 2 {
					t.Errorf("%s: %d features, %d classes of graphs", filepath.Base(path), again.FeatureCols, again.GraphClasses())
				}
				again = mustLoad(t, path, Options{Vertices: VertexClasses})
				again.Name, again.Report = "", Report{}
				if diff := cmp.Diff(want, again); diff != "" {
					t.Errorf("%s: %s", filepath.Base(path), diff)
				}
			}
		})
	}
}
