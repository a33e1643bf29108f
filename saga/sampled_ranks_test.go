package saga_test

import (
	"slices"
	"sync"
	"testing"

	"sagann/net"
	"sagann/net/local"
	"sagann/saga"
)

// A batch for which there is no room, on whatever rank, has all ranks plan again, and no bit changes.
func TestRanksCramped(t *testing.T) {
	d := sampledGraph(t)
	whole := sampledProgram(t, "sage", d, onDevices(t, 1), four())
	want, _ := batchLosses(t, whole, saga.TrainOptions{})
	_, links := local.New(2)
	var wg sync.WaitGroup
	for r, l := range links {
		c := onDevices(t, 2)
		c.Net = net.Over(l)
		wg.Go(func() {
			p := sampledProgram(t, "sage", d, c, four()) // ranks plan together
			if err := p.Cramp(64); err != nil {
				t.Error(err)
			}
			got, _ := batchLosses(t, p, saga.TrainOptions{})
			if !slices.Equal(got, want) {
				t.Errorf("rank %d: losses %v, want %v", r, got, want)
			}
			sameParams(t, whole, p)
		})
	}
	wg.Wait()
}
