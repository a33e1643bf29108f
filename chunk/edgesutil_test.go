package chunk

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sagann/internal/draw"
)

func TestValidateNamesTheFault(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, tc := range []struct {
		name string
		e    Edges
		want string
	}{
		{"source out of range", Edges{V: 3, Src: []uint32{0, 3}, Dst: []uint32{0, 1}}, "edge 1 goes from 3 to 1"},
		{"destination out of range", Edges{V: 3, Src: []uint32{0}, Dst: []uint32{math.MaxUint32}}, "edge 0"},
		{"negative V", Edges{V: -1}, "-1 vertices"},
		{"ends", Edges{V: 3, Src: []uint32{0}, Dst: nil}, "1 sources but 0 destinations"},
		{"weights", Edges{V: 3, Src: []uint32{0}, Dst: []uint32{0}, Weight: []float32{1, 2}}, "2 weights for 1 edges"},
		{"NaN", Edges{V: 3, Src: []uint32{0}, Dst: []uint32{0}, Weight: []float32{nan}}, "edge 0 has weight NaN"},
		{"type", Edges{V: 3, Src: []uint32{0}, Dst: []uint32{0}, Type: []uint32{2}, Types: 2}, "edge 0 has type 2 of 2"},
		{"types", Edges{V: 3, Src: []uint32{0}, Dst: []uint32{0}, Type: []uint32{}, Types: 2}, "0 edge types for 1 edges"},
		{"types without type", Edges{V: 3, Types: 2}, "no edge has a type"},
		{"data", Edges{V: 3, Src: []uint32{0}, Dst: []uint32{0}, Data: []float32{1}, DataCols: 2}, "1 values of edge data"},
		{"data columns", Edges{V: 3, DataCols: 1 << 62}, "columns"},
		{"infinity", Edges{V: 3, Src: []uint32{0, 0}, Dst: []uint32{0, 0}, Data: []float32{1, 1, 1, inf}, DataCols: 2}, "edge 1 has -Inf in column 1"},
	} {
		err := tc.e.Validate()
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want it to say %q", tc.name, err, tc.want)
		}
		if _, err := Build(&tc.e, nil, 2, Want{CSC: true}); err == nil {
			t.Errorf("%s: Build accepts it", tc.name)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	e := &Edges{V: 2, Src: []uint32{0}, Dst: []uint32{1}}
	for _, w := range []Want{{Type: true}, {Weight: true}, {Data: true}} {
		if _, err := Build(e, nil, 1, w); err == nil {
			t.Errorf("Build gives %+v from plain edges", w)
		}
	}
	for _, p := range []int{-1, 0, MaxIntervals + 1} {
		if _, err := Build(e, nil, p, Want{}); err == nil {
			t.Errorf("Build accepts P=%d", p)
		}
	}
	for _, o := range []*Order{{}, Identity(3), {New: []uint32{0, 0}, Old: []uint32{0, 1}}, {New: []uint32{0, 2}, Old: []uint32{0, 1}}} {
		if _, err := Build(e, o, 1, Want{}); err == nil {
			t.Errorf("Build accepts order %v", o)
		}
	}
}

func TestRankLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("16 M edges")
	}
	n := MaxRankDegree
	e := &Edges{V: 2, Src: make([]uint32, n+1), Dst: make([]uint32, n+1)}
	ranks := func() ([]float32, error) {
		b, err := newBuilder(e, nil, Intervals{V: 2, P: 2, Width: 1}, Want{Rank: true}, Memory{})
		return b.rank, err
	}
	if _, err := ranks(); err == nil || !strings.Contains(err.Error(), "vertex 0") {
		t.Errorf("error %v, want one that names vertex 0", err)
	}
	e.Src, e.Dst = e.Src[:n], e.Dst[:n]
	if r, err := ranks(); err != nil || r[n-1] != float32(n-1) || uint32(r[n-1]) != uint32(n-1) {
		t.Errorf("%d in-edges are refused: %v", n, err)
	}
}

func TestSelfLoops(t *testing.T) {
	e := &Edges{V: 4, Src: []uint32{1, 0, 1}, Dst: []uint32{1, 2, 1}, Weight: []float32{5, 6, 7},
		Type: []uint32{1, 1, 0}, Types: 2, Data: []float32{1, 2, 3, 4, 5, 6}, DataCols: 2}
	want := &Edges{V: 4, Src: []uint32{1, 0, 1, 0, 2, 3}, Dst: []uint32{1, 2, 1, 0, 2, 3}, Weight: []float32{5, 6, 7, 1, 1, 1},
		Type: []uint32{1, 1, 0, 0, 0, 0}, Types: 2, Data: []float32{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0}, DataCols: 2}
	got := e.WithSelfLoops()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, got.WithSelfLoops()); d != "" {
		t.Errorf("a second time: %s", d)
	}
	bare := &Edges{V: 2, DataCols: 3, Type: []uint32{}}
	if got := bare.WithSelfLoops(); got.Validate() != nil || len(got.Data) != 6 || got.Types != 1 {
		t.Errorf("self loops of a graph without edges: %+v, %v", got, got.Validate())
	}
}

func TestSymmetric(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		e := drawEdges(t)
		s := e.Symmetric()
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		// The reference counts with maps how many of each edge are alone.
		type pair [2]uint32
		count, met := map[pair]int{}, map[pair]int{}
		for k := range e.Src {
			count[pair{e.Src[k], e.Dst[k]}]++
		}
		want := e.grow(0)
		for k := range e.Src {
			p := pair{e.Src[k], e.Dst[k]}
			met[p]++
			if p[0] == p[1] || met[p] <= count[pair{p[1], p[0]}] {
				continue
			}
			want.Src, want.Dst = append(want.Src, p[1]), append(want.Dst, p[0])
			if e.Weight != nil {
				want.Weight = append(want.Weight, e.Weight[k])
			}
			if e.Type != nil {
				want.Type = append(want.Type, e.Type[k])
			}
			want.Data = append(want.Data, e.Data[k*e.DataCols:(k+1)*e.DataCols]...)
		}
		if d := cmp.Diff(want, s); d != "" {
			t.Fatalf("-want +got\n%s", d)
		}
		if d := cmp.Diff(s, s.Symmetric()); d != "" {
			t.Fatalf("a second time: %s", d)
		}
		in, out := s.InDegrees(), s.OutDegrees()
		if !slices.Equal(in, out) {
			t.Fatalf("in-degrees %v, out-degrees %v", in, out)
		}
		if !slices.Equal(e.InDegrees(), e.Reverse().OutDegrees()) {
			t.Fatal("Reverse does not swap the degrees")
		}
	})
}
