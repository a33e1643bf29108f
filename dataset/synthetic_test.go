package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sagann/internal/draw"
)

func mustSynthetic(t testing.TB, spec string) *Data {
	t.Helper()
	s, err := ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Synthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := ValidateTraining(d); err != nil {
		t.Fatal(err)
	}
	return d
}

// neighbourMean is the mean feature row of each vertex's in-neighbours.
func neighbourMean(d *Data) []float32 {
	f := d.FeatureCols
	out := make([]float32, len(d.Features))
	degree := make([]float32, d.Edges.V)
	for e, s := range d.Edges.Src {
		t := int(d.Edges.Dst[e])
		degree[t]++
		for k := range f {
			out[t*f+k] += d.Features[int(s)*f+k]
		}
	}
	for v, n := range degree {
		for k := range f {
			out[v*f+k] /= max(n, 1)
		}
	}
	return out
}

// logistic trains softmax regression on x by gradient descent and returns the
// accuracy on the test split. For classes of equal spread around their centroids
// it approaches the best that any model of x can do.
func logistic(d *Data, x []float32, epochs int, rate float64) float64 {
	f, classes := d.FeatureCols, d.Classes
	w := make([]float64, f*classes)
	s := make([]float64, classes)
	scores := func(v uint32) []float64 { // valid until the next call
		row := x[int(v)*f : int(v+1)*f]
		clear(s)
		for k, xk := range row {
			for c := range s {
				s[c] += float64(xk) * w[k*classes+c]
			}
		}
		return s
	}
	for range epochs {
		grad := make([]float64, len(w))
		for _, v := range d.Train {
			p := scores(v)
			top, sum := slices.Max(p), 0.0
			for c := range p {
				p[c] = math.Exp(p[c] - top)
				sum += p[c]
			}
			for c := range p {
				p[c] /= sum
			}
			p[d.Labels[v]]--
			for k, xk := range x[int(v)*f : int(v+1)*f] {
				for c := range p {
					grad[k*classes+c] += float64(xk) * p[c]
				}
			}
		}
		for i := range w {
			w[i] -= rate * grad[i] / float64(len(d.Train))
		}
	}
	right := 0
	for _, v := range d.Test {
		s := scores(v)
		if int32(slices.Index(s, slices.Max(s))) == d.Labels[v] {
			right++
		}
	}
	return float64(right) / float64(len(d.Test))
}

// TestEdgesAreNeeded is the promise of the built-in graph: features alone cannot
// reach 0.70, features of the neighbours reach 0.95.
func TestEdgesAreNeeded(t *testing.T) {
	s := DefaultSpec()
	d := mustSynthetic(t, "")
	// The true centroids classify as well as any model without edges can.
	center := centroids(&s, s.stream(featureStream))
	right := 0
	for v, c := range d.Labels {
		score := make([]float64, s.Classes)
		for k, x := range d.Features[v*s.Features : (v+1)*s.Features] {
			for i := range score {
				score[i] += float64(x) * center[i][k]
			}
		}
		if slices.Index(score, slices.Max(score)) == int(c) {
			right++
		}
	}
	bound := float64(right) / float64(len(d.Labels))
	raw := logistic(d, d.Features, 15, 3)
	mean := logistic(d, neighbourMean(d), 8, 30)
	t.Logf("best without edges %.3f; softmax regression on features %.3f, on the neighbours' mean %.3f", bound, raw, mean)
	if bound < 0.45 || bound > 0.60 || raw > bound+0.02 {
		t.Errorf("features alone: bound %.3f, reached %.3f; want 0.45..0.60", bound, raw)
	}
	if mean < 0.95 {
		t.Errorf("neighbours' mean reaches %.3f, want 0.95", mean)
	}
}

func TestSyntheticShape(t *testing.T) {
	d := mustSynthetic(t, "vertices=1000,edges=9999,features=5,classes=4,seed=7")
	if d.Edges.V != 1000 || d.Edges.E() != 9999 || d.FeatureCols != 5 {
		t.Errorf("V %d, E %d, F %d", d.Edges.V, d.Edges.E(), d.FeatureCols)
	}
	if len(d.Train) != 500 || len(d.Val) != 250 || len(d.Test) != 250 {
		t.Errorf("splits %d, %d, %d", len(d.Train), len(d.Val), len(d.Test))
	}
	same := 0
	for k := 0; k+1 < d.Edges.E(); k += 2 {
		if d.Edges.Src[k] != d.Edges.Dst[k+1] || d.Edges.Dst[k] != d.Edges.Src[k+1] || d.Edges.Src[k] == d.Edges.Dst[k] {
			t.Fatalf("edges %d and %d are not one tie both ways", k, k+1)
		}
		if d.Labels[d.Edges.Src[k]] == d.Labels[d.Edges.Dst[k]] {
			same += 2
		}
	}
	if share := float64(same) / 9999; math.Abs(share-(0.8+0.2/4)) > 0.03 {
		t.Errorf("%.3f of the edges inside communities", share)
	}
}

func TestSyntheticIsDeterministic(t *testing.T) {
	const spec = "vertices=500,edges=4K,features=8,skew=0.5"
	if diff := cmp.Diff(mustSynthetic(t, spec), mustSynthetic(t, spec)); diff != "" {
		t.Error(diff)
	}
	other := mustSynthetic(t, spec+",seed=2")
	if cmp.Equal(mustSynthetic(t, spec).Edges, other.Edges) {
		t.Error("another seed, the same edges")
	}
	wide := mustSynthetic(t, "vertices=500,edges=4K,features=9,skew=0.5")
	if !cmp.Equal(mustSynthetic(t, spec).Edges, wide.Edges) {
		t.Error("the feature width changed the edges")
	}
}

func TestCopies(t *testing.T) {
	one := mustSynthetic(t, "vertices=100,edges=600,features=3,classes=2")
	four := mustSynthetic(t, "vertices=100,edges=600,features=3,classes=2,copies=4")
	if four.Edges.V != 400 || four.Edges.E() != 2400 || len(four.Test) != 4*len(one.Test) {
		t.Fatalf("V %d, E %d", four.Edges.V, four.Edges.E())
	}
	for e := range four.Edges.Src {
		c, k := uint32(e/600), e%600
		if four.Edges.Src[e] != one.Edges.Src[k]+100*c || four.Edges.Dst[e] != one.Edges.Dst[k]+100*c {
			t.Fatalf("edge %d is not edge %d of copy %d", e, k, c)
		}
	}
	if four.Labels[250] != one.Labels[50] || four.Features[250*3+1] != one.Features[50*3+1] {
		t.Error("labels or features differ between copies")
	}
}

func degrees(d *Data) []int {
	deg := make([]int, d.Edges.V)
	for _, v := range d.Edges.Dst {
		deg[v]++
	}
	slices.Sort(deg)
	slices.Reverse(deg)
	return deg
}

func TestSkew(t *testing.T) {
	const spec = "vertices=5000,edges=100K,features=1"
	flat, skewed := degrees(mustSynthetic(t, spec)), degrees(mustSynthetic(t, spec+",skew=0.7"))
	rmat := degrees(mustSynthetic(t, spec+",kind=rmat"))
	if flat[0] > 60 {
		t.Errorf("largest degree without skew %d", flat[0])
	}
	// Ranks 8 and 128 differ by 16^0.7 = 7.
	if r := float64(skewed[7]) / float64(skewed[127]); r < 4 || r > 11 {
		t.Errorf("degrees of ranks 8 and 128 stand %.1f to 1, want about 7", r)
	}
	if rmat[0] < 200 {
		t.Errorf("largest degree of R-MAT %d", rmat[0])
	}
}

func TestGeneratorSpeed(t *testing.T) {
	if !draw.Soak() {
		t.Skip("it takes times: make soak")
	}
	for _, c := range []struct {
		spec  string
		limit time.Duration
	}{
		{"", 500 * time.Millisecond},
		{"vertices=50K,edges=2M,features=64,skew=0.5", 3 * time.Second},
		{"vertices=50K,edges=2M,features=16,kind=rmat", 3 * time.Second},
	} {
		start := time.Now()
		mustSynthetic(t, c.spec)
		took := time.Since(start)
		t.Logf("%q: %v", c.spec, took)
		if took > 4*c.limit { // a busy or race-checked machine is no fault
			t.Errorf("%q took %v, want %v", c.spec, took, c.limit)
		}
	}
}

func TestParseSpec(t *testing.T) {
	got, err := ParseSpec("vertices=233e3, edges=23.2M,features=602,classes=41,seed=9,copies=4,skew=0.5")
	want := Spec{Kind: Communities, Vertices: 233000, Edges: 23200000, Features: 602, Classes: 41, Seed: 9, Copies: 4, Skew: 0.5}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ParseSpec("vertices=8Ki,edges=8K"); err != nil || got.Vertices != 8192 || got.Edges != 8000 {
		t.Errorf("%+v, %v", got, err)
	}
	for spec, want := range map[string]string{
		"nodes=5":             "classes, copies, edges, features, kind, seed, skew, vertices",
		"vertices":            "no value",
		"vertices=1":          "vertices=1",
		"vertices=1.5":        "whole",
		"vertices=9e9":        "vertices=9000000000",
		"edges=-2":            "edges=-2",
		"classes=0":           "classes=0",
		"copies=0":            "",
		"copies=1e8":          "copies=",
		"features=1e15":       "features=",
		"skew=NaN":            "skew=NaN",
		"kind=tree":           "kind=tree",
		"kind=rmat,skew=1":    "R-MAT",
		"seed=-1":             "seed=-1",
		"vertices=9,edges=1e": "not a number",
		"edges=5,edges=6":     "twice",
	} {
		_, err := ParseSpec(spec)
		if want == "" {
			if err != nil {
				t.Errorf("%q: %v", spec, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", spec, err, want)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add("vertices=20000,edges=400000,features=64,classes=8,seed=1,copies=1,skew=0")
	f.Add("kind=rmat,vertices=8Ki")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpec(text)
		if err != nil || s.Copies*s.Vertices > 1e4 || s.Copies*s.Edges > 1e4 || s.Features > 100 {
			return
		}
		d, err := Synthetic(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(d); err != nil {
			t.Fatal(err)
		}
	})
}
