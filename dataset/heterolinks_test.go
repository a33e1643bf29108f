package dataset

import (
	"strings"
	"testing"

	"sagann/chunk"
)

// TestReverseOfAnotherName: pairs that are held out and stand in another relation between the types are told, with their number.
func TestReverseOfAnotherName(t *testing.T) {
	h := &Hetero{Name: "shop"}
	for _, name := range []string{"item", "user"} {
		h.Types = append(h.Types, VertexType{Name: name, Rows: &Data{Name: name, Edges: &chunk.Edges{V: 10}}})
	}
	var users, items []uint32
	for k := range uint32(20) {
		users, items = append(users, k%10), append(items, (k*3+k/10)%10)
	}
	h.Relations = []Relation{{Source: 0, Name: "bought_by", Target: 1, Links: &Data{Edges: &chunk.Edges{V: 10, Src: items, Dst: users}}},
		{Source: 1, Name: "buys", Target: 0, Links: &Data{Edges: &chunk.Edges{V: 10, Src: users, Dst: items}}}}
	out, err := SplitRelation(h.Along(1), LinkShares{Val: 0.2, Test: 0.2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(out.Report.Warnings, "; "); !strings.Contains(text, "8 pairs of validation or testing are joined by item:bought_by:user, too") {
		t.Errorf("warnings %q", text)
	}
}
