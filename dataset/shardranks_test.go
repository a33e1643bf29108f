package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset/npy"
)

// TestShardsOfRanks: however many ranks open them, shards have each edge into and out of a vertex, and its features, in one place.
func TestShardsOfRanks(t *testing.T) {
	const owners = 3
	d, dir := full(t), t.TempDir()
	store, out := filepath.Join(dir, "g.saga"), filepath.Join(dir, "shards")
	if err := WriteStore(store, d, 2); err != nil {
		t.Fatal(err)
	}
	if _, edges, err := WriteShards(Sharding{Conversion: Conversion{From: store, Out: out}, Owners: owners, Chunks: 6}); err != nil || edges != d.Edges.E() {
		t.Fatalf("%d edges, %v", edges, err)
	}
	if !IsShards(out) || IsShards(dir) {
		t.Error("a folder of shards is not told from others")
	}
	line := func(e *chunk.Edges, i int) string {
		return fmt.Sprint(e.Src[i], e.Dst[i], e.Weight[i], e.Type[i], e.Data[2*i:2*i+2])
	}
	var want []string
	for i := range d.Edges.E() {
		want = append(want, line(d.Edges, i))
	}
	slices.Sort(want)
	var sums []string
	for _, ranks := range []int{1, owners} {
		var into, outOf []string
		in, from := make([]uint32, d.Edges.V), make([]uint32, d.Edges.V)
		features := make([]float32, len(d.Features))
		for rank := range ranks {
			x, err := OpenShards(out, rank, ranks)
			if err != nil {
				t.Fatal(err)
			}
			s := x.Shard
			if s.Mine() != rank || s.E != d.Edges.E() || !slices.Equal(x.Labels, d.Labels) || !slices.Equal(x.Train, d.Train) {
				t.Errorf("rank %d of %d: it is number %d, of %d edges, labels %v", rank, ranks, s.Mine(), s.E, x.Labels)
			}
			for _, out := range []bool{false, true} {
				e, err := s.Edges(out)
				if err != nil {
					t.Fatal(err)
				}
				deg, err := s.Degrees(out)
				if err != nil {
					t.Fatal(err)
				}
				list, ends, sum := &into, e.Dst, in
				if out {
					list, ends, sum = &outOf, e.Src, from
				}
				for i, v := range ends {
					*list = append(*list, line(e, i))
					if s.Rank(v) != rank {
						t.Errorf("rank %d of %d has an edge of vertex %d, which is rank %d's", rank, ranks, v, s.Rank(v))
					}
				}
				for v, n := range deg {
					sum[v] += n
				}
			}
			mine := 0
			s.EachVertex(rank, func(v uint32) { mine++ })
			x.Late.Make(func(v int) []float32 { mine--; return features[v*d.FeatureCols : (v+1)*d.FeatureCols] })
			if mine != 0 || s.Err() != nil {
				t.Errorf("rank %d of %d: %d more vertices than rows of features, %v", rank, ranks, mine, s.Err())
			}
			sums = append(sums, fmt.Sprint(s.Sum(0, "src"), s.Sum(s.Sum(0, "src"), "features"), s.Bytes("data")))
			if s.Bytes("data") != 8*int64(d.Edges.E()) {
				t.Errorf("%d bytes of edges' data", s.Bytes("data"))
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		slices.Sort(into)
		slices.Sort(outOf)
		if !slices.Equal(into, want) || !slices.Equal(outOf, want) {
			t.Errorf("%d ranks have %d and %d edges, not those of the graph", ranks, len(into), len(outOf))
		}
		if !slices.Equal(in, d.Edges.InDegrees()) || !slices.Equal(from, d.Edges.OutDegrees()) {
			t.Errorf("%d ranks: other degrees", ranks)
		}
		if !slices.Equal(features, d.Features) {
			t.Errorf("%d ranks: other features", ranks)
		}
	}
	if slices.ContainsFunc(sums, func(s string) bool { return s != sums[0] }) {
		t.Errorf("ranks name different checksums: %v", sums)
	}
	_, err := OpenShards(out, 0, 2)
	refused(t, "two ranks", err, "shards for 3 devices cannot be dealt to 2 ranks")
	_, err = OpenShards(dir, 0, 1)
	refused(t, "another folder", err, manifestFile)
	x, err := Load(out, Options{Rank: 1, Ranks: owners})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Shard.Close()
	if err := os.Remove(rowsFile(out, 1)); err != nil {
		t.Fatal(err)
	}
	if x.Late.Make(func(int) []float32 { return make([]float32, d.FeatureCols) }); x.Shard.Err() == nil {
		t.Error("rows that are gone are no error")
	}
}

// TestShardsOfOtherFormats: a folder of arrays is sharded as a store of it is, with edges added in both ways; sparse features are refused.
func TestShardsOfOtherFormats(t *testing.T) {
	d, dir := mustSynthetic(t, "vertices=60,edges=300,features=3,classes=4"), t.TempDir()
	folder := filepath.Join(dir, "folder")
	if err := WriteNpyFolder(folder, d); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {Undirected: true}, {Simple: true, Undirected: true}} {
		want, out := mustLoad(t, folder, o), filepath.Join(t.TempDir(), "shards")
		if _, edges, err := WriteShards(Sharding{Conversion: Conversion{From: folder, Out: out, Options: o}, Owners: 2}); err != nil || edges != want.Edges.E() {
			t.Errorf("%+v: %d edges, want %d: %v", o, edges, want.Edges.E(), err)
		}
	}
	_, edges, err := WriteShards(Sharding{Conversion: Conversion{From: "karate", Out: filepath.Join(dir, "karate")}, Owners: 2, SelfLoops: true})
	if err != nil || edges != Karate().Edges.E()+34 {
		t.Errorf("%d edges of karate with self loops: %v", edges, err)
	}
	path := filepath.Join(dir, "g.npz")
	if err := npy.WriteZip(path, map[string]*npy.Array{
		"edges":                {Shape: []int{3, 2}, Data: []int64{0, 1, 1, 2, 2, 0}},
		"features_csr_data":    {Shape: []int{1}, Data: []float32{1}},
		"features_csr_indices": {Shape: []int{1}, Data: []int32{3}},
		"features_csr_indptr":  {Shape: []int{4}, Data: []int32{0, 0, 0, 1}},
		"features_csr_shape":   {Shape: []int{2}, Data: []int32{3, 4}},
	}); err != nil {
		t.Fatal(err)
	}
	_, _, err = WriteShards(Sharding{Conversion: Conversion{From: path, Out: filepath.Join(dir, "sparse"), Options: Options{SparseFrom: 1}}, Owners: 2})
	refused(t, "sparse features", err, "do not keep sparse features")
}

// TestShardsRefused: what shards cannot hold, and numbers of them that do not go together, leave nothing behind.
func TestShardsRefused(t *testing.T) {
	labelled := func(d *Data) { // of edges alone
		d.EdgeLabels, d.Labels, d.MultiLabels, d.Classes, d.Targets.Vertex, d.Targets.Cols = make([]int32, d.Edges.E()), nil, nil, 0, nil, 0
		d.Train, d.Val, d.Test, d.Schema.Vertex = nil, nil, nil, Labels{}
	}
	for _, c := range []struct {
		want   string
		change func(d *Data)
		s      Sharding
	}{
		{"0 owners", nil, Sharding{}},
		{"7 intervals for 2 owners", nil, Sharding{Owners: 2, Chunks: 7}},
		{"labels or targets of edges", labelled, Sharding{Owners: 2}},
		{"no such file", nil, Sharding{Owners: 2, Conversion: Conversion{From: "none.saga"}}},
		{"no such file", nil, Sharding{Owners: 2, Conversion: Conversion{Out: filepath.Join("none", "shards")}}},
		{"file exists", nil, Sharding{Owners: 2, Conversion: Conversion{Out: "full"}}},
	} {
		dir, d := t.TempDir(), full(t)
		if c.change != nil {
			c.change(d)
		}
		if err := WriteStore(filepath.Join(dir, "g.saga"), d, 1); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "full", "of"), 0o777); err != nil {
			t.Fatal(err)
		}
		if c.s.From == "" {
			c.s.From = "g.saga"
		}
		if c.s.Out == "" {
			c.s.Out = "shards"
		}
		c.s.From, c.s.Out = filepath.Join(dir, c.s.From), filepath.Join(dir, c.s.Out)
		_, _, err := WriteShards(c.s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if list, _ := os.ReadDir(dir); len(list) != 2 {
			t.Errorf("%s: %d files are left, want the store and a folder", c.want, len(list))
		}
	}
}
