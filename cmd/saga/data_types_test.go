package main

import (
	"slices"
	"testing"

	"sagann/dataset"
)

// TestColumnsOfRelations: where two relations have one name, a column of one table is named by source:name:target.
func TestColumnsOfRelations(t *testing.T) {
	f := &tableFlags{EdgeFeatures: []string{"a:to:b=p", "to=q", "in=r", "s", "none=x"}, Weight: "b:to:a=w,in=v"}
	h := &dataset.HeteroTables{Relations: []dataset.RelationTable{{Source: "a", Name: "to", Target: "b"}, {Source: "b", Name: "to", Target: "a"}, {Source: "a", Name: "in", Target: "a"}}}
	if err := f.ofRelations(h); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		features []string
		weight   string
	}{{[]string{"p", "q", "s", "none=x"}, ""}, {[]string{"q", "s", "none=x"}, "w"}, {[]string{"r", "s", "none=x"}, "v"}} {
		if x := h.Relations[i].Table; !slices.Equal(x.EdgeFeatures, want.features) || x.Weight != want.weight {
			t.Errorf("relation %d has %q and %q", i, x.EdgeFeatures, x.Weight)
		}
	}
}
