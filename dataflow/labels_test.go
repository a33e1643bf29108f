package dataflow_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sagann/dataflow/plan"
)

// Losses on graphs and on edges, and edge data that an edge function of an earlier layer
// makes.
var labelled = map[string]string{
	"graphs, by sum": `
		x = feature 3
		w = param 3 4
		y = sum (src x)
		h = relu (matmul y w)
		g = sumby h (graph) 4`,
	"graphs, by maximum, whose gradient comes back through a second layer": `
		x = feature 3
		w = param 3 4
		y = tanh (matmul (sum (src x)) w)
		h = tanh (sum (mul (src y) (dst y)))
		g = maxby h (graph) 4`,
	"what a graph says goes to its vertices": `
		x = feature 3
		w = param 3 4
		h = tanh (matmul x w)
		g1 = tanh (maxby h (graph) 4)
		y = add h (pickrows g1 (graph))
		h2 = sum (src y)
		g = sumby h2 (graph) 4`,
}

const graphLoss = `
		v = param 4 3
		b = param 1 3
		z = add (matmul g v) b
		labels = param 4 1
		mask = param 4 1
		l = sumrows (xent z labels mask)
		out g
		loss l`

var labelledEdges = map[string]string{
	"edges": `
		x = feature 3
		w = param 3 4
		h = relu (matmul (sum (src x)) w)
		a = param 4 3
		c = param 4 3
		z = add (matmul (src h) a) (matmul (dst h) c)
		k = param 3 3
		z2 = add z (mul (matmul (src h) c) (matmul (dst h) a))
		l = sumrows (xent z2 (type) (weight))
		loss l`,
	"edges, a head that stays on them": `
		x = feature 3
		w = param 6 3
		h = sum (src x)
		z = matmul (concat (src h) (dst h)) w
		l = sumrows (xent z (type) (weight))
		loss l`,
	"edge data made by the layer before": `
		x = feature 2
		w = param 2 2
		e1 = tanh (add (matmul (data 2) w) (mul (src x) (dst x)))
		h = sum (mul (src x) (data 2))
		u = param 2 2
		e2 = sigmoid (add e1 (matmul (dst h) u))
		y = sum (mul (src h) e2)
		q = vertex 2
		l = sumrows (rowdot y q)
		out y
		loss l`,
	"counts by split over edges": `
		x = feature 3
		z = mul (src x) (dst x)
		n = matmultn (data 2) z
		l = sumrows (rowsum n)
		out n
		loss l`,
}

// TestLabels runs the programs in several ways; all results and gradients are those of
// the oracle.
func TestLabels(t *testing.T) {
	texts := map[string]string{}
	for name, text := range labelled {
		texts[name] = text + graphLoss
	}
	for name, text := range labelledEdges {
		texts[name] = text
	}
	for name, text := range texts {
		p := parse(flat(text))
		for _, g := range []int{6, 40} {
			v := values{g: ring(g), seed: 1}
			want, all := oracle(p, v)
			for !tame(all, v.g) {
				v.seed++
				want, all = oracle(p, v)
			}
			for _, o := range []options{
				{p: 1, planning: planning{slack: -1}}, {p: 4, balanced: true, planning: planning{stream: true, slack: 0}},
				{p: 3, without: []string{"fuse"}, planning: planning{stream: true, slack: -1}},
				{p: 3, without: []string{"hoist", "commute", "factor"}, schedule: plan.DestOrder, planning: planning{slack: 0}},
				{p: 5, devices: 3, schedule: plan.Stage, planning: planning{stream: true, ring: true, slack: -1}},
			} {
				got, err := run(p, v, o)
				if err != nil {
					t.Errorf("%s: %+v: %v", name, o, err)
					continue
				}
				compareAll(t, got, want, all, func() map[string]float64 { return noise(p, v, want, all) })
				if t.Failed() {
					t.Fatalf("%s on %d vertices: %+v", name, g, o)
				}
			}
		}
	}
}

var innermost = regexp.MustCompile(`\(([^()]*)\)`)

// flat gives what stands in parentheses a line of its own.
func flat(text string) string {
	var b strings.Builder
	n := 0
	for _, line := range strings.Split(text, "\n") {
		for m := innermost.FindStringSubmatch(line); m != nil; m = innermost.FindStringSubmatch(line) {
			n++
			fmt.Fprintf(&b, "in%d = %s\n", n, m[1])
			line = strings.Replace(line, m[0], fmt.Sprintf("in%d", n), 1)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
