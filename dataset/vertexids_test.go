package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// TestVerticesByID reads vertices, pairs and labels of data whose ids are numbers, texts, or count from 1.
func TestVerticesByID(t *testing.T) {
	e := &chunk.Edges{V: 3, Src: []uint32{0, 1}, Dst: []uint32{1, 2}}
	plain := &Data{Edges: e}
	one := &Data{Edges: e, Vertices: Naming{First: 1}}
	gaps := &Data{Edges: e, Vertices: Naming{IDs: []uint64{70, 5, 9}}}
	words := &Data{Edges: e, Vertices: Naming{Names: []string{"ann", "bob", "007"}}}
	for _, c := range []struct {
		d    *Data
		text string
		want []uint32
	}{
		{plain, "0\n2\n", []uint32{0, 2}}, {one, "1\n3.0\n", []uint32{0, 2}}, {one, "id\n1\n3\n", []uint32{0, 2}},
		{gaps, "5\n70\n5\n", []uint32{1, 0, 1}}, {words, "bob\n7\n", []uint32{1, 2}}, {words, "id\nann\n", []uint32{0}}, {words, "# who\nann\n", []uint32{0}},
		{plain, "0\n3\n", nil}, {one, "0\n1\n", nil}, {one, "4\n", nil}, {gaps, "0\n", nil}, {words, "carol\nann\n", nil}, {plain, "", nil}, {words, "ann bob\n", nil},
	} {
		got, err := ReadVertices(filepath.Join(writeFiles(t, map[string]string{"s.txt": c.text}), "s.txt"), c.d)
		if c.want == nil {
			refused(t, c.text, err, "s.txt")
		} else if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v", c.text, got, err)
		}
	}
	for d, want := range map[*Data][]uint32{plain: {1, 2}, one: {0, 1}, words: {1, 2}, gaps: nil} {
		path := filepath.Join(t.TempDir(), "s.npy")
		writeArray(t, path, []int{2}, []int32{1, 2})
		got, err := ReadVertices(path, d)
		if want == nil {
			refused(t, "numbers", err, "s.npy", "number 0: 1 is not a vertex")
		} else if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %v, %v", d.Vertices, got, err)
		}
	}
	for what, x := range map[string]func(path string){
		"booleans":           func(path string) { writeArray(t, path, []int{3}, []bool{true, false, true}) },
		"shape [2 2]":        func(path string) { writeArray(t, path, []int{2, 2}, []int32{1, 2, 0, 1}) },
		"no vertices":        func(path string) { writeArray(t, path, []int{0}, []int32{}) },
		"a 0 or 1 for each":  func(path string) { writeArray(t, path, []int{3, 1}, []uint8{1, 0, 1}) },
		"not a whole number": func(path string) { writeArray(t, path, []int{1}, []float32{0.5}) },
	} {
		path := filepath.Join(t.TempDir(), "s.npy")
		x(path)
		_, err := ReadVertices(path, plain)
		refused(t, what, err, "s.npy", what)
	}
	for _, c := range []struct {
		d        *Data
		text     string
		src, dst []uint32
	}{
		{one, "1,2\n3,1\n", []uint32{0, 2}, []uint32{1, 0}}, {words, "from to\nann bob\n", []uint32{0}, []uint32{1}}, {words, "ann;007\n", []uint32{0}, []uint32{2}},
		{one, "9,10\n1,2\n", nil, nil}, {words, "ann,carol\nann,bob\n", nil, nil}, {one, "1,2,3,4\n", nil, nil}, {one, "1,2,soon\n", nil, nil},
		{one, "source,target,time\n1,2,2026-03-01\n", []uint32{0}, []uint32{1}},
	} {
		p, _, err := ReadPairs(filepath.Join(writeFiles(t, map[string]string{"p.csv": c.text}), "p.csv"), c.d, false)
		if c.src == nil {
			refused(t, c.text, err, "p.csv")
		} else if err != nil || !slices.Equal(p.Src, c.src) || !slices.Equal(p.Dst, c.dst) || strings.Contains(c.text, "time") != slices.Equal(p.Time, []float64{1772323200}) {
			t.Errorf("%q: %v, %v", c.text, p, err)
		}
	}
	for _, c := range []struct {
		d     *Data
		text  string
		want  []int32
		names []string
	}{
		{one, "4\n0\n-1\n", []int32{4, 0, -1}, nil}, {one, "label\n4\n0\n2\n", []int32{4, 0, 2}, nil}, {one, "3,red\n1,blue\n", []int32{0, -1, 1}, []string{"blue", "red"}},
		{gaps, "node,label\n9,1\n70,0\n5,\n", []int32{0, -1, 1}, nil}, {words, "red\nred\nblue\n", []int32{1, 1, 0}, []string{"blue", "red"}},
		{words, "colour\nred\n\"a, b\"\nblue\n", []int32{2, 0, 1}, []string{"a, b", "blue", "red"}},
		{words, "ann\tred\nbob\tred\n7\tblue\n", []int32{1, 1, 0}, []string{"blue", "red"}},
		{one, "2147483647\n3000000\n-1\n", []int32{1<<31 - 1, 3000000, -1}, nil},
		{one, "2147483648\n5\n10000000000\n", []int32{1, 0, 2}, []string{"5", "2147483648", "10000000000"}},
		{one, "-2\n11\n007\n", []int32{0, 2, 1}, []string{"-2", "7", "11"}}, {one, "1,1e6\n2,1000000\n3,nan\n", []int32{1e6, 1e6, -1}, nil},
		{one, "1\n2\n", nil, nil}, {one, "1\n2\n3\n4\n5\n", nil, nil}, {one, "5\n4\n3\n2\n", nil, nil}, {one, "1,0\n1,2\n", nil, nil}, {one, "4,1\n", nil, nil},
	} {
		got, names, err := ReadLabels(filepath.Join(writeFiles(t, map[string]string{"l.txt": c.text}), "l.txt"), c.d)
		if c.want == nil {
			refused(t, c.text, err, "l.txt")
		} else if err != nil || !slices.Equal(got, c.want) || !slices.Equal(names, c.names) {
			t.Errorf("%q: %v, %v, %v", c.text, got, names, err)
		}
	}
}

// TestPairHeadings: names of a heading that say other columns are refused, for every file of pairs.
func TestPairHeadings(t *testing.T) {
	d := &Data{Edges: &chunk.Edges{V: 400, Src: []uint32{3}, Dst: []uint32{231}}}
	for text, want := range map[string]string{
		"time,u,v\n3,231,336\n":           `"time" as column 1`,
		"target,source,time\n3,231,336\n": `"target" as column 1`,
		"v,u\n3,231\n":                    `"v" as column 1`,
		"source,target,weight\n3,231,1\n": "a third column of pairs has times",
		"source,target,time\n3,231,336\n": "",
		"u,v\n3,231\n":                    "",
		"a,b,when\n3,231,336\n":           "",
	} {
		path := filepath.Join(t.TempDir(), "pairs.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, _, err := ReadPairs(path, d, false)
		if want == "" {
			if err != nil || p.Src[0] != 3 || p.Dst[0] != 231 {
				t.Errorf("%q: %v, error %v", text, p, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
		if err := readLinkFile(d, path, &Pairs{}, &Pairs{}); err == nil && !strings.Contains(text, "weight") {
			t.Errorf("%q: a split reads it", text)
		}
	}
}
