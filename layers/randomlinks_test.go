package layers

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sagann/dataset"
	"sagann/saga"
)

// TestLinksOfRandomGraphs: in a graph without structure nothing predicts links, whichever ids and directions its file has. An AUC
// of 150 edges and 150 pairs has a standard deviation of about 0.033.
func TestLinksOfRandomGraphs(t *testing.T) {
	const v, e, seeds = 300, 1500, 4
	for name, c := range map[string]struct {
		undirected, half, all, bipartite bool
		gaps                             uint32 // ids are multiples
	}{
		"undirected, gaps": {undirected: true, gaps: 7}, "directed": {gaps: 1}, "half reversed": {half: true, gaps: 2}, "one lacks its reverse": {all: true, gaps: 1},
		"bipartite": {bipartite: true, gaps: 1}, "bipartite, undirected": {bipartite: true, undirected: true, gaps: 3}, "bipartite, half reversed": {bipartite: true, half: true, gaps: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sum := 0.0
			for seed := range uint64(seeds) {
				r := rand.New(rand.NewPCG(seed, 77))
				var b strings.Builder
				has := map[[2]uint32]bool{}
				for len(has) < e {
					x, y := r.Uint32N(v), r.Uint32N(v)
					if c.bipartite {
						x, y = x/2, v/2+y/2
					}
					if x == y || has[[2]uint32{x, y}] || has[[2]uint32{y, x}] {
						continue
					}
					has[[2]uint32{x, y}] = true
					fmt.Fprintf(&b, "%d %d\n", x*c.gaps, y*c.gaps)
					if c.half && r.IntN(2) == 0 || c.all && len(has) < e {
						fmt.Fprintf(&b, "%d %d\n", y*c.gaps, x*c.gaps)
					}
				}
				auc := randomAUC(t, b.String(), c.undirected, seed)
				if sum += auc; auc < 0.4 || auc > 0.6 {
					t.Errorf("seed %d: AUC %v", seed, auc)
				}
			}
			if mean := sum / seeds; mean < 0.45 || mean > 0.55 {
				t.Errorf("AUC %.3f on average", mean)
			}
		})
	}
}

// randomAUC is the AUC of the test pairs of the graph in a list of edges.
func randomAUC(t *testing.T, list string, undirected bool, seed uint64) float64 {
	path := filepath.Join(t.TempDir(), "g.txt")
	if err := os.WriteFile(path, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Load(path, dataset.Options{Undirected: undirected})
	if err == nil {
		d, err = dataset.SplitLinks(d, dataset.LinkShares{Val: 0.05, Test: 0.1}, seed)
	}
	if err == nil {
		err = dataset.OneHotFeatures(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := linkModel(t, "gcn", d, saga.LinkDot, 0)
	out := trainLinks(t, m, d, saga.Config{Seed: seed, Epochs: 30, Device: taskDevice()}, saga.TrainOptions{})
	return float64(out[len(out)-2])
}
