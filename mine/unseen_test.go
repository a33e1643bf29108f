package mine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sagann/chunk"
	"sagann/mine"
)

// unseen is a graph that NetworkX made and counted; bench/mine/unseen.py writes it.
type unseen struct {
	Edges     [][2]uint32
	Labels    []int32
	Cliques   map[int]int64
	Induced   map[int]map[string]int64
	Subgraphs map[string]int64
}

// TestUnseen compares all engines with counts by another program, on graphs of kinds that
// nothing here was developed on. SAGANN_DEVICE=cuda takes a GPU, for fewer of them, as every
// plan is compiled; with -short, under the race detector, one graph has every engine run.
func TestUnseen(t *testing.T) {
	device := os.Getenv("SAGANN_DEVICE")
	paths, err := filepath.Glob("testdata/unseen/*.json")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for i, path := range paths {
		if device != "" && i%3 > 0 || testing.Short() && i > 0 {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var x unseen
			if err := json.Unmarshal(text, &x); err != nil {
				t.Fatal(err)
			}
			e := &chunk.Edges{V: len(x.Labels)}
			for _, uv := range x.Edges {
				e.Src, e.Dst = append(e.Src, uv[0], uv[1]), append(e.Dst, uv[1], uv[0])
			}
			checked := 0
			for i, engine := range []mine.Engine{mine.Auto, mine.Formula, mine.Bits, mine.Maps, mine.Loops} {
				checked += x.compare(t, mustOpen(t, e, mine.Options{Labels: x.Labels, Engine: engine, Threads: 1 + i%2, Device: device}), engine, device == "")
			}
			t.Logf("%d counts", checked)
		})
	}
}

// compare counts by one engine what it can count, and returns how many counts that were.
func (x *unseen) compare(t *testing.T, g *mine.Graph, engine mine.Engine, motifs bool) (checked int) {
	defer func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	all := map[string]int64{}
	for k, n := range x.Cliques {
		all[fmt.Sprintf("clique%d", k)] = n
	}
	for text, n := range x.Subgraphs {
		all[text] = n
	}
	for text, want := range all {
		n, err := g.Count(ctx, mine.MustPattern(text))
		if err != nil && engine != mine.Auto && engine != mine.Loops {
			continue // it says that it cannot
		}
		checked++
		if err != nil || n.String() != fmt.Sprint(want) {
			t.Errorf("%s by %s: %v, %v; want %d", text, engine, n, err, want)
		}
	}
	if !motifs || engine != mine.Auto && engine != mine.Loops {
		return checked
	}
	for k, counts := range x.Induced {
		motifs, err := g.Motifs(ctx, k)
		if err != nil {
			t.Fatal(err)
		}
		want := map[mine.Pattern]int64{}
		for text, n := range counts {
			want[mine.MustPattern(text).Canonical()] = n
		}
		for _, m := range motifs {
			checked++
			if m.Count.String() != fmt.Sprint(want[m.Pattern]) {
				t.Errorf("induced %s by %s: %v, want %d", m.Pattern, engine, m.Count, want[m.Pattern])
			}
			delete(want, m.Pattern)
		}
		if len(want) > 0 {
			t.Errorf("patterns of %d vertices that were not counted: %v", k, want)
		}
	}
	return checked
}

// TestUnseenByHand: graphs whose counts follow from formulas.
func TestUnseenByHand(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector TestUnseen runs the same engines")
	}
	cube := &chunk.Edges{V: 1 << 7} // of seven dimensions
	for v := range uint32(1 << 7) {
		for i := range 7 {
			cube.Src, cube.Dst = append(cube.Src, v), append(cube.Dst, v^1<<i)
		}
	}
	parts := &chunk.Edges{V: 21} // all edges between 9 and 12 vertices
	for u := range uint32(9) {
		for v := range uint32(12) {
			parts.Src, parts.Dst = append(parts.Src, u, v+9), append(parts.Dst, v+9, u)
		}
	}
	for _, c := range []struct {
		edges   *chunk.Edges
		pattern string
		want    int64
	}{
		{cube, "cycle4", 21 << 5}, // two directions, and where the others stand
		{cube, "cycle6", 35 << 4 * 16},
		{cube, "cycle5", 0},
		{cube, "house", 0},
		{cube, "star5", 35 << 7},
		{parts, "cycle4", 36 * 66},
		{parts, "cycle6", 84 * 220 * 6},
		{parts, "cycle8", 126 * 495 * 72},
		{parts, "path5", 9*8/2*12*11*10 + 12*11/2*9*8*7},
		{parts, "cycle7", 0},
	} {
		for _, engine := range []mine.Engine{mine.Auto, mine.Formula, mine.Maps, mine.Loops} {
			n, err := mustOpen(t, c.edges, mine.Options{Engine: engine, Threads: 2}).Count(context.Background(), mine.MustPattern(c.pattern))
			if err != nil && engine == mine.Formula {
				continue
			}
			if err != nil || n.String() != fmt.Sprint(c.want) {
				t.Errorf("%s of %d vertices by %s: %v, %v; want %d", c.pattern, c.edges.V, engine, n, err, c.want)
			}
		}
	}
}
