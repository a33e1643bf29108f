package dataset

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTakes: what a folder's reader reads is taken, and what would make the folder another one.
func TestTakes(t *testing.T) {
	edges := "0 1\n1 2\n2 0\n"
	for what, c := range map[string]struct {
		files           map[string]string
		taken, notTaken string
	}{
		"arrays":               {map[string]string{"edges.npy": ""}, "edges.npy labels.npy train_mask.npy meta.json", "pred.csv classes.npy x.txt run/labels.npy g.saga"},
		"arrays by PyG's name": {map[string]string{"edge_index.npy": ""}, "edge_index.npy x.npy y.npy", "pred.csv embeddings.npy"},
		"an edge list":         {map[string]string{"g.edges": edges}, "g.edges pred.csv walks.txt p.csv.gz other.npz labels.npy", "p.npy p.safetensors plan.html g.saga readme.txt"},
		"a list with arrays":   {map[string]string{"g.txt": edges, "labels.csv": "0\n1\n0\n"}, "g.txt labels.csv pred.csv features.npy", "p.npy p.safetensors"},
		"TU":                   {map[string]string{"M_A.txt": "1, 2\n", "M_graph_indicator.txt": "1\n1\n"}, "M_A.txt M_node_labels.txt", "pred.csv p.npy"},
		"Planetoid":            {map[string]string{"ind.cora.x": "", "ind.cora.graph": ""}, "ind.cora.ally", "pred.csv p.npy"},
		"OGB":                  {map[string]string{"raw/edge.csv": "0,1\n", "raw/num-node-list.csv": "2\n"}, "raw/edge.csv raw/pred.csv split/train.csv pred.csv", "p.npy run/p.csv"},
		"several types":        {map[string]string{"a__r__b/edge_index.npy": "", "a/x.npy": ""}, "a/x.npy a__r__b/edge_index.npy meta.json", "pred.csv p.npy"},
	} {
		dir := writeFiles(t, c.files)
		for _, name := range strings.Fields(c.taken) {
			if !Takes(dir, filepath.FromSlash(name)) {
				t.Errorf("%s: %s is not taken", what, name)
			}
		}
		for _, name := range strings.Fields(c.notTaken) {
			if Takes(dir, filepath.FromSlash(name)) {
				t.Errorf("%s: %s is taken", what, name)
			}
		}
	}
}
