package dataset

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestTypedSplitFiles: a split of the labelled edges of a relation, and of its links, is read from files as it was written; an end beyond its type
// and a heading of the other ends are errors.
func TestTypedSplitFiles(t *testing.T) {
	h, _ := typedStore(t)
	for _, name := range []string{"writes", "cites"} {
		r, err := h.Relation(name)
		if err != nil {
			t.Fatal(err)
		}
		links, dir := *h.Relations[r].Links, t.TempDir()
		for k := range links.Edges.E() {
			links.EdgeLabels = append(links.EdgeLabels, int32(k%3))
		}
		labelled := *h
		labelled.Relations = slices.Clone(h.Relations)
		labelled.Relations[r].Links = &links
		d := labelled.Edges(r)
		if err := RandomSplitOf(d, EdgeLabels, 0.5, 0.25, 1); err != nil {
			t.Fatal(err)
		}
		if err := WriteSplit(filepath.Join(dir, "edges"), d, EdgeLabels); err != nil {
			t.Fatal(err)
		}
		got := labelled.Edges(r)
		if err := ReadSplit(filepath.Join(dir, "edges"), got, EdgeLabels); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.EdgeSplit, d.EdgeSplit) {
			t.Errorf("%s: the split of edges is %v, want %v", name, got.EdgeSplit, d.EdgeSplit)
		}

		want, err := SplitRelation(h.Along(r), LinkShares{Val: 0.1, Test: 0.2}, 4)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "links")
		if err := WriteSplit(path, want, LinkLabels); err != nil {
			t.Fatal(err)
		}
		s, _, err := ReadLinkSplit(path, h.Along(r))
		if err != nil {
			t.Fatal(err)
		}
		again, err := UseRelation(h.Along(r), s, 9)
		if err != nil {
			t.Fatal(err)
		}
		a, b := want.Targets.Links, again.Targets.Links
		for i, p := range []*Pairs{&a.Train, &a.Val, &a.Test, &a.NotVal, &a.NotTest} {
			if q := []*Pairs{&b.Train, &b.Val, &b.Test, &b.NotVal, &b.NotTest}[i]; !slices.Equal(p.Src, q.Src) || !slices.Equal(p.Dst, q.Dst) {
				t.Errorf("%s: part %d of the links is another", name, i)
			}
		}
		passes := func(d *Data) [][]uint32 {
			e := EdgePairs(d, false)
			return [][]uint32{slices.Sorted(slices.Values(e.Src)), slices.Sorted(slices.Values(e.Dst))}
		}
		if !reflect.DeepEqual(passes(want), passes(again)) {
			t.Errorf("%s: other edges pass messages", name)
		}
		for what, file := range map[string]string{"ids must be below": "source,target,label\n5,1000,1\n", "in this order": "paper,author,label\n1,1,1\n"} {
			if name == "cites" && what == "in this order" {
				continue
			}
			if err := os.WriteFile(filepath.Join(path, "val.csv"), []byte(file), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, _, err := ReadLinkSplit(path, h.Along(r)); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v, want %s", name, err, what)
			}
		}
	}
}
