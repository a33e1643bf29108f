package saga

import (
	"encoding/json"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/internal/metrics"
)

// linkFile is testdata/links.json, written by bench/peer/linkheads.py.
type linkFile struct {
	C        int
	Z        []float32
	Src, Dst []uint32
	Edges    int
	Heads    []struct {
		Head       LinkHead
		W, DW      [][]float64
		Scores, DZ []float64
		Loss       float64
	}
	Metrics []struct {
		Scores       []float64
		Positive     int
		AUC, AP, MRR float64
		Hits         []float64
	}
}

func readLinks(t *testing.T) *linkFile {
	t.Helper()
	text, err := os.ReadFile("testdata/links.json")
	if err != nil {
		t.Fatal(err)
	}
	f := &linkFile{}
	if err := json.Unmarshal(text, f); err != nil {
		t.Fatal(err)
	}
	return f
}

func nearly(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Scores, loss and gradients of every head are PyTorch's, on any number of processors bit for bit alike.
func TestLinkHeadsGolden(t *testing.T) {
	f := readLinks(t)
	pairs := &dataset.Pairs{Src: f.Src, Dst: f.Dst}
	for _, h := range f.Heads {
		s := &scorer{head: h.Head, c: f.C, z: f.Z}
		for _, w := range h.W {
			x := make([]float32, len(w))
			for i := range w {
				x[i] = float32(w[i])
			}
			s.w = append(s.w, x)
		}
		for i, x := range s.scores(pairs) {
			nearly(t, string(h.Head)+": a score", x, h.Scores[i], 1e-5)
		}
		loss, dz, dw := s.gradients(pairs, f.Edges)
		nearly(t, string(h.Head)+": the loss", loss, h.Loss, 1e-6)
		for i, x := range dz {
			nearly(t, string(h.Head)+": dz", float64(x), h.DZ[i], 1e-6)
		}
		for k := range h.DW {
			for i, x := range dw[k] {
				nearly(t, string(h.Head)+": dw", float64(x), h.DW[k][i], 1e-6)
			}
		}
		old := runtime.GOMAXPROCS(1)
		_, dz1, dw1 := s.gradients(pairs, f.Edges)
		runtime.GOMAXPROCS(5)
		_, dz5, dw5 := s.gradients(pairs, f.Edges)
		runtime.GOMAXPROCS(old)
		if !slices.Equal(dz1, dz5) || !slices.EqualFunc(dw1, dw5, slices.Equal[[]float32]) {
			t.Errorf("%s: gradients depend on the number of processors", h.Head)
		}
	}
}

// Metrics of links are scikit-learn's and those of ogb, ties included.
func TestLinkMetricsGolden(t *testing.T) {
	for _, m := range readLinks(t).Metrics {
		is := make([]bool, len(m.Scores))
		for i := range m.Positive {
			is[i] = true
		}
		pos, neg := m.Scores[:m.Positive], m.Scores[m.Positive:]
		nearly(t, "AUC", metrics.AUC(m.Scores, is), m.AUC, 1e-9)
		nearly(t, "AP", metrics.AveragePrecision(m.Scores, is), m.AP, 1e-9)
		nearly(t, "MRR", metrics.MRR(pos, neg), m.MRR, 1e-9)
		for i, k := range hitsAt {
			nearly(t, "hits", metrics.Hits(pos, neg, k), m.Hits[i], 1e-9)
		}
	}
}

// Negatives are a function of seed and epoch, differ between epochs, and are no edges.
func TestNegatives(t *testing.T) {
	d, err := dataset.SplitLinks(dataset.Karate(), dataset.LinkShares{Val: 0.1, Test: 0.1}, 3)
	if err != nil {
		t.Fatal(err)
	}
	l := d.Targets.Links
	p := &definition{request: request{cfg: Config{Seed: 9}}, in: &inputs{link: &linker{links: l}}}
	a, b, c := p.negatives(4), p.negatives(4), p.negatives(5)
	if !slices.Equal(a.Src, b.Src) || !slices.Equal(a.Dst, b.Dst) || slices.Equal(a.Src, c.Src) {
		t.Error("negatives must depend on the epoch, and on nothing else")
	}
	has := map[[2]uint32]bool{}
	for k := range d.Edges.Src {
		has[[2]uint32{d.Edges.Src[k], d.Edges.Dst[k]}] = true
	}
	for k := range a.Src {
		if a.Src[k] == a.Dst[k] || has[[2]uint32{a.Src[k], a.Dst[k]}] {
			t.Errorf("(%d, %d) was drawn", a.Src[k], a.Dst[k])
		}
	}
}
