package sample_test

import (
	"testing"

	"sagann/chunk"
	"sagann/sample"
)

// The samplers of the package's documentation.
func TestSamplersOfDoc(t *testing.T) {
	e := &chunk.Edges{V: 10}
	for v := range uint32(10) {
		e.Src, e.Dst = append(e.Src, v), append(e.Dst, (v+1)%10)
	}
	g, err := sample.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	pick := func(s sample.Sample, at sample.Pool, r sample.Rand) sample.Int { return r.Pick(at) }
	draw := func(s sample.Sampler) *sample.Samples {
		p, err := sample.Compile(g, s)
		if err != nil {
			t.Fatal(err)
		}
		key, out := sample.Key{Seed: 1}, &sample.Samples{}
		if err := p.Run(out, p.Roots(100, 0, key), 0, key); err != nil {
			t.Fatal(err)
		}
		return out
	}

	again := draw(sample.Sampler{Name: "again", Steps: 50, Next: pick,
		Transits: func(s sample.Sample, _ sample.Int, r sample.Rand) sample.Int {
			return sample.If(sample.Less(r.Uniform(), sample.Const(0.2)), s.Root(sample.Whole(0)), s.Prev(1))
		},
	})
	begun := 0 // a walk on the ring goes one back, or to the neighbour of its root
	for k := 1; k <= 50; k++ {
		for i := range again.N {
			root, from, to := again.Steps[0][i], again.Steps[k-1][i], again.Steps[k][i]
			switch to {
			case (from + 9) % 10:
			case (root + 9) % 10:
				begun++
			default:
				t.Fatalf("walk %d from %d goes from %d to %d", i, root, from, to)
			}
		}
	}
	if begun < 500 || begun > 1000 { // 0.2 of 5000, without those that stood at the root
		t.Errorf("%d of 5000 steps begin again", begun)
	}

	five := draw(sample.Sampler{Name: "five", Steps: 8, State: []sample.Field{{Name: "moves", Len: 1}},
		Next: func(s sample.Sample, at sample.Pool, r sample.Rand) sample.Int {
			zero := sample.Whole(0)
			n := s.Get("moves", zero)
			s.Set("moves", zero, sample.Add(n, sample.Whole(1)))
			return sample.If(sample.Less(n, sample.Whole(5)), r.Pick(at), sample.None)
		},
	})
	for i := range five.N {
		if n := len(five.Vertices(nil, i)); n != 6 {
			t.Errorf("walk %d has %d vertices, want its root and 5", i, n)
		}
	}

	hubs := sample.Sampler{Name: "hubs", Steps: 1, Output: sample.Layers,
		Size:  func(step int) int { return 5 },
		Score: func(e sample.Edge) sample.Real { return sample.ToReal(e.Row(e.Source()).Degree()) },
	}
	p, err := sample.Compile(g, hubs)
	if err != nil {
		t.Fatal(err)
	}
	var b sample.Blocks
	if err := p.Blocks(&b, []uint32{3, 4}, sample.Key{}); err != nil {
		t.Fatal(err)
	}
	if len(b.Layers[0].Far) != 2 {
		t.Errorf("%d edges, want the only one of each seed", len(b.Layers[0].Far))
	}
}
