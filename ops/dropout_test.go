package ops

import (
	"math"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
)

// dropped runs Dropout over rows×cols ones; the step words are seed low, seed high,
// epoch. Row r has identity ids[r].
func dropped(p float32, site int, words [3]uint32, ids []uint32, cols int) []float32 {
	g := dataflow.NewTrace()
	x := g.Leaf(dataflow.InputOp, "x", shape{Set: dataflow.V0, Cols: cols})
	id := g.Leaf(dataflow.InputOp, "id", shape{Set: dataflow.V0, Cols: 1})
	at := g.Leaf(dataflow.InputOp, "step", shape{Rows: 1, Cols: 4})
	prog := &program{root: Dropout(x, p, site, id, nil, at), graph: &chunk.Edges{V: len(ids)}, value: map[*Node][]float32{
		x: fill(len(ids)*cols, 1), id: bits(ids), at: append(bits(words[:]), 0),
	}}
	return prog.run(prog.root)[prog.root]
}

func bits(words []uint32) []float32 {
	out := make([]float32, len(words))
	for i, w := range words {
		out[i] = math.Float32frombits(w)
	}
	return out
}

func iota32(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	return ids
}

func TestDropoutRate(t *testing.T) {
	const rows, cols = 2000, 64
	for _, p := range []float32{0, 0.1, 0.5, 0.9} {
		kept := 0.0
		perCol := make([]float64, cols)
		for i, v := range dropped(p, 1, [3]uint32{17, 0, 3}, iota32(rows), cols) {
			switch v {
			case 0:
			case 1 / (1 - p):
				kept++
				perCol[i%cols]++
			default:
				t.Fatalf("p=%v: %v is neither dropped nor scaled", p, v)
			}
		}
		within(t, "all", kept, rows*cols, 1-float64(p))
		for _, k := range perCol {
			within(t, "a column", k, rows, 1-float64(p))
		}
	}
}

// within fails when count of n draws is more than five deviations off.
func within(t *testing.T, what string, count, n, p float64) {
	t.Helper()
	if sigma := math.Sqrt(n * p * (1 - p)); math.Abs(count-n*p) > 5*sigma {
		t.Errorf("%s: %v of %v kept, want %v ± %v", what, count, n, n*p, sigma)
	}
}

// Masks of different epochs, seeds, sites and identities agree in half their
// places; neighbouring columns and rows do not follow each other.
func TestDropoutIndependence(t *testing.T) {
	const rows, cols = 500, 64
	ids, shifted, high := iota32(rows), iota32(rows), iota32(rows)
	for i := range shifted {
		shifted[i]++
		high[i] += 1 << 30
	}
	base := dropped(0.5, 1, [3]uint32{17, 0, 3}, ids, cols)
	for name, other := range map[string][]float32{
		"next epoch": dropped(0.5, 1, [3]uint32{17, 0, 4}, ids, cols),
		"next seed":  dropped(0.5, 1, [3]uint32{18, 0, 3}, ids, cols),
		"high seed":  dropped(0.5, 1, [3]uint32{17, 1, 3}, ids, cols),
		"words swap": dropped(0.5, 1, [3]uint32{3, 0, 17}, ids, cols),
		"next site":  dropped(0.5, 2, [3]uint32{17, 0, 3}, ids, cols),
		"next row":   dropped(0.5, 1, [3]uint32{17, 0, 3}, shifted, cols),
		"high ids":   dropped(0.5, 1, [3]uint32{17, 0, 3}, high, cols),
		"next col":   append(append([]float32{}, base[1:]...), base[0]),
	} {
		same := 0.0
		for i, v := range base {
			if v == other[i] {
				same++
			}
		}
		within(t, name, same, rows*cols, 0.5)
	}
}

// What a row keeps follows its identity, wherever it stands.
func TestDropoutFollowsIdentity(t *testing.T) {
	const cols = 33
	all := dropped(0.5, 1, [3]uint32{1, 2, 3}, iota32(10), cols)
	some := dropped(0.5, 1, [3]uint32{1, 2, 3}, []uint32{7, 2}, cols)
	for c := range cols {
		if some[c] != all[7*cols+c] || some[cols+c] != all[2*cols+c] {
			t.Fatalf("column %d: another mask after a change of order", c)
		}
	}
}

// The gradient passes where the value passed. The example of an op says that it has
// a gradient; this says that mask and scale are the very same numbers.
func TestDropoutGradientHasTheSameMask(t *testing.T) {
	g := dataflow.NewTrace()
	x := g.Leaf(dataflow.InputOp, "x", shape{Set: dataflow.E0, Cols: 40})
	id := g.Leaf(dataflow.InputOp, "id", shape{Set: dataflow.E0, Cols: 1})
	rank := g.Leaf(dataflow.InputOp, "edge:rank", shape{Set: dataflow.E0, Cols: 1})
	at := g.Leaf(dataflow.InputOp, "step", shape{Rows: 1, Cols: 4})
	p := &program{graph: &chunk.Edges{V: 2, Src: []uint32{0, 0, 1}, Dst: []uint32{1, 1, 0}}, value: map[*Node][]float32{
		x: fill(120, 1), id: bits([]uint32{1, 1, 0}), at: bits([]uint32{5, 6, 7, 0}),
	}}
	y := Dropout(x, 0.3, 9, id, rank, at)
	d := dataflow.Grad(y, x, []*Node{x})[0]
	val := p.run(y, d)
	rows := map[string]bool{}
	for r := range 3 {
		mask := ""
		for c := range 40 {
			if val[y][r*40+c] != val[d][r*40+c] {
				t.Fatalf("row %d, column %d: %v forward, %v backward", r, c, val[y][r*40+c], val[d][r*40+c])
			}
			mask += string("01"[int(when(val[y][r*40+c] > 0, 1, 0))])
		}
		rows[mask] = true
	}
	if len(rows) != 3 {
		t.Error("two parallel edges share a mask: the rank does not count")
	}
}

// The draws are part of what a checkpoint means: a resumed run must meet them again.
func TestDrawsStayWhatTheyAre(t *testing.T) {
	k := newCounter().absorb(1).absorb(2).absorb(3).absorb(4).absorb(5).absorb(6)
	want := []uint32{0x5f54929e, 0x76fb1acb, 0x1249369d, 0xeb526c3d}
	for c, w := range want {
		if got := k.draw(uint32(c)); got != w {
			t.Errorf("column %d: %#08x, want %#08x", c, got, w)
		}
	}
}

func BenchmarkDropout(b *testing.B) {
	x, out := fill(1433, 1), make([]float32, 1433)
	k := newCounter().absorb(1)
	b.SetBytes(4 * 1433)
	for b.Loop() {
		dropRow(out, x, k, 0, 1<<23, 2)
	}
}
