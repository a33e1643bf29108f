package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sagann/chunk"
)

// ring is a ring of v vertices in both directions, whose vertices are called 10, 20, ….
func ring(v int) *Data {
	d := &Data{Name: "ring", Edges: &chunk.Edges{V: v}}
	for u := range v {
		w := (u + 1) % v
		d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, uint32(u), uint32(w)), append(d.Edges.Dst, uint32(w), uint32(u))
		d.Vertices.IDs = append(d.Vertices.IDs, uint64(10*u+10))
	}
	return d
}

func pairs(p *Pairs) (list [][2]uint32) {
	for k := range p.Src {
		list = append(list, [2]uint32{p.Src[k], p.Dst[k]})
	}
	return list
}

// TestLinkFiles reads splits of links of a ring of six vertices and looks at what is predicted, what passes messages and what is said.
func TestLinkFiles(t *testing.T) {
	for _, c := range []struct {
		name     string
		files    map[string]string
		change   func(d *Data)
		train    [][2]uint32
		test     [][2]uint32
		notVal   int
		messages int
		said     []string // in changes and warnings
		err      string
	}{
		{name: "given whole", files: map[string]string{"train.csv": "source,target,label\n10,20,1\n30,20,1\n10,40,0\n", "val.csv": "source,target,label\n30,40,1\n10,30,0\n20,40,0\n", "test.csv": "source,target\n50,40\n"},
			train: [][2]uint32{{0, 1}, {2, 1}}, test: [][2]uint32{{4, 3}}, notVal: 2, messages: 8, said: []string{"no pairs without an edge for test: 1 is drawn"}},
		{name: "no training file", files: map[string]string{"val.txt": "30 40 1\n10 30 0\n", "test.txt": "10 20 1.0\n10 40 0\n"},
			train: [][2]uint32{{1, 2}, {3, 4}, {4, 5}, {0, 5}}, test: [][2]uint32{{0, 1}}, notVal: 1, messages: 8, said: []string{"no pairs for training: 4 edges"}},
		{name: "no validation", files: map[string]string{"train.csv": "10,20\n", "test.csv": "10,60\n"}, train: [][2]uint32{{0, 1}}, test: [][2]uint32{{0, 5}}, messages: 10},
		{name: "pairs that are no edges of the graph", files: map[string]string{"train.csv": "10,20\n", "val.csv": "10,30\n", "test.csv": "10,40\n"}, train: [][2]uint32{{0, 1}}, test: [][2]uint32{{0, 3}}, notVal: 1, messages: 12},
		{name: "messages of one direction", files: map[string]string{"train.csv": "10,20\n", "test.csv": "40,50\n", "messages.csv": "source,target\n20,30\n30,40\n"}, train: [][2]uint32{{0, 1}}, test: [][2]uint32{{3, 4}}, messages: 4},
		{name: "twice, and the other way", files: map[string]string{"train.csv": "10,20\n10,20\n", "val.csv": "20,10\n", "test.csv": "10,20\n40,50\n"}, train: [][2]uint32{{0, 1}}, test: [][2]uint32{{3, 4}}, notVal: 1, messages: 8,
			said: []string{"2 pairs stand in the split of links more than once", "1 pair of validation or testing is, in the other direction"}},
		{name: "false pairs", files: map[string]string{"train.csv": "10,20\n", "test.csv": "40,50,1\n20,30,0\n"}, train: [][2]uint32{{0, 1}}, test: [][2]uint32{{3, 4}}, messages: 10, said: []string{"of 1 pair without an edge of the test split 1 is an edge"}},
		{name: "a vertex with itself", files: map[string]string{"train.csv": "10,10\n10,20\n", "val.csv": "20,20,1\n30,30,0\n20,40,0\n20,30,1\n", "test.csv": "40,50\n60,60\n"}, train: [][2]uint32{{0, 1}}, test: [][2]uint32{{3, 4}}, notVal: 1, messages: 8,
			said: []string{"4 pairs of the split of links join a vertex and itself"}},
		{name: "pairs without an edge twice", files: map[string]string{"train.csv": "10,20\n", "val.csv": "20,30,1\n10,30,0\n10,30,0\n", "test.csv": "40,50,1\n10,30,0\n"}, train: [][2]uint32{{0, 1}}, test: [][2]uint32{{3, 4}}, notVal: 2, messages: 8,
			said: []string{"2 pairs without an edge stand in the split of links before: they count each time"}},
		{name: "messages that are predicted", files: map[string]string{"train.csv": "10,20\n", "test.csv": "40,50\n", "messages.csv": "40,50\n10,20\n"}, train: [][2]uint32{{0, 1}}, test: [][2]uint32{{3, 4}}, messages: 4, said: []string{"of 4 edges that pass messages in training 2 are pairs"}},
		{name: "texts", files: map[string]string{"train.csv": "source,target,label\n\"a, b\",v1,1\n", "test.tsv": "v3\tv4\n"}, change: func(d *Data) {
			d.Vertices = Naming{Names: []string{"a, b", "v1", "v2", "v3", "v4", "v5"}}
		}, train: [][2]uint32{{0, 1}}, test: [][2]uint32{{3, 4}}, messages: 10},
		{name: "unknown vertex", files: map[string]string{"train.csv": "10,20\n", "test.csv": "10,70\n"}, err: "test.csv:1: 70 is not a vertex"},
		{name: "label", files: map[string]string{"test.csv": "10,20,2\n"}, err: "test.csv:1: label \"2\" of a pair"},
		{name: "no test", files: map[string]string{"train.csv": "10,20\n"}, err: "no test.csv"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := ring(6)
			if c.change != nil {
				c.change(d)
			}
			s, _, err := ReadLinkSplit(writeFiles(t, c.files), d)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			out, err := UseLinks(d, s, 1)
			if c.train == nil {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			l := out.Targets.Links
			if got := pairs(&l.Train); !slices.Equal(got, c.train) {
				t.Errorf("training %v, want %v", got, c.train)
			}
			if got := pairs(&l.Test); !slices.Equal(got, c.test) {
				t.Errorf("testing %v, want %v", got, c.test)
			}
			if l.NotVal.Len() != c.notVal || out.Edges.E() != c.messages {
				t.Errorf("%d pairs without an edge for validation, %d messages; want %d, %d", l.NotVal.Len(), out.Edges.E(), c.notVal, c.messages)
			}
			all := strings.Join(append(out.Report.Changes, out.Report.Warnings...), "; ")
			for _, text := range c.said {
				if !strings.Contains(all, text) {
					t.Errorf("said %q, want %q", all, text)
				}
			}
			if len(d.Report.Changes)+len(d.Report.Warnings) > 0 {
				t.Error("the data that was given has changed")
			}
			if err := Validate(out); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSplitFiles writes drawn splits as files and reads them: the same splits; files of others' hands are read or refused.
func TestSplitFiles(t *testing.T) {
	d := ring(40)
	d.GraphOf = make([]uint32, 40)
	for v := range 40 {
		d.Labels, d.GraphOf[v] = append(d.Labels, int32(v%2)), uint32(v/4)
	}
	d.Classes = 2
	for g := range 10 {
		d.GraphLabels = append(d.GraphLabels, int32(g%2))
	}
	for e := range d.Edges.E() {
		d.EdgeLabels = append(d.EdgeLabels, int32(e%3))
	}
	for _, k := range []LabelKind{VertexLabels, EdgeLabels, GraphLabels} {
		if err := DefaultSplit(d, k, 3); err != nil {
			t.Fatal(err)
		}
		want, dir := d.Splits(k), filepath.Join(t.TempDir(), "parts")
		if err := WriteSplit(dir, d, k); err != nil {
			t.Fatal(err)
		}
		if err := WriteSplit(dir, d, k); err == nil || !strings.Contains(err.Error(), "has a split already") {
			t.Errorf("%s: a second split: %v", k, err)
		}
		if err := RandomSplitOf(d, k, 0.3, 0.3, 4); err != nil {
			t.Fatal(err)
		}
		if err := ReadSplit(dir, d, k); err != nil {
			t.Fatal(err)
		}
		for i, ids := range d.Splits(k) {
			if !slices.Equal(ids, want[i]) {
				t.Errorf("%s, part %d: %v, want %v", k, i, ids, want[i])
			}
		}
	}
	out, err := SplitLinks(d, LinkShares{Val: 0.1, Test: 0.2, Disjoint: 0.3}, 5)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "links")
	if err := WriteSplit(dir, out, LinkLabels); err != nil {
		t.Fatal(err)
	}
	s, dropped, err := ReadLinkSplit(dir, d)
	if err != nil || dropped != 0 {
		t.Fatal(err, dropped)
	}
	again, err := UseLinks(d, s, 99)
	if err != nil {
		t.Fatal(err)
	}
	a, b := out.Targets.Links, again.Targets.Links
	for i, p := range [][2]*Pairs{{&a.Train, &b.Train}, {&a.Val, &b.Val}, {&a.Test, &b.Test}, {&a.NotVal, &b.NotVal}, {&a.NotTest, &b.NotTest}} {
		if !slices.Equal(pairs(p[0]), pairs(p[1])) {
			t.Errorf("links, list %d: %v, want %v", i, pairs(p[1]), pairs(p[0]))
		}
	}
	if !slices.Equal(out.Edges.Src, again.Edges.Src) || !slices.Equal(out.Edges.Dst, again.Edges.Dst) || a.NotKnown().Count() != b.NotKnown().Count() {
		t.Error("other edges pass messages, or other pairs can be drawn")
	}
	for _, c := range []struct {
		k     LabelKind
		files map[string]string
		want  [3][]uint32
		err   string
	}{
		{VertexLabels, map[string]string{"train.txt": "vertex\n20\n10\n20\n", "valid.csv": "10\n30\n"}, [3][]uint32{{0, 1}, {2}, nil}, ""},
		{VertexLabels, map[string]string{"train.txt": "5\n"}, [3][]uint32{}, "train.txt:1: 5 is not a vertex"},
		{VertexLabels, map[string]string{"test.txt": "10\n"}, [3][]uint32{}, "no train.csv"},
		{GraphLabels, map[string]string{"train.csv": "graph\n9\n0\n", "test.csv": "3\n"}, [3][]uint32{{0, 9}, nil, {3}}, ""},
		{GraphLabels, map[string]string{"train.csv": "10\n"}, [3][]uint32{}, "ids must be below 10 (numbers of graphs, from 0)"},
		{EdgeLabels, map[string]string{"train.csv": "source,target\n20,10\n", "test.csv": "edge,source,target\n0,10,20\n"}, [3][]uint32{{1}, nil, {0}}, ""},
		{EdgeLabels, map[string]string{"train.csv": "edge\n4\n3\n"}, [3][]uint32{{3, 4}, nil, nil}, ""},
		{EdgeLabels, map[string]string{"train.csv": "edge,source,target\n1,10,20\n"}, [3][]uint32{}, "edge 1 joins 20,10 in the data, and 10,20 here"},
		{EdgeLabels, map[string]string{"train.csv": "source,target\n10,30\n"}, [3][]uint32{}, "10,30 is no edge"},
		{EdgeLabels, map[string]string{"train.csv": "edge\n80\n"}, [3][]uint32{}, "edge 80: there are 80, numbered from 0"},
	} {
		err := ReadSplit(writeFiles(t, c.files), d, c.k)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %v: error %v, want %q", c.k, c.files, err, c.err)
			}
			continue
		}
		if got := d.Splits(c.k); err != nil || !slices.EqualFunc(got[:], c.want[:], slices.Equal) {
			t.Errorf("%s %v: %v, %v; want %v", c.k, c.files, got, err, c.want)
		}
	}
}

// TestLinksOfPyG reads what RandomLinkSplit and train_test_split_edges gave of a graph of 24 vertices and 64 edges: the pairs, as PyG printed them.
func TestLinksOfPyG(t *testing.T) {
	val, test := [][2]uint32{{1, 2}, {8, 9}, {6, 7}}, [][2]uint32{{16, 17}, {4, 21}, {0, 1}, {12, 19}, {11, 12}, {3, 4}}
	for _, c := range []struct {
		file              string
		edges             int
		val, test         [][2]uint32
		notVal            [][2]uint32
		train             int
		first, otherFirst [2]uint32
	}{
		{"links.pt", 52, val, test, [][2]uint32{{0, 5}, {4, 7}, {13, 22}}, 23, [2]uint32{2, 3}, [2]uint32{17, 10}},
		{"links", 52, val, test, [][2]uint32{{0, 5}, {4, 7}, {13, 22}}, 23, [2]uint32{2, 3}, [2]uint32{17, 10}},
		{"links_labels.pt", 52, val, test, [][2]uint32{{18, 10}, {13, 7}, {20, 16}}, 23, [2]uint32{2, 3}, [2]uint32{16, 14}},
		{"links_old.pt", 46, [][2]uint32{{2, 3}, {17, 18}, {0, 7}}, [][2]uint32{{5, 6}, {3, 10}, {15, 22}, {7, 8}, {15, 16}, {22, 23}}, [][2]uint32{{7, 14}, {4, 7}, {17, 19}}, 46, [2]uint32{}, [2]uint32{}},
	} {
		d := mustLoad(t, filepath.Join(made, c.file), Options{})
		s := d.Targets.Given
		if s == nil {
			t.Errorf("%s: no split of links: %+v", c.file, d.Report)
			continue
		}
		if d.Edges.V != 24 || d.Edges.E() != c.edges || s.Train.Len() != c.train || !slices.Equal(pairs(&s.Val), c.val) || !slices.Equal(pairs(&s.Test), c.test) || !slices.Equal(pairs(&s.NotVal), c.notVal) {
			t.Errorf("%s: %d edges, %+v", c.file, d.Edges.E(), s)
		}
		if c.first != [2]uint32{} && (pairs(&s.Train)[0] != c.first || pairs(&s.NotTest)[0] != c.otherFirst) {
			t.Errorf("%s: training begins with %v, pairs without an edge for testing with %v", c.file, pairs(&s.Train)[0], pairs(&s.NotTest)[0])
		}
		out, err := UseLinks(d, s, 1)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if out.Edges.E() != 46 || len(out.Report.Warnings) > 0 {
			t.Errorf("%s: %d edges pass messages; %q", c.file, out.Edges.E(), out.Report.Warnings)
		}
		path := filepath.Join(t.TempDir(), "g.saga")
		if err := WriteStore(path, d, 2); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(t.TempDir(), "npy")
		if err := WriteNpyFolder(folder, d); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{path, folder} {
			again := mustLoad(t, path, Options{})
			if diff := cmp.Diff(s, again.Targets.Given); diff != "" {
				t.Errorf("%s as %s: %s", c.file, filepath.Base(path), diff)
			}
		}
	}
}
