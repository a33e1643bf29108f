package mine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"sagann/chunk"
	"sagann/internal/draw"
	"sagann/mine"
	"sagann/mine/pattern"
)

// exactly calls ask with the smallest budget that it names, until it does: one error is enough, a byte less is refused,
// and the answer is the one without a bound.
func exactly(t *testing.T, what string, ask func(mem int64) (string, error)) {
	t.Helper()
	want, err := ask(0)
	if err != nil {
		t.Fatalf("%s without a bound: %v", what, err)
	}
	var small *mine.BudgetError
	if _, err := ask(1); !errors.As(err, &small) {
		t.Fatalf("%s with 1 byte: %v", what, err)
	}
	least := small.Smallest
	if got, err := ask(least); err != nil || got != want {
		t.Errorf("%s with the %d bytes that its error names: %s, %v; want %s", what, least, got, err, want)
	}
	if got, err := ask(least - 1); !errors.As(err, &small) || small.Smallest != least {
		t.Errorf("%s with %d bytes, one less than enough: %s, %v", what, least-1, got, err)
	}
}

// TestNamedBudgets: for every engine, random patterns with and without labels, and motifs, the budget that an error names is
// the smallest that works.
func TestNamedBudgets(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(draw.Seed(t), 0))
	texts := []string{"edge", "wedge", "triangle", "path4", "star4", "cycle4", "diamond", "house", "clique4", "cycle5", "clique5", "0-1:1", "0:0-1-2:1", "0-1-2-0 2-3:2", "0-1-2-3-4-0 0~2", "0-1 1-2 2-3 3-4 4-5"}
	rounds := 6
	switch {
	case draw.Soak():
		rounds = 200
	case testing.Short():
		rounds = 1
	}
	for range rounds {
		v := 3 + r.IntN(30)
		var pairs [][2]uint32
		for a := range v {
			for b := range a {
				if r.IntN(v) < 4 {
					pairs = append(pairs, [2]uint32{uint32(a), uint32(b)})
				}
			}
		}
		edges := both(v, pairs...)
		labels := make([]int32, v)
		for i := range labels {
			labels[i] = int32(r.IntN(3))
		}
		for _, text := range texts {
			p, err := pattern.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, engine := range []mine.Engine{mine.Auto, mine.Formula, mine.Bits, mine.Maps, mine.Loops, mine.Join} {
				ask := func(mem int64) (string, error) {
					g, err := mine.Open(edges, mine.Options{Labels: labels, Mem: mem, Engine: engine, Threads: 1 + v%4})
					if err != nil {
						return "", err
					}
					n, err := g.Count(ctx, p)
					return n.String(), err
				}
				var not *mine.QuestionError
				if _, err := ask(0); errors.As(err, &not) {
					continue
				}
				exactly(t, fmt.Sprintf("%s of %d vertices by %s", text, v, engine), ask)
			}
			exactly(t, "matches of "+text, func(mem int64) (string, error) { return listed(ctx, edges, labels, mem, p) })
		}
		for k := 3; k <= 4; k++ {
			exactly(t, fmt.Sprintf("motifs of %d", k), func(mem int64) (string, error) {
				g, err := mine.Open(edges, mine.Options{Mem: mem})
				if err != nil {
					return "", err
				}
				list, err := g.Motifs(ctx, k)
				return fmt.Sprint(list), err
			})
		}
	}
}

// listed are the matches of a pattern as text.
func listed(ctx context.Context, edges *chunk.Edges, labels []int32, mem int64, p mine.Pattern) (string, error) {
	g, err := mine.Open(edges, mine.Options{Labels: labels, Mem: mem, Threads: 2})
	if err != nil {
		return "", err
	}
	text := ""
	for row, err := range g.Match(ctx, p) {
		if err != nil {
			return "", err
		}
		text += fmt.Sprint(row)
	}
	return text, nil
}
