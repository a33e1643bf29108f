package sample

import "testing"

func TestDigest(t *testing.T) {
	g := mustGraph(t, randomEdges(30, 200, 1))
	list := append(every(), Node2vec(15, 2, 0.25), PPR(0.25), Neighbours(5, 4), DeepWalk(21))
	seen := map[string]string{}
	for _, s := range list {
		p, err := Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Compile(g, s)
		if err != nil || again.Digest() != p.Digest() {
			t.Errorf("%s compiled again has another digest (%v)", s.Name, err)
		}
		if other := seen[p.Digest()]; other != "" {
			t.Errorf("%s and %s have one digest", s.Name, other)
		}
		seen[p.Digest()] = s.Name
	}
}
