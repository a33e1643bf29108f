package words

import "testing"

// TestText: words follow the number that stands before them.
func TestText(t *testing.T) {
	for want, got := range map[string]string{
		"1 vertex, 2 edges, 0 classes":          Text("%d {vertex|vertices}, %d {edge|edges}, %d {class|classes}", 1, uint32(2), int64(0)),
		"a: of 20 ids 1 is new, 5 %":            Text("%s: of %d {id|ids} %d {is|are} new, 5 %%", "a", 20, 1),
		"2.50 {x} of 1 row, {one|more} {1|2}":   Text("%.2f {x} of %d {row|rows}, %s", 2.5, 1, "{one|more} {1|2}"),
		"{'kind': 'x'} has 3 columns, {1":       Text("{'kind': 'x'} has %d {column|columns}, {%d", 3, 1),
		"1 column of 100 % and an open { brace": Text("%d {column|columns} of 100 %% and an open { brace", 1),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
