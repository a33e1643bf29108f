package layers

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/internal/testdata"
)

// golden holds the reference values of one model: float64, from formulas.
type golden struct {
	data           *dataset.Data
	loss           float64
	hidden, logits []float32
	features       []float32            // gradient
	params, grads  map[string][]float32 // by full name
}

// readGolden reads model name; use says which edge values its graph carries.
func readGolden(t testing.TB, name, use string) *golden {
	root := testdata.Dir(t, "golden")
	shared := func(file string) *npy.Array { return readArray(t, filepath.Join(root, file+".npy")) }
	src, dst := must(shared("src").Uint32s())(t), must(shared("dst").Uint32s())(t)
	x := shared("features")
	labels := must(shared("labels").Int32s())(t)
	e := &chunk.Edges{V: x.Shape[0], Src: src, Dst: dst}
	switch use {
	case "weight":
		e.Weight = must(shared("edge_weight").Float32s())(t)
	case "type":
		e.Type = must(shared("edge_type").Uint32s())(t)
		e.Types = int(slices.Max(e.Type)) + 1
	case "data":
		d := shared("edge_data")
		e.Data, e.DataCols = must(d.Float32s())(t), d.Shape[1]
	}
	g := &golden{params: map[string][]float32{}, grads: map[string][]float32{}}
	g.data = &dataset.Data{Name: "golden", Edges: e, Features: must(x.Float32s())(t), FeatureCols: x.Shape[1],
		Labels: labels, Classes: int(slices.Max(labels)) + 1, Train: must(shared("mask").Uint32s())(t)}
	for v := range uint32(e.V) { // any other vertices will do for the other splits
		switch {
		case slices.Contains(g.data.Train, v):
		case len(g.data.Val) < 10:
			g.data.Val = append(g.data.Val, v)
		default:
			g.data.Test = append(g.data.Test, v)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, name, "*.npy"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no reference values of %s: %v", name, err)
	}
	for _, f := range files {
		x := must(readArray(t, f).Float32s())(t)
		switch what := strings.TrimSuffix(filepath.Base(f), ".npy"); {
		case what == "hidden":
			g.hidden = x
		case what == "logits":
			g.logits = x
		case what == "grad.features":
			g.features = x
		case strings.HasPrefix(what, "grad."):
			g.grads[strings.TrimPrefix(what, "grad.")] = x
		default:
			g.params[what] = x
		}
	}
	meta, err := os.ReadFile(filepath.Join(root, name, "meta.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Loss float64 }
	if err := json.Unmarshal(meta, &m); err != nil {
		t.Fatal(err)
	}
	g.loss = m.Loss
	return g
}

func readArray(t testing.TB, path string) *npy.Array {
	t.Helper()
	a, err := npy.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// must gives x, or ends the test with err.
func must[T any](x T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// compare allows an error of tolerance times the largest reference value.
func compare(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	var worst, largest float64
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - float64(w)); !(d <= worst) { // NaN counts
			worst = d
		}
		largest = max(largest, math.Abs(float64(w)))
	}
	if !(worst <= tolerance*largest) {
		t.Errorf("%s: off by %.3g where the largest is %.3g", what, worst, largest)
	}
}
