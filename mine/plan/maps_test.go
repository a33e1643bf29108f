package plan

import (
	"testing"

	"sagann/mine/pattern"
)

// TestMapsFound: which patterns have Maps, and of what work: none is pushed two edges
// away where there is another way.
func TestMapsFound(t *testing.T) {
	d := Degrees{Vertices: 1e4, Entries: 1e6, Squares: 1e8, Two: 3e7, Three: 3e9, Most: 1000}
	for _, c := range []struct {
		pattern string
		ok      bool
		work    float64 // entries at most
	}{
		{"0-1-2-3-0 0-4-3 1-5-2", true, 5e8}, // a square with triangles on two sides
		{"house", true, 5e8},
		{"diamond", true, 1e7},
		{"0-1-2-0 2-3-4-2", true, 1e7}, // two triangles at a vertex
		{"path6", true, 1e7},
		{"cycle5", true, 1e10},
		{"clique4", false, 0},
		{"0-1-2-3-0 4-0 4-1 4-2 4-3", false, 0}, // a wheel
		{"0-3 0-4 0-5 1-3 1-4 1-5 2-3 2-4 2-5", false, 0},
	} {
		m, w := NewMaps(pattern.Must(c.pattern), d)
		if (m != nil) != c.ok || w.Visits+w.Pulled+w.Pushed > c.work {
			t.Errorf("%s: %+v, %+v", c.pattern, m, w)
		}
	}
	d.Most = 1e7
	if m, _ := NewMaps(pattern.Must("cycle8"), d); m != nil {
		t.Errorf("numbers of %+v may need more than 63 bits", m)
	}
}
