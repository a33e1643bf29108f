package run

import (
	"context"
	"testing"

	"sagann/chunk"
	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// TestManyTrianglesAtAnEdge: two neighbours with more vertices in common than the numbers
// that a worker has for itself hold.
func TestManyTrianglesAtAnEdge(t *testing.T) {
	const n = 70_000 // more than 1<<16
	e := &chunk.Edges{V: n + 2}
	both := func(u, v uint32) { e.Src, e.Dst = append(e.Src, u, v), append(e.Dst, v, u) }
	both(n, n+1)
	for v := range uint32(n) {
		both(v, n)
		both(v, n+1)
	}
	r, _, err := rows.FromEdges(e)
	if err != nil {
		t.Fatal(err)
	}
	f := pattern.Formula{{Times: 1, Of: pattern.EdgePairs}, {Times: 1, Of: pattern.Triangles}}
	for _, workers := range []int{1, 2, 3} {
		run := &Run{Rows: r.ByDegree(), Workers: workers}
		sums, err := run.Sums(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		c, err := run.Closed(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		again, err := run.SumsOf(context.Background(), c, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []map[pattern.Quantity]Total{sums, again} {
			if s[pattern.EdgePairs] != (Total{Lo: n * (n - 1) / 2}) || s[pattern.Triangles] != (Total{Lo: n}) {
				t.Errorf("%d workers: %v", workers, s)
			}
		}
	}
}

// TestOwnNumbers: halves of numbers add up.
func TestOwnNumbers(t *testing.T) {
	c := closer{last: make([]uint16, 2), all: make([]uint32, 2)}
	for range 5 {
		c.addLast(1, 70_000)
	}
	if n := c.all[1] + uint32(c.last[1]); n != 350_000 || c.all[0] != 0 || c.last[0] != 0 {
		t.Errorf("%d %v %v", n, c.all, c.last)
	}
}
