package pattern

import "testing"

// TestInjective compares the sum with what trying all maps of the patterns gives, to a
// graph that is a pattern itself.
func TestInjective(t *testing.T) {
	graphs := []Pattern{Must("clique6"), Must("0-1-2-3-4-5-6-7-0 0-3 1-5 2-6 0-2"), Must("0-1-2-0-3-4-0 4-5 5-6 6-0")}
	for _, text := range []string{"edge", "path4", "cycle5", "cycle6", "house", "0-1-2-3-0 0-4-3 1-5-2", "clique4", "0-1-2-0 2-3-4-2"} {
		p := Must(text)
		for name, countable := range map[string]func(Pattern) bool{
			"all":    func(Pattern) bool { return true },
			"none":   func(Pattern) bool { return false },
			"sparse": func(q Pattern) bool { return q.Edges() <= q.n+1 },
		} {
			all, rest := p.Injective(countable)
			for i, g := range graphs {
				sum := int64(0)
				for _, x := range all {
					sum += x.Times * mapsTo(x.Pattern, g, false)
				}
				for _, x := range rest {
					sum += x.Times * mapsTo(x.Pattern, g, true)
				}
				if want := mapsTo(p, g, true); sum != want {
					t.Errorf("%s, %s countable, graph %d: %d injective maps, want %d", text, name, i, sum, want)
				}
			}
		}
	}
}

// mapsTo counts maps that keep edges by trying all.
func mapsTo(p, g Pattern, injective bool) int64 {
	n := int64(0)
	var to [MaxVertices]int
	var next func(i int)
	next = func(i int) {
		if i == p.n {
			n++
			return
		}
	try:
		for x := range g.n {
			for j := range i {
				if p.Adjacent(i, j) && !g.Adjacent(x, to[j]) || injective && to[j] == x {
					continue try
				}
			}
			to[i] = x
			next(i + 1)
		}
	}
	next(0)
	return n
}
