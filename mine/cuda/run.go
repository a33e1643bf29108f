package cuda

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/run"
)

// Chip holds the facts of a GPU that decide how kernels are launched. A grid has as many blocks as all
// multiprocessors hold.
type Chip struct {
	Shared     int64 // bytes of shared memory that a block may have
	Processors int   // multiprocessors
}

// everyShared is the shared memory in bytes that a block may have on every GPU.
const everyShared = 48 << 10

// ChipOf returns the Chip of a GPU.
func ChipOf(gpu device.GPU) Chip {
	info := gpu.Info()
	return Chip{int64(max(info.Shared, everyShared)), max(info.Processors, 1)}
}

// atMost is the number of blocks to launch: at most blocks, and no more than there is work for, as
// sums of fewer blocks are read faster. A block does each tasks at a time.
func atMost(blocks, tasks, each int) int { return max(1, min(blocks, (tasks+each-1)/each)) }

// stateWords is the number of 64-bit words of a run's state on a GPU. Word 0 tells kernels to stop, the
// others are the numbers of the next tasks of the run's launches.
const stateWords = 8

// job is what a run submits to a card: launches, and the memory for the sums of their
// warps. The memory is taken before the run and freed after it.
type job struct {
	calls []launch.Call
	outs  []device.Mem
}

// counting is a run over all cards that computes one or more sums. Each of a job's outs is divided into
// equal parts, one for each sum.
type counting struct {
	g       *Graph
	sums    int
	prepare func(c *card, number int, state device.Mem) (*job, error)
	// share returns the share of the work that is done when each launch has taken so many tasks.
	share func(taken []uint64) float64
}

// run prepares and launches the jobs of all cards, which work at the same time, and adds up their
// sums.
func (k *counting) run(ctx context.Context, report func(float64)) (totals []run.Total, err error) {
	g := k.g
	held := make([]int, len(g.cards))
	for i, c := range g.cards {
		held[i] = c.Held()
	}
	defer func() {
		for i, c := range g.cards {
			err = errors.Join(err, c.Release(held[i]))
		}
	}()
	states, jobs := make([]device.Mem, len(g.cards)), make([]*job, len(g.cards))
	for i, c := range g.cards {
		if states[i], err = c.Alloc(8 * stateWords); err != nil {
			return nil, err
		}
		if jobs[i], err = k.prepare(c, i, states[i]); err != nil {
			return nil, err
		}
		jobs[i].calls[0].Clear = append(jobs[i].calls[0].Clear, states[i])
	}
	for i, c := range g.cards {
		if err := c.Launch(jobs[i].calls...); err != nil {
			return nil, errors.Join(err, g.each(func(_ int, c *card) error { return c.GPU.Sync() }))
		}
	}
	outs := make([][][]run.Total, len(g.cards))
	err = k.wait(ctx, states, report, func(i int, c *card) error {
		err := c.GPU.Sync()
		for _, m := range jobs[i].outs {
			sums := make([]run.Total, m.Len()/16)
			err = errors.Join(err, c.GPU.CopyD2H(c.Queue, device.Bytes(sums), m, 0))
			outs[i] = append(outs[i], sums)
		}
		return errors.Join(err, c.GPU.Sync())
	})
	if err != nil {
		return nil, err
	}
	totals = make([]run.Total, k.sums)
	for _, list := range slices.Concat(outs...) {
		for j, s := range list { // kernels write the low word first
			sum := &totals[j/(len(list)/k.sums)]
			sum.AddTotal(run.Total{Hi: s.Lo, Lo: s.Hi})
		}
	}
	return totals, nil
}

// each calls f for all cards at the same time.
func (g *Graph) each(f func(i int, c *card) error) error {
	errs := make([]error, len(g.cards))
	var wg sync.WaitGroup
	for i, c := range g.cards {
		wg.Go(func() { errs[i] = f(i, c) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// beat is the time between two reads of the progress.
const beat = 100 * time.Millisecond

// wait waits for all cards: finish(i, c) returns when card c has finished. Meanwhile wait
// reads how many tasks the cards have taken, to report progress. When ctx is done, it writes the word
// that stops the kernels.
func (k *counting) wait(ctx context.Context, states []device.Mem, report func(float64), finish func(i int, c *card) error) error {
	done := make(chan error, 1)
	go func() { done <- k.g.each(finish) }()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	stop, stopped := []uint64{1}, ctx.Done()
	for {
		select {
		case err := <-done:
			if err == nil {
				err = ctx.Err()
			}
			if err == nil && report != nil {
				report(1)
			}
			return err
		case <-stopped:
			stopped = nil
			for i, c := range k.g.cards {
				if err := c.GPU.CopyH2D(c.side, states[i], 0, device.Bytes(stop)); err != nil {
					continue // a device that has failed runs nothing more
				}
			}
		case <-tick.C:
			if report != nil && k.share != nil {
				report(k.ask(states))
			}
		}
	}
}

// ask reads the cards' states and returns the share of the work that is done.
func (k *counting) ask(states []device.Mem) float64 {
	least := 1.0
	for i, c := range k.g.cards {
		taken := make([]uint64, stateWords)
		if err := c.GPU.CopyD2H(c.side, device.Bytes(taken), states[i], 0); err != nil {
			return 0
		}
		least = min(least, k.share(taken[1:]))
	}
	return least
}
