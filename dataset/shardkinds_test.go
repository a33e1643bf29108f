package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const typedShardSpec = "paper=60x5,author=90,venue=7x3,unread=5,author:writes:paper=200,paper:cites:paper=150,paper:in:venue=60,paper:to:unread=9,target=paper,classes=3,reverse=yes,seed=4"

// typedStore writes a store of several types.
func typedStore(t *testing.T) (h *Hetero, path string) {
	t.Helper()
	s, err := ParseHeteroSpec(typedShardSpec)
	if err != nil {
		t.Fatal(err)
	}
	if h, err = SyntheticHetero(s); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "g.saga")
	if err := WriteHeteroStore(path, h, 2); err != nil {
		t.Fatal(err)
	}
	return h, path
}

// TestTypedShardsOfRanks: however many ranks open them, shards of several types have each edge into and out of a vertex of a relation, its
// degree, and the features of each vertex, in one place; without layers enough, types are left out.
func TestTypedShardsOfRanks(t *testing.T) {
	h, path := typedStore(t)
	out := filepath.Join(t.TempDir(), "shards")
	if _, edges, err := WriteTypedShards(Sharding{Conversion: Conversion{From: path, Out: out}, Owners: 3, Chunks: 6}, TypedSharding{}); err != nil || edges != h.E() {
		t.Fatalf("%d edges, %v", edges, err)
	}
	if _, err := Load(out, Options{Ranks: 1}); err == nil || !strings.Contains(err.Error(), ErrSeveralTypes.Error()) {
		t.Error(err)
	}
	for _, ranks := range []int{1, 3} {
		features, degrees, ends := make([][]float32, len(h.Types)), make([][2][]uint32, len(h.Relations)), make([][2][]string, len(h.Relations))
		for rank := range ranks {
			x, err := LoadHetero(out, Options{Rank: rank, Ranks: ranks})
			if err != nil {
				t.Fatal(err)
			}
			if err := ValidateHetero(x); err != nil {
				t.Error(err)
			}
			for i, at := range x.Types {
				if d := at.Rows; d.FeatureCols > 0 {
					if features[i] == nil {
						features[i] = make([]float32, d.Edges.V*d.FeatureCols)
					}
					d.Late.Make(func(v int) []float32 { return features[i][v*d.FeatureCols : (v+1)*d.FeatureCols] })
				}
			}
			for i, r := range x.Relations {
				s := r.Links.Shard
				for k, from := range []bool{false, true} {
					deg, err := s.Degrees(from)
					if err != nil {
						t.Fatal(err)
					}
					if degrees[i][k] == nil {
						degrees[i][k] = make([]uint32, len(deg))
					}
					for v, n := range deg {
						degrees[i][k][v] += n
					}
					e, err := s.Edges(from)
					if err != nil {
						t.Fatal(err)
					}
					src, dst := s.inType(e.Src, true), s.inType(e.Dst, false)
					for j := range src {
						ends[i][k] = append(ends[i][k], fmt.Sprint(src[j], dst[j]))
					}
				}
			}
			if err := x.closeShards(); err != nil {
				t.Error(err)
			}
		}
		for i, at := range h.Types {
			if !slices.Equal(features[i], at.Rows.Features) {
				t.Errorf("%d ranks: other features of %s", ranks, at.Name)
			}
		}
		for i, r := range h.Relations {
			e := r.Links.Edges
			var want []string
			for j := range e.E() {
				want = append(want, fmt.Sprint(e.Src[j], e.Dst[j]))
			}
			slices.Sort(want)
			for k, deg := range [][]uint32{e.InDegrees(), e.OutDegrees()} {
				slices.Sort(ends[i][k])
				if got := degrees[i][k]; !slices.Equal(ends[i][k], want) || !slices.Equal(got, deg[:len(got)]) {
					t.Errorf("%d ranks: other edges or degrees of %s", ranks, h.FullName(i))
				}
			}
		}
	}
	for layers, want := range map[int]int{1: 4, 2: 4} {
		out := filepath.Join(t.TempDir(), "few")
		few, _, err := WriteTypedShards(Sharding{Conversion: Conversion{From: path, Out: out}, Owners: 1, Chunks: 8}, TypedSharding{Layers: layers, Target: "paper"})
		if err != nil || len(few.Types) != want {
			t.Errorf("%d layers: %d types, %v", layers, len(few.Types), err)
		}
	}
	for what, c := range map[string]struct {
		s  Sharding
		of TypedSharding
	}{
		"at least one for each type":              {Sharding{Owners: 2}, TypedSharding{}},
		"as many for each owner":                  {Sharding{Owners: 3, Chunks: 8}, TypedSharding{}},
		`no vertex type "papers"; there are`:      {Sharding{Owners: 4}, TypedSharding{Target: "papers"}},
		`"author" have no labels; there are labe`: {Sharding{Owners: 4}, TypedSharding{Target: "author"}},
	} {
		c.s.From, c.s.Out = path, filepath.Join(t.TempDir(), "none")
		_, _, err := WriteTypedShards(c.s, c.of)
		refused(t, what, err, what)
	}
}

// TestTypedShardsDamaged: shards of several types that do not go together are refused, and no file stays open.
func TestTypedShardsDamaged(t *testing.T) {
	_, path := typedStore(t)
	swap := func(a, b string) func(dir string) error {
		return func(dir string) error {
			for _, pair := range [][2]string{{a, "x"}, {b, a}, {"x", b}} {
				if err := os.Rename(filepath.Join(dir, pair[0]), filepath.Join(dir, pair[1])); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for what, c := range map[string]struct {
		damage func(dir string) error
		want   string
	}{
		"types":     {swap("type0", "type1"), "is not the part that"},
		"relations": {swap("relation0", "relation2"), "is not the part that"},
		"no part":   {func(dir string) error { return os.RemoveAll(filepath.Join(dir, "relation1")) }, "relation1"},
		"shard":     {swap("relation0/shard0.saga", "relation0/shard1.saga"), "the store says that it is"},
		"byte":      {unsigned(`"target":1`, `"target":0`), "the file is damaged"},
		"target":    {edited(`"self_loops":false,"target":1`, `"self_loops":false,"target":9`), "do not go together"},
		"owners":    {edited(`"owners":2`, `"owners":4`), "is not the part that"},
		"intervals": {edited(`"intervals":8`, `"intervals":6`), "shards of type"},
		"vertices":  {edited(`"vertices":[90,`, `"vertices":[91,`), "shards of type"},
		"ends":      {edited(`{"source":0,"name":"writes","target":1}`, `{"source":1,"name":"writes","target":0}`), "which are of other types"},
		"version":   {edited(`"version":3`, `"version":4`), "version 4"},
	} {
		out := filepath.Join(t.TempDir(), "shards")
		if _, _, err := WriteTypedShards(Sharding{Conversion: Conversion{From: path, Out: out}, Owners: 2, Chunks: 8}, TypedSharding{}); err != nil {
			t.Fatal(err)
		}
		if err := c.damage(out); err != nil {
			t.Fatal(err)
		}
		_, err := VerifyTypedShards(out)
		refused(t, what, err, c.want)
		if left := openFiles(out); len(left) > 0 {
			t.Errorf("%s: %v are still open", what, left)
		}
	}
}
