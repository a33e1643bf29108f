package ops

import (
	"math"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
)

// rowsOf runs an op of vertices on rows of values; cols are the operands' widths.
func rowsOf(op Op, rows int, cols []int, in ...[]float32) []float32 {
	g := dataflow.NewTrace()
	p := &program{graph: &chunk.Edges{V: rows}, value: map[*Node][]float32{}}
	var x []*Node
	for i, v := range in {
		l := g.Leaf(dataflow.InputOp, string(rune('a'+i)), shape{Set: dataflow.V0, Cols: cols[i]})
		p.value[l] = v
		x = append(x, l)
	}
	p.root = apply(op, x...)
	return p.run(p.root)[p.root]
}

func TestSoftmaxCrossEntropyValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	logits := []float32{1, 2, 3, 1e4, -1e4, 0, nan, nan, nan, 1, 2, 3, 1, 2, 3}
	labels := []float32{0, 1, -1, 3, 1.5}
	weight := []float32{0.5, 1, 0, 1, 1}
	got := rowsOf(softmaxXent, 5, []int{3, 1, 1}, logits, labels, weight)
	first := 0.5 * (math.Log(math.Exp(1)+math.Exp(2)+math.Exp(3)) - 1)
	for r, want := range []float64{first, 2e4, 0, math.NaN(), math.NaN()} {
		if !near(got[r], want) {
			t.Errorf("row %d: loss %v, want %v", r, got[r], want)
		}
	}
	grad := rowsOf(softmaxXentGrad, 5, []int{3, 1, 1, 1}, logits, labels, weight, []float32{1, 1, inf, 1, 1})
	sum := math.Exp(1) + math.Exp(2) + math.Exp(3)
	for i, want := range []float64{0.5 * (math.E/sum - 1), 0.5 * math.Exp(2) / sum, 0.5 * math.Exp(3) / sum,
		1, -1, 0, 0, 0, 0, math.NaN(), math.NaN(), math.NaN()} {
		if !near(grad[i], want) {
			t.Errorf("gradient %d: %v, want %v", i, grad[i], want)
		}
	}
}

func TestSigmoidCrossEntropyValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	logits := []float32{1, -2, 1e4, -1e4, nan, nan}
	targets := []float32{1, 0, 0, 0, 1, 1}
	weight := []float32{0.5, 1, 0}
	got := rowsOf(sigmoidXent, 3, []int{2, 2, 1}, logits, targets, weight)
	first := -0.5 * (math.Log(logistic(1)) + math.Log(1-logistic(-2))) / 2
	for r, want := range []float64{first, 5e3, 0} {
		if !near(got[r], want) {
			t.Errorf("row %d: loss %v, want %v", r, got[r], want)
		}
	}
	grad := rowsOf(sigmoidXentGrad, 3, []int{2, 2, 1, 1}, logits, targets, weight, []float32{1, 1, inf})
	for i, want := range []float64{0.25 * (logistic(1) - 1), 0.25 * logistic(-2), 0.5, 0, 0, 0} {
		if !near(grad[i], want) {
			t.Errorf("gradient %d: %v, want %v", i, grad[i], want)
		}
	}
}

// Targets below 0 are not known: whatever their logits are, the row is that of the others, divided by all classes.
func TestKnownSigmoidCrossEntropyValues(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	logits := []float32{1, nan, -2, inf, nan, 3}
	targets := []float32{1, -1, 0, -1, -1, -1}
	weight, positive := []float32{0.5, 1}, []float32{3, 7, 1, 3, 7, 1}
	got := rowsOf(knownXent, 2, []int{3, 3, 1, 3}, logits, targets, weight, positive)
	first := -0.5 * (3*math.Log(logistic(1)) + math.Log(1-logistic(-2))) / 3
	for r, want := range []float64{first, 0} {
		if !near(got[r], want) {
			t.Errorf("row %d: loss %v, want %v", r, got[r], want)
		}
	}
	grad := rowsOf(knownXentGrad, 2, []int{3, 3, 1, 3, 1}, logits, targets, weight, positive, []float32{1, 1})
	for i, want := range []float64{3 * 0.5 / 3 * (logistic(1) - 1), 0, 0.5 / 3 * logistic(-2), 0, 0, 0} {
		if !near(grad[i], want) {
			t.Errorf("gradient %d: %v, want %v", i, grad[i], want)
		}
	}
}

func TestCorrect(t *testing.T) {
	logits := []float32{1, 3, 2, 5, 5, 1, 5, 5, 1, -1, -2, -3}
	got := rowsOf(correct, 4, []int{3, 1}, logits, []float32{1, 0, 1, -1})
	for r, want := range []float32{1, 1, 0, 0} {
		if got[r] != want {
			t.Errorf("row %d: %v, want %v", r, got[r], want)
		}
	}
}

func TestRowwiseExtremes(t *testing.T) {
	zero := rowsOf(l2Normalize, 1, []int{3}, []float32{0, 0, 0})
	grad := rowsOf(l2NormalizeGrad, 1, []int{3, 3}, []float32{0, 0, 0}, []float32{1, 2, 3})
	for c := range 3 {
		if zero[c] != 0 || grad[c] != 0 {
			t.Errorf("a row of zeros normalises to %v with gradient %v", zero, grad)
		}
	}
	wide := make([]float32, 200) // wider than the buffer of logSumExp
	for c := range wide {
		wide[c] = float32(1000 + c%7)
	}
	soft, logs := rowsOf(softmax, 1, []int{200}, wide), rowsOf(logSoftmax, 1, []int{200}, wide)
	sum, sumLog := 0.0, 0.0
	for c := range soft {
		sum += float64(soft[c])
		sumLog += math.Exp(float64(logs[c]))
	}
	if math.Abs(sum-1) > 1e-5 || math.Abs(sumLog-1) > 1e-5 {
		t.Errorf("softmax sums to %v, the exponentials of log-softmax to %v", sum, sumLog)
	}
}

func near(got float32, want float64) bool {
	if math.IsNaN(want) {
		return got != got
	}
	return math.Abs(float64(got)-want) <= 1e-6*math.Max(1, math.Abs(want))
}
