package metrics

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func nearAverage(t *testing.T, what string, got, want Average) {
	t.Helper()
	near(t, what+" precision", got.Precision, want.Precision)
	near(t, what+" recall", got.Recall, want.Recall)
	near(t, what+" F1", got.F1, want.F1)
}

// TestConfuse: seven rows of four classes, counted by hand. Class 2 is never predicted, class 3
// neither occurs nor is predicted.
func TestConfuse(t *testing.T) {
	truth := []int32{0, 0, 0, 1, 1, 2, 2}
	said := []int32{0, 0, 1, 1, 0, 0, 1}
	c := Confuse(truth, said, 4)
	if want := (Confusion{{2, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 0, 0}}); !reflect.DeepEqual(c, want) {
		t.Errorf("%v, want %v", c, want)
	}
	near(t, "accuracy", c.Accuracy(), 3.0/7)
	list := c.Classes()
	if want := []Class{{2, 4, 3}, {1, 3, 2}, {0, 0, 2}, {0, 0, 0}}; !slices.Equal(list, want) {
		t.Errorf("%v, want %v", list, want)
	}
	near(t, "precision of 0", list[0].Precision(), 0.5)
	near(t, "recall of 0", list[0].Recall(), 2.0/3)
	near(t, "F1 of 0", list[0].F1(), 4.0/7)
	near(t, "F1 of 1", list[1].F1(), 2.0/5)
	near(t, "precision of 2", list[2].Precision(), 0)
	near(t, "recall of 3", list[3].Recall(), 0)
	if !list[2].Occurs() || list[3].Occurs() {
		t.Error("class 2 has rows, class 3 has none")
	}
	third := 1.0 / 3
	nearAverage(t, "macro", Macro(list[:3]), Average{(0.5 + third) / 3, (2*third + 0.5) / 3, (4.0/7 + 0.4) / 3})
	nearAverage(t, "macro of all", Macro(list), Average{(0.5 + third) / 4, (2*third + 0.5) / 4, (4.0/7 + 0.4) / 4})
	nearAverage(t, "weighted", Weighted(list), Average{(3*0.5 + 2*third) / 7, 3.0 / 7, (3*4.0/7 + 2*0.4) / 7})
	nearAverage(t, "micro", Micro(list), Average{3.0 / 7, 3.0 / 7, 3.0 / 7}) // of one class each: the accuracy
	nearAverage(t, "nothing", Macro(nil), Average{})
	nearAverage(t, "no rows", Weighted(list[3:]), Average{})
	near(t, "accuracy of nothing", Confuse(nil, nil, 2).Accuracy(), 0)
}

// TestCountSets: three rows of three classes each.
func TestCountSets(t *testing.T) {
	list := CountSets([]float32{1, 0, 0, 1, 1, 0, 0, 1, 0}, []bool{true, true, false, false, true, false, false, true, false}, 3)
	if want := []Class{{1, 1, 2}, {2, 3, 2}, {0, 0, 0}}; !slices.Equal(list, want) {
		t.Errorf("%v, want %v", list, want)
	}
	nearAverage(t, "micro", Micro(list), Average{0.75, 0.75, 0.75})
	nearAverage(t, "macro", Macro(list), Average{(1 + 2.0/3) / 3, 0.5, (2.0/3 + 0.8) / 3})
}

func TestAUC(t *testing.T) {
	for _, x := range []struct {
		scores   []float64
		positive []bool
		want     float64
	}{
		{[]float64{1, 2, 3, 4}, []bool{false, false, true, true}, 1},
		{[]float64{4, 3, 2, 1}, []bool{false, false, true, true}, 0},
		{[]float64{1, 2, 3, 4}, []bool{false, true, false, true}, 0.75},
		{[]float64{5, 5, 5}, []bool{true, false, true}, 0.5},
		{[]float64{1, 2, 2, 3}, []bool{false, true, false, true}, 0.875}, // of four pairs one is a tie
	} {
		near(t, "AUC", AUC(x.scores, x.positive), x.want)
	}
	for _, one := range []bool{false, true} {
		if a := AUC([]float64{1, 2}, []bool{one, one}); !math.IsNaN(a) {
			t.Errorf("rows of one kind have an area of %v", a)
		}
	}
}

// TestAUCOfROC: the area is that under the curve of gonum's stat, ties among scores included.
func TestAUCOfROC(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		scores, positive := make([]float64, 40), make([]bool, 40)
		for i := range scores {
			scores[i], positive[i] = float64(r.IntN(12)), r.IntN(3) == 0
		}
		positive[0], positive[1] = true, false
		got := AUC(scores, positive)
		stat.SortWeightedLabeled(scores, positive, nil)
		tpr, fpr, _ := stat.ROC(nil, scores, positive, nil)
		near(t, "AUC", got, integrate.Trapezoidal(fpr, tpr))
	}
}

func TestLosses(t *testing.T) {
	near(t, "cross-entropy", CrossEntropy([]float32{0, 0, 0, 0}, 2), math.Log(4))
	near(t, "cross-entropy of large logits", CrossEntropy([]float32{1000, 998}, 1), 2+math.Log1p(math.Exp(-2)))
	for _, c := range []struct {
		what                   string
		logits, flags, weights []float32
		sum                    float64
		known                  int
	}{
		{"binary cross-entropy", []float32{0, 0}, []float32{0, 1}, nil, 2 * math.Ln2, 2},
		{"binary cross-entropy of large logits", []float32{800, -800}, []float32{0, 0}, nil, 800, 2},
		{"weighted binary cross-entropy", []float32{0, 0}, []float32{1, 0}, []float32{3, 5}, 4 * math.Ln2, 2},
		{"binary cross-entropy of unknown flags", []float32{0, 9, -9}, []float32{1, -1, -1}, []float32{3, 5, 7}, 3 * math.Ln2, 1},
	} {
		sum, known := BinaryCrossEntropy(c.logits, c.flags, c.weights)
		if near(t, c.what, sum, c.sum); known != c.known {
			t.Errorf("%s: %d flags, want %d", c.what, known, c.known)
		}
	}
	near(t, "sigmoid", Sigmoid(0), 0.5)
	near(t, "sigmoid of a small logit", Sigmoid(-1000), 0)
	p := make([]float64, 3)
	Softmax(p, []float32{1001, 1000, -1000})
	near(t, "softmax", p[0], 1/(1+math.Exp(-1)))
	near(t, "softmax of a small logit", p[2], 0)
}
