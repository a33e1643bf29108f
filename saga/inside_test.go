package saga_test

import (
	"math"
	"testing"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// Attention whose backward pass sums numbers on edges, rather than multiply sums that the forward pass has kept, gives the same losses but for rounding, and keeps less.
func TestInsideLosses(t *testing.T) {
	typed := threeTypes(t)
	for _, name := range []string{"gat", "hgt", "transformer"} {
		m, err := layers.New(name, layers.Options{Hidden: 8, Classes: 3, Layers: 3, Heads: 2, Features: 6})
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		most := int64(0)
		for _, c := range []saga.Config{{Chunks: 4}, {Chunks: 4}, {Chunks: 7, Stream: true}, {Chunks: 9, Stream: true, Outcome: saga.Outcome{Wide: saga.AllFar}}} {
			c.Outcome.Inside, c.Save = want != nil, saga.SaveNone
			p, err := saga.Compile(m, typed, c)
			if err != nil {
				t.Fatal(err)
			}
			var got []float64
			for range 3 {
				x, err := p.Step()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, float64(x))
			}
			bytes := p.TensorBytes()
			if p.Outcome().Inside != c.Outcome.Inside {
				t.Errorf("%s: the outcome says %v", name, p.Outcome().Inside)
			}
			p.Close()
			if want == nil {
				want, most = got, bytes
				continue
			}
			if c.Chunks == 4 && name == "gat" && bytes >= most {
				t.Errorf("%s: %d bytes, %d otherwise", name, bytes, most)
			}
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 2e-5*want[i]) {
					t.Errorf("%s, %+v: losses %v, want %v", name, c, got, want)
					break
				}
			}
		}
	}
}

// threeTypes is a small graph of three types, three relations and their reverses, with labels of papers.
func threeTypes(t *testing.T) *dataset.Data {
	t.Helper()
	h, err := dataset.ParseHeteroSpec("author=900x4,field=300,paper=1100x6,author:writes:paper=5000,paper:cites:paper=4000,paper:in:field=3000,target=paper,classes=3,reverse=yes,seed=1")
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := dataset.SyntheticHetero(h)
	if err != nil {
		t.Fatal(err)
	}
	paper, err := kinds.Labelled("")
	if err != nil {
		t.Fatal(err)
	}
	return kinds.At(paper)
}
