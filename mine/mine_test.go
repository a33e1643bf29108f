package mine_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/testdata"
	"sagann/mine"
	"sagann/mine/pattern"
)

// both lists the edges in both directions.
func both(v int, pairs ...[2]uint32) *chunk.Edges {
	e := &chunk.Edges{V: v}
	for _, p := range pairs {
		e.Src, e.Dst = append(e.Src, p[0], p[1]), append(e.Dst, p[1], p[0])
	}
	return e
}

// complete is the complete graph.
func complete(n int) *chunk.Edges {
	var pairs [][2]uint32
	for i := range n {
		for j := range i {
			pairs = append(pairs, [2]uint32{uint32(i), uint32(j)})
		}
	}
	return both(n, pairs...)
}

func bipartite(a, b int) *chunk.Edges {
	var pairs [][2]uint32
	for i := range a {
		for j := range b {
			pairs = append(pairs, [2]uint32{uint32(i), uint32(a + j)})
		}
	}
	return both(a+b, pairs...)
}

func mustOpen(t testing.TB, e *chunk.Edges, opt mine.Options) *mine.Graph {
	t.Helper()
	g, err := mine.Open(e, opt)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func choose(n, k int64) string { return new(big.Int).Binomial(n, k).String() }

// TestLarge: graphs with roots of more neighbours than a small matrix or a slice holds.
func TestLarge(t *testing.T) {
	k300, k23 := complete(300), bipartite(1500, 3)
	star := bipartite(1, 20000)
	for _, c := range []struct {
		edges   *chunk.Edges
		pattern string
		engine  mine.Engine
		want    string
	}{
		{k300, "triangle", mine.Formula, choose(300, 3)},
		{k300, "clique4", mine.Bits, choose(300, 4)},
		{k300, "triangle", mine.Bits, choose(300, 3)},
		{k300, "clique4", mine.Loops, choose(300, 4)},
		{k300, "cycle4", mine.Formula, new(big.Int).Mul(big.NewInt(3), new(big.Int).Binomial(300, 4)).String()},
		{k23, "cycle4", mine.Formula, fmt.Sprint(1500 * 1499 / 2 * 3)},
		{k23, "cycle4", mine.Loops, fmt.Sprint(1500 * 1499 / 2 * 3)},
		{k23, "path5", mine.Loops, fmt.Sprint(paths5(1500, 3))},
		{star, "star8", mine.Formula, choose(20000, 7)}, // above 2^64
		{star, "wedge", mine.Loops, choose(20000, 2)},
	} {
		for _, threads := range []int{1, 3} {
			if testing.Short() && (threads == 1 || c.engine == mine.Loops && c.edges != k23 || c.pattern == "path5" || c.pattern == "clique4") {
				continue // under the race detector: no thread beside it, or the loops of a pattern that is here
			}
			g := mustOpen(t, c.edges, mine.Options{Engine: c.engine, Threads: threads})
			if n, err := g.Count(context.Background(), mine.MustPattern(c.pattern)); err != nil || n.String() != c.want {
				t.Errorf("%s by %s: %v, %v; want %s", c.pattern, c.engine, n, err, c.want)
			}
		}
	}
}

// paths5 is the number of paths of five vertices in a complete bipartite graph.
func paths5(a, b int) int { return a*(a-1)*(a-2)/2*b*(b-1) + b*(b-1)*(b-2)/2*a*(a-1) }

// TestMotifs5 holds all patterns of five vertices against counts that Peregrine published.
func TestMotifs5(t *testing.T) {
	g := open(t, "citeseer_mining", mine.Options{})
	for file, option := range map[string]mine.Option{"5m.txt": mine.Induced, "5m-edge.txt": mine.EdgeInduced} {
		text, err := os.ReadFile(filepath.Join(testdata.Dir(t, "data/citeseer_mining"), "raw/peregrine_truth", file))
		if err != nil {
			t.Fatal(err)
		}
		want := map[mine.Pattern]string{}
		pair := regexp.MustCompile(`\[(\d)-(\d)\]`)
		for line := range strings.Lines(string(text)) {
			p := pattern.New(5)
			for _, m := range pair.FindAllStringSubmatch(line, -1) {
				p = p.WithEdge(int(m[1][0]-'1'), int(m[2][0]-'1'))
			}
			if f := strings.Fields(line); len(f) == 2 {
				want[p.Canonical()] = f[1]
			}
		}
		got, err := g.Motifs(context.Background(), 5, option)
		if err != nil || len(got) != 21 || len(want) != 21 {
			t.Fatalf("%d motifs, %d truths, %v", len(got), len(want), err)
		}
		for _, m := range got {
			if want[m.Pattern.Canonical()] != m.Count.String() {
				t.Errorf("%s: %v of %q, want %s", file, m.Count, m.Pattern, want[m.Pattern.Canonical()])
			}
			if testing.Short() {
				continue
			}
			// The loops of the pattern itself, with differences of sets where it is induced.
			if n, err := g.Count(context.Background(), m.Pattern, option); err != nil || n != m.Count {
				t.Errorf("%s: loops count %v of %q, %v; want %v", file, n, m.Pattern, err, m.Count)
			}
		}
	}
}

// TestEnginesAgree on graphs larger than brute force does, with labels and without.
func TestEnginesAgree(t *testing.T) {
	size := "vertices=600,edges=3000"
	if testing.Short() {
		size = "vertices=200,edges=900"
	}
	spec, err := dataset.ParseSpec(size + ",kind=rmat,seed=3,features=1,classes=4")
	if err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Synthetic(spec)
	if err != nil {
		t.Fatal(err)
	}
	e := d.Edges.Symmetric()
	open := func(engine mine.Engine, threads int) *mine.Graph {
		return mustOpen(t, e, mine.Options{Labels: d.Labels, Engine: engine, Threads: threads})
	}
	for _, text := range []string{"wedge", "triangle", "path4", "star4", "tailed-triangle", "cycle4", "diamond", "clique4", "clique5",
		"house", "0:1-1:2-2:3-0", "0-1-2-3-0 0~2"} {
		for _, option := range []mine.Option{mine.EdgeInduced, mine.Induced} {
			p := mine.MustPattern(text)
			var counts []string
			for _, engine := range []mine.Engine{mine.Auto, mine.Formula, mine.Bits, mine.Maps, mine.Loops, mine.Join} {
				n, err := open(engine, 2).Count(context.Background(), p, option)
				if err == nil {
					counts = append(counts, n.String())
				}
			}
			if len(slices.Compact(counts)) != 1 {
				t.Errorf("%s: engines count %v", text, counts)
			}
		}
	}
	// The listing has as many rows as are counted, ascending, on any number of threads.
	p := mine.MustPattern("0-1-2-0-3-1")
	n, err := open(mine.Auto, 1).Count(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	one, three := rowsOf(t, open(mine.Auto, 1), p), rowsOf(t, open(mine.Auto, 3), p)
	if fmt.Sprint(len(one)) != n.String() || !slices.EqualFunc(one, three, slices.Equal) || !slices.IsSortedFunc(one, slices.Compare) {
		t.Errorf("%d and %d rows, %v counted", len(one), len(three), n)
	}
}

func rowsOf(t *testing.T, g *mine.Graph, p mine.Pattern, options ...mine.Option) [][]uint32 {
	t.Helper()
	var out [][]uint32
	for m, err := range g.Match(context.Background(), p, options...) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, slices.Clone(m))
	}
	return out
}

// TestRefused: what is wrong is said before the work.
func TestRefused(t *testing.T) {
	ctx := context.Background()
	plain := mustOpen(t, complete(4), mine.Options{})
	where := func(f func(m mine.Match) mine.Bool) error {
		_, err := plain.Count(ctx, mine.MustPattern("triangle"), mine.Where(f))
		return err
	}
	count := func(p mine.Pattern, options ...mine.Option) error {
		_, err := plain.Count(ctx, p, options...)
		return err
	}
	opened := func(e *chunk.Edges, o mine.Options) error { _, err := mine.Open(e, o); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{opened(&chunk.Edges{V: 2, Src: []uint32{0}, Dst: []uint32{1}}, mine.Options{}), `directed: there is an edge from 0 to 1 but none back.*--undirected`},
		{opened(&chunk.Edges{V: 1, Src: []uint32{0}, Dst: []uint32{1}}, mine.Options{}), "the graph has 1 vertices"},
		{opened(complete(3), mine.Options{Labels: []int32{1}}), "1 labels for 3 vertices"},
		{opened(complete(3), mine.Options{Labels: []int32{-1, 0, -2}}), "vertex 2 has label -2"},
		{opened(complete(3), mine.Options{Engine: "tables"}), `no engine "tables"`},
		{opened(complete(3), mine.Options{Threads: -1}), "at least 0"},
		{count(mine.MustPattern("0:1-1")), "the graph has none"},
		{count(mine.Pattern{}), "at least one edge"},
		{count(pattern.New(3).WithEdge(0, 1)), "not connected"},
		{where(func(m mine.Match) mine.Bool { return m.Label(0).Eq(mine.Const(1)) }), "the graph has none"},
		{where(func(m mine.Match) mine.Bool { return m.Adjacent(0, 3) }), `vertex 3: the pattern has 0 to 2 \(.*mine_test.go:\d+\)`},
		{where(func(m mine.Match) mine.Bool { return m.Degree(-1).Eq(mine.Const(1)) }), `vertex -1`},
		{where(func(m mine.Match) mine.Bool { return m.Degree(1).Eq(mine.Int{}) }), `zero value.*mine_test.go`},
		{where(func(m mine.Match) mine.Bool { return mine.Bool{} }), "zero Bool"},
	} {
		if c.err == nil || !regexp.MustCompile("(?s)"+c.want).MatchString(c.err.Error()) {
			t.Errorf("error %v, want %s", c.err, c.want)
		}
	}
	for _, k := range []int{-1, 1, 9} {
		if _, err := plain.Cliques(ctx, k); err == nil {
			t.Errorf("cliques of %d vertices", k)
		}
		if _, err := plain.Motifs(ctx, k); err == nil {
			t.Errorf("motifs of %d vertices", k)
		}
	}
	if _, err := plain.Motifs(ctx, 3, mine.Limit(1)); err == nil {
		t.Error("motifs with a limit")
	}
	bits := mustOpen(t, complete(4), mine.Options{Engine: mine.Bits})
	if _, err := bits.Count(ctx, mine.MustPattern("path4")); err == nil || !strings.Contains(err.Error(), "engine bits cannot") {
		t.Errorf("a path by bit matrices: %v", err)
	}
	listed := 0
	for row, err := range bits.Match(ctx, mine.MustPattern("triangle")) {
		if listed++; row != nil || err == nil || !strings.Contains(err.Error(), "engine bits only counts") {
			t.Errorf("a listing by bit matrices: %v, %v", row, err)
		}
	}
	_, err := bits.ExplainMatch(mine.MustPattern("triangle"))
	if question := new(mine.QuestionError); listed != 1 || !errors.As(err, &question) {
		t.Errorf("a listing by bit matrices yields %d times, is explained as %v", listed, err)
	}
	for _, err := range plain.Match(ctx, mine.MustPattern("triangle"), mine.Limit(-1)) {
		if err == nil {
			t.Error("a negative limit")
		}
	}
}

// TestBudget: the smallest budget that an error names does, a byte less does not, and what
// is counted is the same.
func TestBudget(t *testing.T) {
	d := dataset.Karate()
	want := map[string]string{"triangle": "45", "diamond": "151", "clique4": "11", "house": ""}
	for text := range want {
		p := mine.MustPattern(text)
		whole, err := mustOpen(t, d.Edges, mine.Options{}).Count(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		budget, tries := int64(1), 0
		for ; tries < 10; tries++ {
			n, err := mustOpen(t, d.Edges, mine.Options{Mem: budget, Threads: 4}).Count(context.Background(), p)
			var small *mine.BudgetError
			if errors.As(err, &small) {
				if small.Smallest <= budget {
					t.Fatalf("%s: %d bytes are too few, and %d the fewest", text, budget, small.Smallest)
				}
				budget = small.Smallest
				continue
			}
			if err != nil || n != whole {
				t.Fatalf("%s within %d bytes: %v, %v; want %v", text, budget, n, err, whole)
			}
			break
		}
		if tries != 1 {
			t.Errorf("%s: %d errors; the first one's budget would do", text, tries)
		}
		g := mustOpen(t, d.Edges, mine.Options{Mem: budget, Threads: 4})
		if x, err := g.Explain(p); err != nil || x.Bytes > budget || x.Threads < 1 {
			t.Errorf("%s within %d bytes: %+v, %v", text, budget, x, err)
		}
		small := mustOpen(t, d.Edges, mine.Options{Mem: budget - 1})
		if _, err := small.Count(context.Background(), p); err == nil {
			t.Errorf("%s: %d bytes did, too", text, budget-1)
		}
	}
}

// TestBudgetOfMotifs: the budget that an error names does for all patterns.
func TestBudgetOfMotifs(t *testing.T) {
	d := dataset.Karate()
	for k := 3; k <= 5; k++ {
		if k == 5 && testing.Short() {
			break // seconds
		}
		var small *mine.BudgetError
		if _, err := mustOpen(t, d.Edges, mine.Options{Mem: 1}).Motifs(context.Background(), k); !errors.As(err, &small) {
			t.Fatal(err)
		}
		if _, err := mustOpen(t, d.Edges, mine.Options{Mem: small.Smallest}).Motifs(context.Background(), k); err != nil {
			t.Error(err)
		}
		if _, err := mustOpen(t, d.Edges, mine.Options{Mem: small.Smallest - 1}).Motifs(context.Background(), k); err == nil {
			t.Errorf("%d bytes did, too", small.Smallest-1)
		}
	}
}

// TestCancel: counts and listings end with the error of the context.
func TestCancel(t *testing.T) {
	v := 200
	if testing.Short() { // under the race detector planning alone takes seconds
		v = 100
	}
	for name, run := range map[string]func(ctx context.Context, g *mine.Graph) error{
		"loops": func(ctx context.Context, g *mine.Graph) error {
			_, err := g.Count(ctx, mine.MustPattern("cycle8"))
			return err
		},
		"bits":   func(ctx context.Context, g *mine.Graph) error { _, err := g.Cliques(ctx, 8); return err },
		"motifs": func(ctx context.Context, g *mine.Graph) error { _, err := g.Motifs(ctx, 5); return err },
		"listing": func(ctx context.Context, g *mine.Graph) (last error) {
			for _, err := range g.Match(ctx, mine.MustPattern("path8")) {
				last = err
			}
			return last
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			g := mustOpen(t, complete(v), mine.Options{Threads: 3})
			done := make(chan error)
			go func() { done <- run(ctx, g) }()
			time.Sleep(30 * time.Millisecond) // in the middle of the work, which takes hours
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestCancelListing: of a listing that is cancelled in its middle rows come in their order, none twice, and its error says so unless all have come.
func TestCancelListing(t *testing.T) {
	g := mustOpen(t, complete(24), mine.Options{Threads: 3})
	var want [][]uint32
	for m, err := range g.Match(context.Background(), mine.MustPattern("path4")) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, slices.Clone(m))
	}
	times := 400
	if testing.Short() {
		times = 20
	}
	for i := range times {
		ctx, cancel := context.WithCancel(context.Background())
		n, at, last := 0, 1+i*len(want)/times, error(nil)
		for m, err := range g.Match(ctx, mine.MustPattern("path4")) {
			if last = err; err != nil {
				break
			}
			if n >= len(want) || !slices.Equal(m, want[n]) {
				t.Fatalf("cancelled at row %d: row %d is %v", at, n, m)
			}
			if n++; n == at {
				cancel()
			}
		}
		cancel()
		if n < len(want) && !errors.Is(last, context.Canceled) {
			t.Fatalf("cancelled at row %d: %d of %d rows and error %v", at, n, len(want), last)
		}
	}
}

// TestBreakOff: a loop over a listing may end early, and goes on elsewhere unharmed.
func TestBreakOff(t *testing.T) {
	g := mustOpen(t, complete(60), mine.Options{Threads: 3})
	times := 20
	if testing.Short() {
		times = 5
	}
	for range times {
		n := 0
		for m, err := range g.Match(context.Background(), mine.MustPattern("path4")) {
			if err != nil || len(m) != 4 {
				t.Fatal(m, err)
			}
			if n++; n == 70000 {
				break
			}
		}
	}
}

// TestProgress: shares ascend to 1.
func TestProgress(t *testing.T) {
	for _, p := range []string{"triangle", "diamond", "clique4", "house", "path4"} {
		var seen []float64
		g := mustOpen(t, complete(150), mine.Options{Threads: 3, Progress: func(x float64) { seen = append(seen, x) }})
		if _, err := g.Count(context.Background(), mine.MustPattern(p), mine.Induced); err != nil {
			t.Fatal(err)
		}
		if len(seen) == 0 || !slices.IsSorted(seen) || seen[0] < 0 || seen[len(seen)-1] != 1 {
			t.Errorf("%s: progress %v", p, seen)
		}
	}
}

// TestExplain: estimates are near the counts of real graphs, and the same each time.
func TestExplain(t *testing.T) {
	if testing.Short() {
		t.Skip("one thread, seconds")
	}
	g := open(t, "email_eu_core", mine.Options{Threads: 1})
	for _, text := range []string{"triangle", "cycle4", "diamond", "clique5", "house"} {
		p := mine.MustPattern(text)
		n, err := g.Count(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		x, err := g.Explain(p)
		if err != nil {
			t.Fatal(err)
		}
		exact, _ := new(big.Float).SetInt(n.Big()).Float64()
		if x.Matches < exact/1.5 || x.Matches > exact*1.5 {
			t.Errorf("%s: about %.3g expected, %.3g counted", text, x.Matches, exact)
		}
		if x.Seconds <= 0 || x.Seconds > 100 {
			t.Errorf("%s: %v s expected", text, x.Seconds)
		}
		again, err := g.Explain(p)
		if err != nil || again.String() != x.String() {
			t.Errorf("%s: explained in two ways, %v:\n%s%s", text, err, x, again)
		}
	}
}
