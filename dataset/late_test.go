package dataset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSyntheticLate says that features made when they are laid out are those that
// Synthetic makes, again and again, also of copies.
func TestSyntheticLate(t *testing.T) {
	for _, text := range []string{"vertices=70000,edges=1000,features=3,classes=5", "vertices=300,edges=900,features=4,classes=3,copies=3,skew=0.5"} {
		s, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Synthetic(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := SyntheticLate(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := Validate(got); err != nil || got.Features != nil {
			t.Fatalf("%s: %v, %d features", text, err, len(got.Features))
		}
		x := make([]float32, len(want.Features))
		for range 2 {
			clear(x)
			got.Late.Make(func(v int) []float32 { return x[v*got.FeatureCols : (v+1)*got.FeatureCols] })
			if d := cmp.Diff(want.Features, x); d != "" {
				t.Fatalf("%s: %.200s", text, d)
			}
		}
		got.HoldFeatures()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %.300s", text, d)
		}
	}
}
