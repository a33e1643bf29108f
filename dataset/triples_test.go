package dataset

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
)

// triplesData is a graph of 6 vertices whose edges have two types, with the reverses of some.
func triplesData() *Data {
	d := &Data{Name: "triples", Edges: &chunk.Edges{V: 6, Types: 2}}
	for _, t := range []triple{{0, 1, 0}, {1, 0, 0}, {0, 1, 1}, {2, 3, 0}, {3, 2, 0}, {4, 5, 1}, {5, 4, 1}, {5, 5, 1}, {3, 4, 1}} {
		d.Edges.Src, d.Edges.Dst, d.Edges.Type = append(d.Edges.Src, t.u), append(d.Edges.Dst, t.v), append(d.Edges.Type, t.typ)
	}
	d.Schema.Edges.Relations = []string{"eats", "sees"}
	return d
}

// TestUseTriples: an edge of validation or testing passes messages in neither direction, unless one direction is for training; types tell
// edges apart; pairs without an edge have the types of the edges.
func TestUseTriples(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"train.txt": "0\teats\t1\n4\tsees\t5\n5\tsees\t5\n4\tsees\t5\n", "valid.txt": "2\teats\t3\n", "test.txt": "5\tsees\t4\n0\tsees\t1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := triplesData()
	s, err := ReadTriples(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	out, err := UseTriples(d, s, 3)
	if err != nil {
		t.Fatal(err)
	}
	var passes []triple
	for k, u := range out.Edges.Src {
		passes = append(passes, triple{u, out.Edges.Dst[k], out.Edges.Type[k]})
	}
	if want := []triple{{0, 1, 0}, {1, 0, 0}, {4, 5, 1}, {5, 4, 1}, {5, 5, 1}, {3, 4, 1}}; !slices.Equal(passes, want) {
		t.Errorf("messages pass along %v, want %v", passes, want)
	}
	l := out.Targets.Links
	if l.Types != 2 || l.Train.Len() != 2 || l.Val.Len() != 1 || l.Test.Len() != 2 || !slices.Equal(l.NotTest.Type, []uint32{1, 1}) || l.NotTest.Len() != 2 {
		t.Errorf("links %+v", l)
	}
	if text := strings.Join(out.Report.Changes, "; "); !strings.Contains(text, "1 edge of the split of links joins a vertex and itself") || !strings.Contains(text, "1 edge stands in the split") {
		t.Errorf("it says %q", text)
	}
	if err := Validate(out); err != nil {
		t.Error(err)
	}
	drawn, err := SplitTriples(d, LinkShares{Val: 0.2, Test: 0.2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if l := drawn.Targets.Links; l.Train.Len() != 3 || l.Val.Len() != 1 || l.Test.Len() != 1 { // of five: reverses of one type are one
		t.Errorf("drawn: %+v", l)
	}
}

// TestTriplesRefused: what is not there is refused by name, files by line.
func TestTriplesRefused(t *testing.T) {
	d := triplesData()
	plain := triplesData()
	plain.Edges.Type, plain.Edges.Types = nil, 0
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		want string
		run  func() error
	}{
		{"the edges have no types", func() error { _, err := SplitTriples(plain, LinkShares{Val: 0.2, Test: 0.2}, 1); return err }},
		{"no train.csv", func() error { _, err := ReadTriples(dir, d); return err }},
		{"5 edges are too few", func() error { _, err := SplitTriples(d, LinkShares{Val: 0.01, Test: 0.2}, 1); return err }},
		{"relation \"hears\"", func() error {
			write("train.csv", "0,eats,1\n0,hears,1\n")
			write("val.csv", "0,eats,1\n")
			write("test.csv", "0,eats,1\n")
			_, err := ReadTriples(dir, d)
			return err
		}},
		{"train.csv:2", func() error { _, err := ReadTriples(dir, d); return err }},
		{"needs some of both", func() error {
			write("train.csv", "0,eats,1\n2,eats,3\n")
			s, err := ReadTriples(dir, d)
			if err == nil {
				_, err = UseTriples(d, s, 1)
			}
			return err
		}},
	} {
		if err := x.run(); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}
