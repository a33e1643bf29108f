package mine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/mine"
)

// shapes are graphs of three kinds: of about the same degree everywhere, of a few hubs that nearly all edges meet, and of cliques on a path.
func shapes(d *rand.Rand) map[string]*chunk.Edges {
	all := map[string]*chunk.Edges{}
	make := func(name string, v int, ends func(i int) (a, b int)) {
		e := &chunk.Edges{V: v}
		seen := map[[2]int]bool{}
		for i := range 4 * v {
			a, b := ends(i)
			if a, b = min(a, b), max(a, b); a != b && !seen[[2]int{a, b}] {
				seen[[2]int{a, b}] = true
				e.Src, e.Dst = append(e.Src, uint32(a), uint32(b)), append(e.Dst, uint32(b), uint32(a))
			}
		}
		all[name] = e
	}
	make("even", 1000, func(int) (a, b int) { return d.IntN(1000), d.IntN(1000) })
	make("hubs", 100, func(int) (a, b int) {
		return int(100 * d.Float64() * d.Float64() * d.Float64() * d.Float64()), d.IntN(100)
	})
	make("cliques", 400, func(i int) (a, b int) {
		if i%20 == 0 {
			return i / 4, (i/4 + 10) % 400
		}
		return i/40*10 + d.IntN(10), i/40*10 + d.IntN(10)
	})
	return all
}

// TestExplainTable: what Explain says of rows, bytes and where they lie is within a factor of two of what Store keeps.
func TestExplainTable(t *testing.T) {
	ctx := context.Background()
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	within := func(got, want float64) bool { return got <= 2*want && want <= 2*got }
	for shape, e := range shapes(d) {
		labels := make([]int32, e.V)
		for v := range labels {
			labels[v] = int32(d.IntN(3))
		}
		for i := range 8 {
			vertices, conditions, size := i%2 == 0, i/2%2 == 0, 2+i/4
			switch {
			case i == 6:
				size = 4
			case i < 2:
				size, conditions = 1, false
			}
			made := func(opt mine.Options) *mine.Table {
				opt.Labels = labels
				table := mustOpen(t, e, opt).Table(vertices)
				for k := range size - 1 {
					if conditions && k != 1 {
						table = table.Extend(func(m mine.Match) mine.Bool { return m.Label(0).Plus(m.Label(1)).Ne(m.Label(m.Vertices() - 1)) })
					} else {
						table = table.Extend(nil)
					}
				}
				return table
			}
			mem := int64(0)
			for _, part := range []int64{1, 2} {
				opt := mine.Options{Mem: mem, Scratch: t.TempDir(), Threads: 2}
				table := made(opt)
				x, err := table.Explain(ctx)
				if err != nil {
					t.Fatal(err)
				}
				s, err := table.Store(ctx)
				if err != nil {
					t.Fatal(err)
				}
				all, spilled := s.Bytes()
				name := fmt.Sprintf("%s, vertices %t, conditions %t, size %d, 1/%d", shape, vertices, conditions, size, part)
				if !within(x.Rows, float64(s.Rows())) || !within(x.Bytes, float64(all)) || x.OnGPUs != 0 || !within(x.File, float64(spilled)) || !within(x.Host, float64(all-spilled)) {
					t.Errorf("%s: %d rows, %d bytes, %d in a file:\n%v", name, s.Rows(), all, spilled, x)
				}
				for _, l := range x.Levels {
					if l.Kept > l.Made || l.Doubtful() || size > 1 && x.Seconds <= 0 {
						t.Errorf("%s:\n%v", name, x)
					}
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				var small *mine.BudgetError
				if _, err := made(mine.Options{Mem: 1, Threads: 2}).Store(ctx); errors.As(err, &small) {
					mem = small.Smallest + all/4
				}
			}
		}
	}
}

// TestExplainTableRefused: what cannot be explained is an error, and what few sampled rows tell is said to be doubtful.
func TestExplainTableRefused(t *testing.T) {
	ctx := context.Background()
	d := rand.New(rand.NewPCG(draw.Seed(t), 0))
	e := shapes(d)["even"]
	g := mustOpen(t, e, mine.Options{})
	pairs := g.Table(false).Extend(nil)
	s, err := pairs.Store(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var question *mine.QuestionError
	if _, err := s.Table().Extend(nil).Explain(ctx); !errors.As(err, &question) {
		t.Errorf("stored: %v", err)
	}
	if _, err := g.Table(false).Extend(func(m mine.Match) mine.Bool { return m.Label(0).Eq(mine.Const(1)) }).Explain(ctx); !errors.As(err, &question) {
		t.Errorf("labels: %v", err)
	}
	if _, err := pairs.Filter(func(mine.Pattern) bool { panic("oh") }).Explain(ctx); err == nil || !strings.Contains(err.Error(), "panicked: oh") {
		t.Errorf("panic: %v", err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := pairs.Extend(nil).Explain(done); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	var small *mine.BudgetError
	if _, err := mustOpen(t, e, mine.Options{Mem: 1 << 17}).Table(false).Extend(nil).Explain(ctx); !errors.As(err, &small) {
		t.Errorf("budget: %v", err)
	}
	rare, err := g.Table(false).Extend(nil).Extend(func(m mine.Match) mine.Bool { return m.Vertex(0).Plus(m.Vertex(3)).Eq(mine.Const(3)) }).Explain(ctx)
	if err != nil || !rare.Levels[2].Doubtful() || !strings.Contains(rare.String(), "too small to say") {
		t.Errorf("rare: %v\n%v", err, rare)
	}
	none, err := mustOpen(t, &chunk.Edges{V: 3}, mine.Options{}).Table(false).Extend(nil).Extend(nil).Explain(ctx)
	if err != nil || none.Rows != 0 || none.Bytes != 0 {
		t.Errorf("no edges: %v\n%v", err, none)
	}
	large := mustOpen(t, e, mine.Options{Mem: small.Smallest, Threads: 1}).Table(false).Extend(nil).Extend(nil).Extend(nil)
	if _, err := large.Store(ctx); errors.As(err, &small) {
		x, err := mustOpen(t, e, mine.Options{Mem: small.Smallest, Threads: 1}).Table(false).Extend(nil).Extend(nil).Extend(nil).Explain(ctx)
		if err != nil || !x.NoFolder || !strings.Contains(x.String(), "Scratch") {
			t.Errorf("no folder: %v\n%v", err, x)
		}
	}
}

// TestExplainInstances: the rows that tables will count are known within a factor of two, and their time.
func TestExplainInstances(t *testing.T) {
	e, labels := spread(200)
	labels[3] = -1
	ctx := context.Background()
	for _, f := range []mine.Frequency{{Support: 1, Edges: 3, By: mine.InstancesAll, Engine: mine.Tables}, {Support: 1, Vertices: 4, Induced: true, By: mine.InstancesAll}} {
		g := mustOpen(t, e, mine.Options{Labels: labels})
		x, err := g.ExplainFrequent(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		found, err := g.Frequent(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		c, err := g.ExplainFrequent(ctx, mine.Frequency{Support: 1, Edges: 3, By: mine.InstancesAll})
		if err != nil || c.Engine != mine.Census || c.Seconds <= 0 || c.Seconds > 10 || !strings.Contains(c.String(), "time ") {
			t.Errorf("a census: %+v, %v", c, err)
		}
		rows := map[int]float64{}
		for i := range found {
			n, _ := found[i].Support.Big().Float64()
			if f.Induced {
				rows[found[i].Pattern.Vertices()] += n
			} else {
				rows[found[i].Pattern.Edges()] += n
			}
		}
		if len(x.Rows) != 3 || x.Seconds <= 0 || !strings.Contains(x.String(), "of 3 ") {
			t.Errorf("%+v", x)
		}
		for _, l := range x.Rows {
			if n := rows[l.Size]; l.Rows > 2*n || n > 2*l.Rows || l.Error == 0 && l.Rows != n || l.Seconds <= 0 {
				t.Errorf("%+v: %+v, counted %.0f", f, l, n)
			}
		}
	}
}
