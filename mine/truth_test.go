package mine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/internal/testdata"
	"sagann/mine"
)

// truth is what meta.json says of a graph.
type truth struct {
	Exact struct {
		Wedges    json.Number            `json:"wedges_noninduced"`
		Induced   json.Number            `json:"wedges_induced"`
		Triangles json.Number            `json:"triangles"`
		Clique4   json.Number            `json:"clique4"`
		Clique5   json.Number            `json:"clique5"`
		ByEdges   map[string]json.Number `json:"motif4_edge_induced"`
		ByPairs   map[string]json.Number `json:"motif4_vertex_induced"`
	} `json:"exact_counts"`
}

// inTruth are the names of motifs in the truths.
var inTruth = map[string]string{"path4": "path", "star4": "star", "tailed-triangle": "tailed_triangle", "cycle4": "cycle", "diamond": "diamond", "clique4": "clique"}

// open loads one of the real graphs, or skips the test.
func open(t testing.TB, name string, opt mine.Options) *mine.Graph {
	t.Helper()
	d, err := dataset.Load(testdata.Dir(t, "data/"+name), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if opt.Labels == nil {
		opt.Labels = d.Labels
	}
	g, err := mine.Open(d.Edges, opt)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTruths(t *testing.T) {
	for _, name := range []string{"karate", "dolphins", "citeseer", "citeseer_mining", "cora", "pubmed", "p2p_gnutella08",
		"email_eu_core", "ca_condmat", "ppi_node2vec", "proteins_full", "twitch_de", "blogcatalog"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && slices.Contains([]string{"blogcatalog", "twitch_de", "proteins_full", "ppi_node2vec", "ca_condmat"}, name) {
				t.Skip("takes seconds")
			}
			text, err := os.ReadFile(filepath.Join(testdata.Dir(t, "data/"+name), "meta.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want truth
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			g := open(t, name, mine.Options{})
			ctx := context.Background()
			check := func(what string, want json.Number, n mine.Total, err error) {
				t.Helper()
				if err != nil || n.String() != want.String() {
					t.Errorf("%s: %v, %v; want %v", what, n, err, want)
				}
			}
			wedge := mine.MustPattern("wedge")
			n, err := g.Count(ctx, wedge)
			check("wedges", want.Exact.Wedges, n, err)
			n, err = g.Count(ctx, wedge, mine.Induced)
			check("induced wedges", want.Exact.Induced, n, err)
			for k, want := range map[int]json.Number{3: want.Exact.Triangles, 4: want.Exact.Clique4, 5: want.Exact.Clique5} {
				n, err := g.Cliques(ctx, k)
				check(fmt.Sprint("cliques of ", k), want, n, err)
			}
			for _, c := range []struct {
				option mine.Option
				want   map[string]json.Number
			}{{mine.Induced, want.Exact.ByPairs}, {mine.EdgeInduced, want.Exact.ByEdges}} {
				ms, err := g.Motifs(ctx, 4, c.option)
				if err != nil || len(ms) != len(c.want) {
					t.Fatalf("%d motifs, %v", len(ms), err)
				}
				for _, m := range ms {
					check("motif "+m.Name, c.want[inTruth[m.Name]], m.Count, nil)
				}
			}
		})
	}
}
