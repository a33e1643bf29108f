package dataflow_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Random programs on random graphs give the same results and gradients whatever the
// passes, the grid, the order of the vertices, the budget and the schedule: those of
// the oracle. There are twenty times -rapid.checks=N cases, by default 2,000; a failure
// prints the seed that makes it again.
func TestRandomPrograms(t *testing.T) {
	for i := range 20 {
		t.Run(fmt.Sprint(i), rapid.MakeCheck(checkCase))
	}
}

func checkCase(t *rapid.T) {
	text := drawProgram(t)
	v := values{g: drawGraph(t)}
	o := drawOptions(t)
	other := drawPlanning(t)
	t.Logf("program:\n%s%s\noptions: %+v", text, describe(v.g), o)
	p := parse(text)

	var want map[string][]float32
	var all map[*node][]float32
	for v.seed = 1; ; v.seed++ {
		if want, all = oracle(p, v); tame(all, v.g) {
			break
		}
		if v.seed == 12 {
			t.Skip("no values keep away from kinks")
		}
	}
	got, err := run(p, v, o)
	if err != nil {
		t.Fatal(err)
	}
	compareAll(t, got, want, all, func() map[string]float64 { return noise(p, v, want) })

	again := o
	again.planning = other
	bits, err := run(p, v, again)
	if err != nil {
		t.Fatalf("%+v: %v", other, err)
	}
	for name := range want {
		if !equalBits(got[name], bits[name]) {
			t.Errorf("%s has other bits with %+v", name, other)
		}
	}
}

// compareAll allows an error of 1e-4 of a tensor's largest number. Where a tensor
// cancels to almost nothing it allows a few roundings of the largest number on the way,
// and what errors of 1e-5 in the leaves would do.
func compareAll(t rapid.TB, got, want map[string][]float32, all map[*node][]float32, noise func() map[string]float64) {
	floor := 0.0
	for _, x := range all {
		floor = math.Max(floor, 1e-5*largest(x))
	}
	var far map[string]float64
	for name, w := range want {
		g, ok := got[name]
		switch {
		case !ok:
			t.Errorf("no result %s", name)
			continue
		case len(g) != len(w):
			t.Errorf("%s has %d numbers, want %d", name, len(g), len(w))
			continue
		}
		worst, at := 0.0, -1
		for i := range w {
			if d := math.Abs(float64(g[i]) - float64(w[i])); !(d <= worst) {
				worst, at = d, i
			}
		}
		if worst <= math.Max(1e-4*largest(w), floor) {
			continue
		}
		if far == nil {
			far = noise()
		}
		if !(worst <= 2*far[name]) {
			t.Errorf("%s: number %d of %d is %v, want %v (largest %.3g, floor %.2g, noise %.2g)",
				name, at, len(w), g[at], w[at], largest(w), floor, far[name])
		}
	}
}

func equalBits(x, y []float32) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			return false
		}
	}
	return true
}
