package sample

import (
	"math"
	"slices"
	"testing"

	"sagann/dataset"
)

func TestSkipGram(t *testing.T) {
	club := dataset.Karate()
	g := mustGraph(t, club.Edges)
	p, err := Compile(g, Node2vec(20, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	walks := func(f func(walk []uint32) error) error {
		var s Samples
		if err := p.Run(&s, p.Roots(1500, 0, Key{Seed: 1}), 0, Key{Seed: 1}); err != nil {
			return err
		}
		for i := range s.N {
			if err := f(s.Vertices(nil, i)); err != nil {
				return err
			}
		}
		return nil
	}
	c := SkipGram{Dims: 12, Window: 4, Negative: 5, Epochs: 2, Rate: 0.025, Seed: 3}
	x, err := c.Train(34, walks)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Train(34, walks)
	if err != nil || !slices.Equal(x, again) {
		t.Errorf("another run gives other vectors (%v)", err)
	}
	cosine := func(a, b int) float64 {
		u, v := x[a*12:a*12+12], x[b*12:b*12+12]
		return float64(dot(u, v)) / math.Sqrt(float64(dot(u, u))*float64(dot(v, v)))
	}
	var same, other, n, m float64
	for a := range 34 {
		for b := range a {
			if club.Labels[a] == club.Labels[b] {
				same, n = same+cosine(a, b), n+1
			} else {
				other, m = other+cosine(a, b), m+1
			}
		}
	}
	if same/n < other/m+0.1 {
		t.Errorf("mean cosine of vertices of one side %.2f, of two %.2f", same/n, other/m)
	}
	for _, bad := range []SkipGram{{}, {Dims: 4, Window: 0, Negative: 1, Epochs: 1, Rate: 1}, {Dims: 4, Window: 1, Negative: 1, Epochs: 0, Rate: 1}, {Dims: 4, Window: 1, Negative: 1, Epochs: 1, Rate: float32(math.NaN())}} {
		if _, err := bad.Train(34, walks); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if _, err := c.Train(34, func(func([]uint32) error) error { return nil }); err == nil {
		t.Error("no walks are taken")
	}
}
