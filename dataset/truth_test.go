package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/dataset/npy"
	"sagann/internal/testdata"
)

func mustLoad(t testing.TB, path string, opt Options) *Data {
	t.Helper()
	d, err := Load(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	d.Report = Report{} // which has tests of its own
	return d
}

// same compares all but the names.
func same(t *testing.T, got, want *Data) {
	t.Helper()
	a, b := *got, *want
	a.Name, b.Name = "", ""
	if a.Edges.V != b.Edges.V || !slices.Equal(a.Edges.Src, b.Edges.Src) || !slices.Equal(a.Edges.Dst, b.Edges.Dst) {
		t.Errorf("edges differ: V %d and %d, E %d and %d", a.Edges.V, b.Edges.V, a.Edges.E(), b.Edges.E())
	}
	if !slices.Equal(a.Features, b.Features) || a.FeatureCols != b.FeatureCols {
		t.Errorf("features differ: %d×%d and %d×%d", len(a.Features), a.FeatureCols, len(b.Features), b.FeatureCols)
	}
	a.Edges, b.Edges, a.Features, b.Features = nil, nil, nil, nil
	if diff := cmp.Diff(&b, &a); diff != "" {
		t.Error(diff)
	}
}

func TestPlanetoidIsTheTruth(t *testing.T) {
	for _, c := range []struct {
		name         string
		v, e, f, cls int
		unlabelled   int
	}{{"cora", 2708, 10556, 1433, 7, 0}, {"citeseer", 3327, 9104, 3703, 6, 15}} {
		dir := testdata.Dir(t, "data/"+c.name)
		want := mustLoad(t, dir, Options{})
		got := mustLoad(t, filepath.Join(dir, "raw"), Options{})
		if want.Edges.V != c.v || want.Edges.E() != c.e || want.FeatureCols != c.f || want.Classes != c.cls {
			t.Errorf("%s: V %d, E %d, F %d, %d classes", c.name, want.Edges.V, want.Edges.E(), want.FeatureCols, want.Classes)
		}
		unlabelled := 0
		for _, l := range got.Labels {
			if l < 0 {
				unlabelled++
			}
		}
		if unlabelled != c.unlabelled {
			t.Errorf("%s: %d vertices without label, want %d", c.name, unlabelled, c.unlabelled)
		}
		same(t, got, want)
		if err := ValidateTraining(got); err != nil {
			t.Error(err)
		}
	}
}

func TestPubmedIsIncomplete(t *testing.T) {
	dir := testdata.Dir(t, "data/pubmed")
	_, err := Load(filepath.Join(dir, "raw"), Options{})
	if err == nil || !strings.Contains(err.Error(), "ind.pubmed.allx missing") {
		t.Errorf("error %v", err)
	}
	// Graph, labels and splits are complete.
	d := mustLoad(t, dir, Options{})
	e, err := readGraph(filepath.Join(dir, "raw/ind.pubmed.graph"))
	if err != nil {
		t.Fatal(err)
	}
	e = Simplify(e.Symmetric())
	if !slices.Equal(e.Src, d.Edges.Src) || !slices.Equal(e.Dst, d.Edges.Dst) || d.Edges.E() != 88648 {
		t.Errorf("%d edges, want %d", e.E(), d.Edges.E())
	}
	y, err := readOneHot(filepath.Join(dir, "raw/ind.pubmed.y"))
	if err != nil || !slices.Equal(y.class, d.Labels[:60]) || d.Features != nil {
		t.Errorf("labels %v, %v", y, err)
	}
}

func TestTUIsTheTruth(t *testing.T) {
	dir := testdata.Dir(t, "data/proteins_full")
	want := mustLoad(t, dir, Options{})
	got := mustLoad(t, filepath.Join(dir, "raw"), Options{Simple: true, Vertices: VertexClasses})
	if want.Edges.V != 43471 || want.FeatureCols != 29 || want.Classes != 3 || len(want.GraphLabels) != 1113 || len(want.Train) != 26082 {
		t.Errorf("V %d, F %d, %d classes, %d graphs", want.Edges.V, want.FeatureCols, want.Classes, len(want.GraphLabels))
	}
	want.Train, want.Val, want.Test = nil, nil, nil // made for the truth, not in the set
	want.Schema.Graph.Classes = []string{"1", "2"}
	same(t, got, want)
}

func TestMatIsTheTruth(t *testing.T) {
	dir := testdata.Dir(t, "data/blogcatalog")
	want := mustLoad(t, dir, Options{})
	got := mustLoad(t, filepath.Join(dir, "raw/blogcatalog.mat"), Options{Simple: true})
	if got.Edges.Weight != nil {
		t.Error("weights of 1 were kept")
	}
	want.Train, want.Val, want.Test = nil, nil, nil
	same(t, got, want)
	n := 0
	for _, x := range got.MultiLabels {
		n += int(x)
	}
	if n != 14476 || got.Classes != 39 {
		t.Errorf("%d labels of %d classes", n, got.Classes)
	}
}

func TestEdgeListsAreTheTruth(t *testing.T) {
	for _, c := range []struct{ path, truth string }{
		{"ca_condmat/raw/ca-CondMat.csv.gz", "edges"},
		{"citeseer_mining/raw/citeseer_linqs_edges.txt.gz", "edges"},
		{"citeseer_mining/raw/citeseer_linqs_edges.txt.gz", "edges_directed"},
		{"dolphins/raw/dolphins.csv.gz", "edges"},
		{"email_eu_core/raw/email-Eu-core.csv.gz", "edges"},
		{"email_eu_core/raw/email-Eu-core.csv.gz", "edges_directed"},
		{"karate/raw/karate.mtx.gz", "edges"},
		{"p2p_gnutella08/raw/p2p-Gnutella08.edgelist.gz", "edges"},
		{"p2p_gnutella08/raw/p2p-Gnutella08.edgelist.gz", "edges_directed"},
		{"ppi_node2vec/raw/PPI.ungraph.gz", "edges"},
		{"twitch_de/raw/DE_edges.csv.gz", "edges"},
	} {
		t.Run(c.path+" "+c.truth, func(t *testing.T) {
			set, _, _ := strings.Cut(c.path, "/")
			dir := testdata.Dir(t, "data/"+set)
			a, err := npy.Read(filepath.Join(dir, c.truth+".npy"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := a.Uint32s()
			if err != nil {
				t.Fatal(err)
			}
			d := mustLoad(t, filepath.Join(filepath.Dir(dir), c.path), Options{Undirected: c.truth == "edges", Simple: true})
			if !slices.Equal(slices.Concat(d.Edges.Src, d.Edges.Dst), want) {
				t.Errorf("%d edges, want %d", d.Edges.E(), len(want)/2)
			}
			folder := mustLoad(t, dir, Options{})
			if d.Edges.V != folder.Edges.V || d.Edges.Weight != nil {
				t.Errorf("%d vertices, want %d", d.Edges.V, folder.Edges.V)
			}
		})
	}
}

func TestRelabelKeepsTheOriginalIDs(t *testing.T) {
	dir := testdata.Dir(t, "data/ca_condmat")
	_, ids, err := listAt(filepath.Join(dir, "raw/ca-CondMat.csv.gz"), RelabelAuto)
	if err != nil {
		t.Fatal(err)
	}
	a, err := npy.Read(filepath.Join(dir, "original_ids.npy"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := a.Int64s()
	if err != nil || len(ids) != len(want) {
		t.Fatalf("%d ids, want %d, %v", len(ids), len(want), err)
	}
	for i, id := range ids {
		if int64(id) != want[i] {
			t.Fatalf("vertex %d was %d, want %d", i, id, want[i])
		}
	}
}

func TestKarateIsTheTruth(t *testing.T) {
	k := Karate()
	if err := ValidateTraining(k); err != nil {
		t.Fatal(err)
	}
	if k.Edges.E() != 156 || len(k.Train)+len(k.Val)+len(k.Test) != 34 {
		t.Errorf("%d edges", k.Edges.E())
	}
	hi := 0
	for _, c := range k.Labels {
		hi += int(1 - c)
	}
	if hi != 17 || k.Labels[0] != 0 || k.Labels[33] != 1 || k.Labels[8] != 0 || k.Labels[9] != 1 {
		t.Errorf("%d stayed with Mr. Hi: %v", hi, k.Labels)
	}
	want := mustLoad(t, testdata.Dir(t, "data/karate"), Options{})
	if !cmp.Equal(k.Edges, want.Edges) {
		t.Error("other edges than the file's")
	}
}
