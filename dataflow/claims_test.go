package dataflow_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// ggcn is the paper's G-GCN, so many layers of it, as a program. The gradient of the
// features is wanted, so that the first layer is like the others.
func ggcn(layers int) string {
	var b strings.Builder
	b.WriteString("x0 = feature 5\n")
	for l := 1; l <= layers; l++ {
		b.WriteString(strings.NewReplacer("NEXT", fmt.Sprint(l), "THIS", fmt.Sprint(l-1)).Replace(`
			W_HNEXT = param 5 5
			W_CNEXT = param 5 5
			WNEXT = param 5 5
			srcNEXT = src xTHIS
			dstNEXT = dst xTHIS
			aNEXT = matmul srcNEXT W_HNEXT
			bNEXT = matmul dstNEXT W_CNEXT
			sNEXT = add aNEXT bNEXT
			etaNEXT = sigmoid sNEXT
			mNEXT = mul etaNEXT srcNEXT
			accNEXT = sum mNEXT
			hNEXT = matmul accNEXT WNEXT
			xNEXT = relu hNEXT
		`))
	}
	fmt.Fprintf(&b, "labels = vertex 1\nmask = vertex 1\ne = xent x%d labels mask\nl = sumrows e\nloss l\n", layers)
	return b.String()
}

// scripted is the program that a script in testdata begins with.
func scripted(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "----")
	var lines []string
	for _, l := range strings.Split(before, "\n") {
		if strings.Contains(l, " = ") || strings.HasPrefix(l, "loss ") {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

var dumped = regexp.MustCompile(`(?m)^%\d+ = (\w+)(?:\{[^}]*\})?\(.*\) \[(\w+)×\d+\]`)

// opsOn lists the operations on rows of a set, "V" or "E", after a pass.
func opsOn(t *testing.T, p *program, pass, set string) []dataflow.Op {
	t.Helper()
	text, err := p.dump(pass, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []dataflow.Op
	for _, m := range dumped.FindAllStringSubmatch(text, -1) {
		if m[2] == set {
			list = append(list, dataflow.Op(m[1]))
		}
	}
	return list
}

func count(list []dataflow.Op, op dataflow.Op) int {
	n := 0
	for _, o := range list {
		if o == op {
			n++
		}
	}
	return n
}

// edgePasses counts the steps over cells.
func edgePasses(t *testing.T, p *program, without ...string) int {
	t.Helper()
	main, _, err := p.compile(without, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, ph := range main.Spec.Phases {
		for _, st := range ph.Steps {
			if st.Kind == plan.Stream {
				n++
			}
		}
	}
	return n
}

// Operator motion (paper, section 3.2): in two layers of G-GCN all four products of the
// edge functions move to the vertices. As written they stand on the edges.
func TestProductsLeaveTheEdges(t *testing.T) {
	p := parse(ggcn(2))
	if n := count(opsOn(t, p, "merge", "E"), "matmul"); n != 4 {
		t.Errorf("%d products on edges as written, want 4", n)
	}
	if n := count(opsOn(t, p, "hoist", "E"), "matmul"); n != 0 {
		t.Errorf("%d products on edges after hoisting", n)
	}
	if n := count(opsOn(t, p, "hoist", "V"), "matmul"); n != 6 {
		t.Errorf("%d products on vertices after hoisting, want 2 of edge functions and 1 of ApplyVertex a layer", n)
	}
}

// Differentiating a hoisted program makes no product on edges: neither of the gradients of
// two layers nor of any model whose edge function is element-wise after hoisting.
func TestGradientsHaveNoEdgeProducts(t *testing.T) {
	texts := map[string]string{"two layers of ggcn": ggcn(2)}
	for _, m := range []string{"ggcn", "gcn", "gat", "maxpool", "ggnn", "mean", "concat"} {
		texts[m] = scripted(t, m)
	}
	for name, text := range texts {
		for _, op := range opsOn(t, parse(text), "factor", "E") {
			if c := dataflow.DefOf(op).Class; c == dataflow.Row || c == dataflow.Reduce {
				t.Errorf("%s: %s on edges", name, op)
			}
		}
	}
}

// With factor the backward pass over the in-edges of G-GCN is a second result of the
// forward pass: two passes over edges a layer instead of three.
func TestPassesOverEdges(t *testing.T) {
	for layers := 1; layers <= 3; layers++ {
		p := parse(ggcn(layers))
		if n := edgePasses(t, p); n != 2*layers {
			t.Errorf("%d layers: %d passes over edges, want two a layer", layers, n)
		}
		if n := edgePasses(t, p, "factor"); n != 3*layers {
			t.Errorf("%d layers: %d passes over edges without factor, want three a layer", layers, n)
		}
	}
	gat := parse(scripted(t, "gat"))
	if with, without := edgePasses(t, gat), edgePasses(t, gat, "factor"); with != 3 || without != 4 {
		t.Errorf("gat: %d passes over edges, %d without factor; want 3 and 4", with, without)
	}
}

// Gathers of in-edges, and no others, know that ranks ascend in the rows of a grid, unless its rows are sorted by type.
func TestAscend(t *testing.T) {
	for _, without := range [][]string{nil, {"fuse"}} {
		for _, typed := range []bool{false, true} {
			l, _, err := parse(scripted(t, "maxpool")).compile(without, "", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			want := l.Want.Of(0)
			want.Type = typed
			l.Ascend(chunk.Wants{want})
			for _, ph := range l.Spec.Phases {
				for _, st := range ph.Steps {
					for _, c := range st.Calls {
						k := l.Kernels[c.Kernel]
						if is := want.Rank && !typed && st.Kind == plan.Stream && st.Dir == plan.CSC; k.Ascend != is {
							t.Errorf("types %v: %s: %v", typed, k.Name, k.Ascend)
						}
					}
				}
			}
			if !want.Rank {
				t.Error("a maximum without ranks")
			}
		}
	}
}

// No model stores a row an edge; without fusion all do but those whose message is a row
// as it is.
func TestNoEdgeBuffers(t *testing.T) {
	for _, m := range []string{"ggcn", "gcn", "gat", "maxpool", "ggnn", "mean", "concat", "edgemlp"} {
		p := parse(scripted(t, m))
		main, _, err := p.compile(nil, "", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(main.Spec.EdgeTemps); n != 0 {
			t.Errorf("%s: %d edge buffers", m, n)
		}
		main, _, err = p.compile([]string{"fuse", "hoist", "commute", "factor"}, "", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(main.Spec.EdgeTemps); n == 0 && m != "concat" && m != "mean" {
			t.Errorf("%s: no edge buffers even without fusion", m)
		}
	}
}

// The parameters of a function on edges get their gradients in one direction only: the
// pass over the in-edges.
func TestEdgeParametersInOneDirection(t *testing.T) {
	main, _, err := parse(scripted(t, "edgemlp")).compile(nil, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range main.Regions {
		for _, g := range r.Gathers {
			if g.Def().Class == dataflow.Reduce && r.Dir != plan.CSC {
				t.Errorf("%s is summed in the %s pass", g.Op(), r.Dir)
			}
		}
	}
}

// What depends on the graph and constant features only is computed once; dropout in front
// of it, or a gradient that is wanted of the features, forbids that.
func TestInvariants(t *testing.T) {
	text := strings.Replace(scripted(t, "gcn"), "feature", "vertex", 1)
	for _, c := range []struct {
		name, text string
		once       bool
	}{
		{"constant features", text, true},
		{"features with a gradient", scripted(t, "gcn"), false},
		{"dropout", strings.Replace(text, "src = src x", "d = dropout x 1 0.5\nsrc = src d", 1), false},
		{"edge dropout", strings.Replace(text, "src = src x", "s = src x\nsrc = edgedropout s 1 0.5", 1), false},
	} {
		p := parse(c.text)
		_, once, err := p.compile(nil, "", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if (once != nil) != c.once {
			t.Errorf("%s: computed once: %v", c.name, once != nil)
		}
		if _, once, _ = p.compile([]string{"invariant"}, "", "", nil); once != nil {
			t.Errorf("%s: an invariant without the pass", c.name)
		}
	}
}

// A wrong name or shape panics with the operation, the shapes and the place; compilers
// above turn that into an error.
func TestShapeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"x = vertex 3\nw = param 4 2\ny = matmul x w":        "inner dimensions 3 and 4 differ",
		"x = vertex 3\ns = src x\ny = add s x":               "as Edge.Src or Edge.Dst",
		"x = vertex 3\ny = sum x":                            "gathers edge rows, not [V×3]",
		"x = vertex 3\ns = src x\nt = src s":                 "scatters vertex rows, not [E×3]",
		"x = vertex 3\ns = src x\ny = first s 0":             "0 blocks",
		"x = vertex 4\ns = src x\nd = dst x\ny = matmul s d": "must be a matrix",
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
					t.Errorf("%q: %v, want %q", text, r, want)
				}
			}()
			parse(text)
		}()
	}
}
