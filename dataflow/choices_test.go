package dataflow_test

import (
	"math"
	"slices"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
)

// choices are the numbers of whose signs the branches of n depend, none for a smooth op. On g
// are the edges that n moves rows of.
func choices(n *node, all map[*node][]float32, g *chunk.Edges) []float64 {
	var d []float64
	switch n.Op() {
	case "relu", "leaky_relu":
		for _, x := range all[n.In(0)] {
			d = append(d, float64(x))
		}
	case "maximum":
		x, y := all[n.In(0)], all[n.In(1)]
		for i := range max(len(x), len(y)) { // one may be a row that is repeated
			d = append(d, float64(x[i%len(x)])-float64(y[i%len(y)]))
		}
	case "max_rows_by":
		return below(all[n.In(0)], all[n.In(1)], n.Shape().Rows, n.Cols())
	case dataflow.GatherMaxOp:
		c, top := n.Cols(), all[n]
		for i, x := range all[n.In(0)] {
			d = append(d, float64(top[int(g.Dst[i/c])*c+i%c])-float64(x))
		}
	}
	return d
}

// below is how far every number of x is below the largest of its column in the rows of its
// key; 0 where the key is none of rows.
func below(x, key []float32, rows, cols int) []float64 {
	top, d := map[int]float32{}, make([]float64, len(x))
	at := func(i int) int { return int(key[i/cols])*cols + i%cols }
	for i, y := range x {
		if t, ok := top[at(i)]; !ok || y > t {
			top[at(i)] = y
		}
	}
	for i, y := range x {
		if k := key[i/cols]; k >= 0 && int(k) < rows {
			d[i] = float64(top[at(i)]) - float64(y)
		}
	}
	return d
}

// clear0 tells whether nothing stands close to 0 without standing on it.
func clear0(d []float64) bool {
	return !slices.ContainsFunc(d, func(x float64) bool { return x != 0 && math.Abs(x) < kinkMargin })
}

// open tells whether errors that change the choices d into near may change a sign of d, were
// they twice as large. Sums that cancel make 0 of d, a tie, that rounding breaks.
func open(d, near []float64) bool {
	for i, x := range d {
		if move := math.Abs(near[i] - x); move != 0 && math.Abs(x) <= 2*move {
			return true
		}
	}
	return false
}

// notCompared is how far a result may be off when rounding chooses where it comes from. It
// must be a number all the same.
const notCompared = math.MaxFloat32

// drift is how far the results want of p move with the errors that again gives values for a seed,
// and with what moves equal numbers on edges alike or not. On are the edges that an op moves rows of.
func (p *program) drift(want map[string][]float32, all map[*node][]float32, on func(n *node) *chunk.Edges,
	again func(off uint64, alike bool) (map[string][]float32, map[*node][]float32)) map[string]float64 {
	far, list := map[string]float64{}, map[*node]bool{}
	for off := uint64(1); off < 4000; off += 1000 {
		near, _ := again(off, false)
		for name, w := range want {
			for i, m := range near[name] {
				far[name] = max(far[name], math.Abs(float64(m)-float64(w[i])))
			}
		}
		_, moved := again(off, true) // rows that repeated edges see stay equal
		for _, n := range dataflow.Live(p.outs) {
			if d := choices(n, all, on(n)); d != nil && open(d, choices(n, moved, on(n))) && sums(n) {
				list[n] = true
			}
		}
	}
	p.leaveOut(far, want, list)
	return far
}

// leaveOut makes far of those results notCompared that depend on an op of list: if the loss
// does, so may all gradients.
func (p *program) leaveOut(far map[string]float64, want map[string][]float32, list map[*node]bool) {
	for i, n := range p.outs {
		if !slices.ContainsFunc(dataflow.Live([]*node{n}), func(m *node) bool { return list[m] }) {
			continue
		}
		far[p.names[i]] = notCompared
		for name := range want {
			if i == p.loss && !slices.Contains(p.names, name) {
				far[name] = notCompared
			}
		}
	}
}

// sums tells whether there are sums over edges under n. What edges see is as exact as
// vertices have it; what noise does to it stands for the rounding of sums.
func sums(n *node) bool {
	return slices.ContainsFunc(dataflow.Live([]*node{n}), func(m *node) bool {
		return m.Op() == dataflow.GatherSrcOp || m.Op() == dataflow.GatherDstOp
	})
}

// Where sums of loops cancel, rounding chooses between the branches of an op, and nothing that
// depends on it is compared. Everything else is, also with ties that rounding cannot break.
func TestChoicesOfRounding(t *testing.T) {
	g := ring(6)
	for range 50 { // vertex 6 has only loops
		g.Src, g.Dst = append(g.Src, 6), append(g.Dst, 6)
	}
	g.Src, g.Dst, g.V = append(g.Src, 1), append(g.Dst, 2), 8 // once more; vertex 7 has no edge
	g.Type, g.Weight, g.Data = make([]uint32, g.E()), make([]float32, g.E()), make([]float32, g.E()*graphDataCols)
	for text, left := range map[string]bool{
		"a = sub s d\n y = sum a\n z = relu y":                  true,
		"a = sub s d\n y = sum a\n b = neg y\n z = maximum y b": true,
		"y = sum s\n z = relu y":                                false, // nothing to add up at vertex 7
		"y = sum s\n m = src y\n z = max m":                     false, // two edges see the same row
		"m = maximum s d\n z = sum m":                           false, // at a loop, but no sum was rounded
	} {
		p := parse("x = feature 2\n s = src x\n d = dst x\n q = vertex 2\n" + text +
			"\n r = rowdot z q\n l = sumrows r\n other = sum s\n out other\n loss l")
		v := values{g: g, seed: 1}
		want, all := oracle(p, v)
		far := noise(p, v, want, all)
		for _, name := range []string{"l", "grad:x"} {
			if got := far[name] == notCompared; got != left {
				t.Errorf("%s of\n%s\nis left out: %v, want %v", name, text, got, left)
			}
		}
		if far["other"] > 1 {
			t.Errorf("a result that does not depend on a choice of\n%s\nis allowed an error of %g", text, far["other"])
		}
	}
}
