package mine_test

import (
	"context"
	"fmt"
	"testing"

	"sagann/mine"
)

// TestLabelledSets: labels at one, several or all of the vertices that come from one set.
func TestLabelledSets(t *testing.T) {
	g := &small{n: 9}
	for i := range g.n {
		for j := range i {
			g.adj[i][j] = (i*j+i+j)%4 > 0
			g.adj[j][i] = g.adj[i][j]
		}
		g.label = append(g.label, int32(i%3)-1)
	}
	for _, edges := range []string{"0-1-2-0-3-1", "0-1-2-0-3-1 0-4-1", "0-1-2-3-0-4-1", "0-1-2-0 2-3", "0-1-2-3-0 2-4"} {
		for _, labels := range []string{"", "2:0", "3:1", "2:0 3:0", "2:0 3:1", "0:1 2:0 3:0", "0:0 1:1 2:0 3:1"} {
			p := mine.MustPattern(labels + " " + edges)
			want := len(brute(g, p, nil, false))
			for _, threads := range []int{1, 2} {
				n, err := mustOpen(t, g.edges(), mine.Options{Labels: g.label, Engine: mine.Loops, Threads: threads}).Count(context.Background(), p)
				if err != nil || n.String() != fmt.Sprint(want) {
					t.Errorf("%s: %v, %v; want %d", p, n, err, want)
				}
			}
		}
	}
}
