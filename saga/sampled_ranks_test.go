package saga_test

import (
	"slices"
	"sync"
	"testing"

	"sagann/dataset"
	"sagann/net"
	"sagann/net/local"
	"sagann/saga"
	"sagann/saga/batches"
	"sagann/sample"
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

// scoresOnRanks holds the scores of every epoch on two ranks against those of one process with as many devices.
func scoresOnRanks(t *testing.T, what string, m saga.Model, d *dataset.Data, s saga.Sampling) {
	t.Helper()
	scores := func(c saga.Config) (list []saga.Scores) {
		p, err := saga.CompileSampled(m, d, c, s)
		if err != nil {
			t.Error(what, err)
			return nil
		}
		defer p.Close()
		if _, err := p.Train(t.Context(), saga.TrainOptions{OnEpoch: func(e saga.Epoch) error {
			list = append(list, *e.Scores)
			return nil
		}}); err != nil {
			t.Error(what, err)
		}
		return list
	}
	want := scores(onDevices(t, 2))
	_, links := local.New(2)
	var wg sync.WaitGroup
	for r, l := range links {
		c := onDevices(t, 2)
		c.Net = net.Over(l)
		wg.Go(func() {
			if got := scores(c); !slices.Equal(got, want) {
				t.Errorf("%s: rank %d: scores %+v, want %+v", what, r, got, want)
			}
		})
	}
	wg.Wait()
}

// A rank that has no batch of an update makes it, too, and evaluates as the others do. What evaluation reads beside rows, such as the size
// of each graph, lies where the gradients of an update come to.
func TestRanksWithoutBatch(t *testing.T) {
	d := tasks(t)
	scoresOnRanks(t, "graphs", taskModel(t, "sage", d, saga.GraphTask, saga.ReadoutMean), d, saga.Sampling{Sampler: sample.Neighbours(3, 3), Batch: 40}) // all graphs
}

// Ranks draw edges by time, and share the batches of evaluation; a rank may have none.
func TestRanksPast(t *testing.T) {
	for _, batch := range []int{100, 20000} {
		d := timedGraph(t, 9)
		s := saga.Sampling{Sampler: sample.Neighbours(3, 2), Batch: batch, Times: batches.Latest}
		scoresOnRanks(t, "vertices", sampledModel(t, "sage", d), d, s)
		s.Times, d = batches.UpTo, linkTimes(t, 9)
		m := sampledModel(t, "sage", d)
		m.Task = saga.LinkTask
		if batch == 100 {
			s.Eval = []int{2, 2}
		}
		scoresOnRanks(t, "links", m, d, s)
	}
}
