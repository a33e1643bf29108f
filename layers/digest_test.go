package layers_test

import (
	"fmt"
	"testing"

	"sagann/layers"
	"sagann/saga"
)

// TestEqualDigests: runs whose sum-order digests are equal have equal bits, whatever else
// differs: budget, residency, prefetch, overlap, row gathers, the ring, the number of
// processors. What does change the order of sums changes the digest.
func TestEqualDigests(t *testing.T) {
	d := paperGraph(t, "vertices=300,edges=2400,features=12,classes=3,seed=3,skew=0.7")
	for _, name := range []string{"gcn", "ggcn", "gat", "mpgcn", "edgemlp"} {
		m, err := layers.New(name, layers.Options{Features: 12, Hidden: 8, Classes: 3, Layers: 2, Heads: 2, Dropout: 0.2})
		if err != nil {
			t.Fatal(err)
		}
		first := map[string]string{} // what has a digest
		want := map[string][]uint32{}
		same := 0
		for _, device := range []string{"cpu", "cpu:2", "cpu:3"} {
			for _, schedule := range []string{"sag", "stage", "dest-order"} {
				for i, c := range []saga.Config{{}, {Stream: true}, {Stream: true, Prefetch: 1, NoRing: true}, {Prefetch: 2, Without: []string{"stream"}},
					{Stream: true, Without: []string{"row-gather"}}} {
					c.Seed, c.Chunks, c.Device, c.Schedule, c.Save = 9, 6, device, schedule, "some"
					p, err := saga.Compile(m, d, c)
					if err != nil {
						t.Fatal(err)
					}
					digest := p.Digest()
					if err := p.Close(); err != nil {
						t.Fatal(err)
					}
					got, text := bits(t, m, d, c, 1+i%3), fmt.Sprintf("%s: %+v", name, c)
					if want[digest] == nil {
						want[digest], first[digest] = got, text
						continue
					}
					same++
					for i := range got {
						if got[i] != want[digest][i] {
							t.Errorf("number %d of %s differs from that of %s, digest %s", i, text, first[digest], digest)
							break
						}
					}
				}
			}
		}
		if same < 9 || len(want) < 3 {
			t.Errorf("%s: %d digests in %d runs; nothing was compared", name, len(want), same+len(want))
		}
	}
}
