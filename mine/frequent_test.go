package mine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/testdata"
	"sagann/mine"
)

// TestPublishedSupports: the 124 labelled patterns of two edges whose supports are published with Peregrine.
func TestPublishedSupports(t *testing.T) {
	dir := testdata.Dir(t, "data/citeseer_mining")
	text, err := os.ReadFile(filepath.Join(dir, "known_answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Labels map[string]int32 `json:"peregrine_label_to_our_class"`
	}
	if err := json.Unmarshal(text, &known); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(dir, "raw/peregrine_truth/cs-supports-2edge.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	edge := regexp.MustCompile(`\[(\d+),(\d+)-(\d+),(\d+)\]`)
	want := map[mine.Pattern]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var text strings.Builder
		for _, m := range edge.FindAllStringSubmatch(lines.Text(), -1) {
			a, _ := strconv.Atoi(m[1])
			b, _ := strconv.Atoi(m[3])
			fmt.Fprintf(&text, "%d:%d-%d:%d ", a-1, known.Labels[m[2]], b-1, known.Labels[m[4]])
		}
		want[mine.MustPattern(text.String()).Canonical()] = lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:]
	}
	for _, threads := range []int{1, 3} {
		found, err := open(t, "citeseer_mining", mine.Options{Threads: threads}).Frequent(context.Background(), mine.Frequency{Support: 1, Edges: 2})
		if err != nil {
			t.Fatal(err)
		}
		two := 0
		for _, f := range found {
			if f.Edges() == 2 {
				two++
				if f.Support.String() != want[f.Pattern] {
					t.Errorf("%s: support %s, want %s", f.Pattern, f.Support, want[f.Pattern])
				}
			}
		}
		if two != 124 || len(want) != 124 {
			t.Errorf("%d patterns of two edges, %d published; want 124", two, len(want))
		}
	}
}

// typed is a square 0-1-2-3 of labels 1, edge labels 5, 6, 5, 6 around it, and a vertex 4 without a label.
func typed() (*chunk.Edges, []int32) {
	e := &chunk.Edges{V: 5, Src: []uint32{0, 1, 1, 2, 2, 3, 3, 0, 3, 4}, Dst: []uint32{1, 0, 2, 1, 3, 2, 0, 3, 4, 3},
		Type: []uint32{5, 5, 6, 6, 5, 5, 6, 6, 5, 5}, Types: 7}
	return e, []int32{1, 1, 1, 1, -1}
}

// TestEdgeLabels: labels of edges in patterns, in conditions and in frequent patterns.
func TestEdgeLabels(t *testing.T) {
	e, labels := typed()
	g := mustOpen(t, e, mine.Options{Labels: labels})
	ctx := context.Background()
	for text, want := range map[string]string{"0-[5]-1": "3", "0-[6]-1": "2", "0-[7]-1": "0", "0-1": "5", "0:1-[5]-1:1": "2",
		"0-[5]-1-[6]-2-[5]-3-[6]-0": "1", "0-[5]-1-[5]-2-[5]-3-[6]-0": "0", "0-[5]-1-2-3-0": "2", "0-[5]-1-2": "7"} {
		if n, err := g.Count(ctx, mine.MustPattern(text)); err != nil || n.String() != want {
			t.Errorf("%s: %s, %v; want %s", text, n, err, want)
		}
	}
	n, err := g.Count(ctx, mine.MustPattern("0-1-2"), mine.Where(func(m mine.Match) mine.Bool {
		return m.EdgeLabel(0, 1).Plus(m.EdgeLabel(1, 2)).Eq(mine.Const(11)).And(m.EdgeLabel(0, 2).Eq(mine.Const(-1)))
	}))
	if err != nil || n.String() != "5" {
		t.Errorf("%s, %v; want 5", n, err)
	}
	found, err := g.Frequent(ctx, mine.Frequency{Support: 4, Vertices: 4})
	var texts []string
	for _, f := range found {
		texts = append(texts, f.Pattern.String()+" "+f.Support.String())
	}
	var want []string
	for _, text := range []string{"0:1-[5]-1:1", "0:1-[6]-1:1", "0:1-[5]-1:1-[6]-2:1", "0:1-[5]-1:1-[6]-2:1-[5]-3:1", "0:1-[6]-1:1-[5]-2:1-[6]-3:1",
		"0:1-[5]-1:1-[6]-2:1-[5]-3:1-[6]-0"} {
		want = append(want, mine.MustPattern(text).Canonical().String()+" 4")
	}
	slices.Sort(texts)
	slices.Sort(want)
	if err != nil || !slices.Equal(texts, want) {
		t.Errorf("%q, %v; want %q", texts, err, want)
	}
	if found, err := g.Frequent(ctx, mine.Frequency{Support: 4, Edges: 1, PlainEdges: true}); err != nil || len(found) != 1 || found[0].Pattern.String() != "0:1 1:1 0-1" {
		t.Errorf("plain: %v, %v", found, err)
	}
	e.Type[1] = 6
	g = mustOpen(t, e, mine.Options{Labels: labels})
	if n, err := g.Count(ctx, mine.MustPattern("0-1")); err != nil || n.String() != "5" {
		t.Errorf("%s, %v: labels that differ do not matter to a pattern without", n, err)
	}
	for _, err := range []error{second(g.Count(ctx, mine.MustPattern("0-[5]-1"))), second(g.Frequent(ctx, mine.Frequency{Support: 1, Edges: 1}))} {
		if err == nil || !strings.Contains(err.Error(), "the edge between 0 and 1 has the labels 5 and 6") {
			t.Errorf("error %v", err)
		}
	}
	e.Type, e.Types = nil, 0
	if _, err := mustOpen(t, e, mine.Options{}).Count(ctx, mine.MustPattern("0-[5]-1")); err == nil || !strings.Contains(err.Error(), "the graph has none") {
		t.Errorf("error %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestFrequencyRefused: questions that have no answer.
func TestFrequencyRefused(t *testing.T) {
	e, labels := typed()
	g := mustOpen(t, e, mine.Options{Labels: labels})
	for want, f := range map[string]mine.Frequency{
		"a support of 0: the least is 1":           {Edges: 2},
		"a support of 6: the graph has 5 vertices": {Support: 6, Edges: 2},
		"patterns without a limit":                 {Support: 1},
		"the number is 2 to 8":                     {Support: 1, Vertices: 9},
		"8 vertices have at most 28":               {Support: 1, Edges: 29},
		"limit their vertices, not their edges":    {Support: 1, Edges: 2, Induced: true},
		"none may be below 0":                      {Support: 1, Edges: -1},
		"no support \"most\"":                      {Support: 1, Edges: 1, By: "most"},
		"domains are not exact":                    {Support: 1, Edges: 1, AtLeast: true, Domains: true},
	} {
		var question *mine.QuestionError
		if _, err := g.Frequent(context.Background(), f); !errors.As(err, &question) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", f, err, want)
		}
	}
	none, err := mustOpen(t, e, mine.Options{Labels: []int32{-1, -1, -1, -1, -1}}).Frequent(context.Background(), mine.Frequency{Support: 1, Edges: 3})
	if err != nil || len(none) != 0 {
		t.Errorf("%v, %v: no vertex has a label", none, err)
	}
}

// spread is a graph of n vertices of three labels.
func spread(n int) (*chunk.Edges, []int32) {
	e, labels := chunk.Edges{V: n}, make([]int32, n)
	for v := range n {
		labels[v] = int32(v % 3)
		for k := 1; k < 7; k++ {
			w := (v*v*k + 7*k) % n
			e.Src, e.Dst = append(e.Src, uint32(v), uint32(w)), append(e.Dst, uint32(w), uint32(v))
		}
	}
	return &e, labels
}

// TestFrequencyBudget: the budget that an error names is enough, one byte less is not, and results are the same. Where the
// error says that it knows less, more is found by trying.
func TestFrequencyBudget(t *testing.T) {
	ctx := context.Background()
	for i, f := range []mine.Frequency{{Support: 40, Edges: 3}, {Support: 40, Vertices: 3, Induced: true}, {Support: 9, Edges: 3, By: mine.Instances},
		{Support: 40, Edges: 3, Domains: true}, {Support: 9, Edges: 2, By: mine.InstancesAll, Engine: mine.Tables}, // below: mostly patterns
		{Support: 2, Edges: 3}, {Support: 2, Edges: 3, AtLeast: true}, {Support: 2, Edges: 3, Domains: true}, {Support: 1, Edges: 3, By: mine.InstancesAll},
		{Support: 1, Edges: 3, By: mine.InstancesAll, Engine: mine.Tables}, {Support: 1, Vertices: 3, Induced: true, By: mine.Instances}} {
		e, labels := spread([]int{400, 30}[min(i/5, 1)])
		open := func(mem int64, threads int) *mine.Graph {
			return mustOpen(t, e, mine.Options{Labels: labels, Mem: mem, Threads: threads})
		}
		want, err := open(0, 2).Frequent(ctx, f)
		if err != nil || len(want) < 10 {
			t.Fatalf("%d patterns, %v", len(want), err)
		}
		mem, guessed := int64(1), false
		for tries := 0; ; tries++ {
			got, err := open(mem, 2).Frequent(ctx, f)
			var small *mine.BudgetError
			if errors.As(err, &small) && small.Smallest > mem && tries < 20 && (tries == 0 || guessed) {
				if mem, guessed = small.Smallest, small.AtLeast; guessed && tries > 6 { // more than there are sizes
					mem += mem / 2
				}
				continue
			}
			if err != nil || !slices.EqualFunc(got, want, func(a, b mine.FrequentPattern) bool { return a.Pattern == b.Pattern && a.Support == b.Support }) {
				t.Fatalf("%+v with %d bytes: %d patterns, %v; want %d", f, mem, len(got), err, len(want))
			}
			break
		}
		if _, err := open(mem-1, 1).Frequent(ctx, f); err == nil && !guessed {
			t.Errorf("%+v works with a byte less than the %d that the error names", f, mem)
		}
	}
}

// TestFrequentSame: any number of threads gives the same patterns in the same order, and a context ends a search.
func TestFrequentSame(t *testing.T) {
	d := dataset.Karate()
	ctx := context.Background()
	for _, f := range []mine.Frequency{{Support: 3, Edges: 4}, {Support: 3, Vertices: 4, Induced: true}, {Support: 3, Edges: 4, By: mine.Instances}, {Support: 2, Edges: 3, Top: 7}} {
		want := ""
		for _, threads := range []int{1, 2, 5} {
			found, err := mustOpen(t, d.Edges, mine.Options{Labels: d.Labels, Threads: threads}).Frequent(ctx, f)
			got := ""
			for _, p := range found {
				got += fmt.Sprintln(p.Pattern, p.Support)
			}
			if want == "" {
				want = got
			}
			if err != nil || got != want || f.Top > 0 && len(found) != f.Top {
				t.Fatalf("%+v on %d threads: %v\n%s\nwant\n%s", f, threads, err, got, want)
			}
		}
		done, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := mustOpen(t, d.Edges, mine.Options{Labels: d.Labels}).Frequent(done, f); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: error %v", f, err)
		}
		if x, err := mustOpen(t, d.Edges, mine.Options{Labels: d.Labels}).ExplainFrequent(ctx, f); err != nil || x.Bytes == 0 || !strings.Contains(x.String(), "memory") {
			t.Errorf("%+v: %+v, %v", f, x, err)
		}
	}
}

// TestFrequencyLevel: a size of a million candidates is announced before it runs, and in an explanation.
func TestFrequencyLevel(t *testing.T) {
	e, labels := chunk.Edges{V: 130}, make([]int32, 130)
	for v := range uint32(130) { // every vertex has a label of its own
		labels[v] = int32(v)
		for w := range v {
			e.Src, e.Dst = append(e.Src, v, w), append(e.Dst, w, v)
		}
	}
	g := mustOpen(t, &e, mine.Options{Labels: labels})
	f := mine.Frequency{Support: 1, Edges: 3}
	const want = 130 * 129 * 128 / 2 // a wedge for each middle and two others
	ctx, cancel := context.WithCancel(context.Background())
	f.Level = func(edges, candidates int) {
		if cancel(); edges != 2 || candidates < want/2 || candidates > 2*want {
			t.Errorf("about %d candidates from %d edges on; want %d", candidates, edges, want)
		}
	}
	if _, err := g.Frequent(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	x, err := g.ExplainFrequent(context.Background(), f)
	if err != nil || x.Candidates < want/2 || x.Candidates > 2*want || x.PatternBytes < 500*want {
		t.Errorf("%+v, %v; want %d candidates", x, err, want)
	}
}

// TestManyLabels: more labels than 16 bits count, in every engine, also of edges: pairs of both are more than 32 bits count. Vertex v has the label v modulo n, and its neighbours are v-1 and
// v+1, so each pattern of one edge, and each wedge of three labels in a row, stands twice.
func TestManyLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("a large graph, and no goroutine that smaller ones have not")
	}
	const n = 1<<16 + 5
	e, labels := chunk.Edges{V: 2 * n}, make([]int32, 2*n)
	for v := range uint32(2 * n) {
		w := (v + 1) % (2 * n)
		labels[v] = int32(v%n) + 1<<30
		e.Src, e.Dst = append(e.Src, v, w), append(e.Dst, w, v)
		e.Type = append(e.Type, v%n, v%n)
	}
	e.Types = n
	for _, f := range []mine.Frequency{{PlainEdges: true}, {By: mine.Instances, PlainEdges: true}, {By: mine.InstancesAll, Engine: mine.Tables, PlainEdges: true}, {By: mine.Instances}, {By: mine.InstancesAll, Engine: mine.Tables}} {
		f.Support, f.Edges = 2, 2
		found, err := mustOpen(t, &e, mine.Options{Labels: labels}).Frequent(context.Background(), f)
		if err != nil || len(found) != 2*n {
			t.Fatalf("%+v: %d patterns, %v; want %d", f, len(found), err, 2*n)
		}
		for i := range found {
			if two := i >= n; found[i].Support.String() != "2" || (found[i].Edges() == 2) != two {
				t.Fatalf("%+v: pattern %d, %s, has support %s", f, i, found[i].Pattern, found[i].Support)
			}
		}
		if first := mine.MustPattern(fmt.Sprintf("0:%d-1:%d", 1<<30, 1<<30+1)); f.PlainEdges && found[0].Pattern != first {
			t.Errorf("%+v: the first is %s, want %s", f, found[0].Pattern, first)
		}
	}
}
