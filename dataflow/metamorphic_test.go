package dataflow_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sagann/internal/draw"
)

// Random programs on random graphs give the same results and gradients whatever the
// passes, the grid, the order of the vertices, the budget and the schedule: those of
// the oracle. Options that change neither the order of sums nor the algebra (planning)
// change no bit. There are twenty times -rapid.checks=N cases, by default 2,000; make soak
// draws more of them with fresh seeds. A failure prints the case as a row of kept.
func TestRandomPrograms(t *testing.T) {
	for i := range 20 {
		t.Run(fmt.Sprint(i), draw.Each(func(t *rapid.T) {
			c := bitsCase{program: drawProgram(t), graph: drawGraph(t), options: drawOptions(t), other: drawPlanning(t)}
			if !c.tame(t) {
				t.Skip("no values keep away from kinks")
			}
			t.Logf("keep it as %s", c)
			c.check(t)
		}))
	}
}

// TestDrawnPrograms: at least a quarter of the programs that drawWriter draws gather one message several times, and at least a quarter
// read rows from before the layer before the one that reads.
func TestDrawnPrograms(t *testing.T) {
	const n = 400
	several, earlier := 0, 0
	for seed := range n {
		w := rapid.Custom(drawWriter).Example(seed)
		if w.several {
			several++
		}
		if w.earlier {
			earlier++
		}
	}
	if 4*several < n || 4*earlier < n {
		t.Errorf("of %d programs %d gather a message several times, and %d read earlier rows", n, several, earlier)
	}
}

// bitsCase is a program that two plannings run.
type bitsCase struct {
	program string
	graph   graphSpec
	seed    uint64 // of the values
	options options
	other   planning
}

// String is the case as Go text, a row of kept.
func (c bitsCase) String() string {
	text := fmt.Sprintf("{program: `\n\t\t%s`,\n\tgraph: %#v, seed: %d,\n\toptions: %#v,\n\tother: %#v},",
		strings.ReplaceAll(strings.TrimSpace(c.program), "\n", "\n\t\t"), c.graph, c.seed, c.options, c.other)
	return strings.ReplaceAll(text, "dataflow_test.", "")
}

// tame looks for values that allow a comparison.
func (c *bitsCase) tame(t rapid.TB) bool {
	p, g := parse(c.program), c.graph.graph()
	for c.seed = 1; c.seed <= 12; c.seed++ {
		if _, all := oracle(p, values{g: g, seed: c.seed}); tame(all, g) {
			return true
		}
	}
	return false
}

// check compares a run with the oracle and with a run that may differ in no bit.
func (c *bitsCase) check(t rapid.TB) {
	p, v := parse(c.program), values{g: c.graph.graph(), seed: c.seed}
	p.learn = c.options.learn
	want, all := oracle(p, v)
	for i, n := range p.outs { // what it is after the step depends on where it lies
		if want["next:"+n.Attr().S] != nil {
			delete(want, p.names[i])
		}
	}
	got, err := run(p, v, c.options)
	if err != nil {
		t.Fatal(err)
	}
	compareAll(t, got, want, all, func() map[string]float64 { return noise(p, v, want, all) })
	again := c.options
	again.planning = c.other
	bits, err := run(p, v, again)
	if err != nil {
		t.Fatalf("the other planning: %v", err)
	}
	for name := range want {
		if !equalBits(got[name], bits[name]) {
			t.Errorf("%s has other bits with the other planning", name)
		}
	}
}

// compareAll allows an error of 1e-4 of a tensor's largest number. Where a tensor
// cancels to almost nothing it allows a few roundings of the largest number on the way,
// and what errors of 1e-5 in the leaves would do. Where such errors change the branch that an
// op takes, as where sums that cancel are tied, a result that is off by more is not compared.
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
		switch {
		case far[name] == notCompared && worst <= notCompared:
			t.Logf("%s is not compared: rounding chooses a branch of an op before it", name)
		case !(worst <= 2*far[name]):
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
