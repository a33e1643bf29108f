package dataflow_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sagann/dataflow/plan/order"
	"sagann/device"
	"sagann/internal/draw"
	"sagann/net"
	"sagann/net/local"
)

// Random programs on two to four devices give the same bits on as many ranks and on half of them as in one process,
// whatever the plan, and however long messages are held up at either end; no rank waits for ever. There are twice
// -rapid.checks=N cases, and ten times in make soak.
func TestRandomRanks(t *testing.T) {
	parts := 2
	if draw.Soak() {
		parts = 10
	}
	for i := range parts {
		t.Run(fmt.Sprint(i), draw.Each(func(t *rapid.T) {
			c := bitsCase{program: drawProgram(t), graph: drawGraph(t), options: drawOptions(t), seed: 1}
			shape := rapid.SampledFrom([][2]int{{2, 2}, {3, 3}, {4, 2}, {4, 4}}).Draw(t, "devices and ranks")
			c.options.devices, c.options.procs = shape[0], runtime.GOMAXPROCS(0)
			c.options.apart, c.options.way = rapid.Bool().Draw(t, "rows apart"), rapid.SampledFrom([]string{"", "relay", "direct"}).Draw(t, "way of messages")
			delays := rapid.Uint64().Draw(t, "delays")
			p, v := parse(c.program), values{g: c.graph.graph(), seed: c.seed}
			want, err := run(p, v, c.options)
			if err != nil {
				t.Fatal(err)
			}
			for r, got := range runRanks(t, &c, shape[1], delays) {
				for name, x := range want {
					if !equalBits(x, got[name]) {
						t.Fatalf("%s has other bits on rank %d of %d than in one process", name, r, shape[1])
					}
				}
			}
		}))
	}
}

// runRanks is run on so many ranks, by rank. A rank that waits for a minute is an error.
func runRanks(t *rapid.T, c *bitsCase, ranks int, delays uint64) []map[string][]float32 {
	hub, links := local.New(ranks)
	hub.Delay = heldUp(delays)
	outs, errs := make([]map[string][]float32, ranks), make([]error, ranks)
	var wg sync.WaitGroup
	stuck := time.AfterFunc(time.Minute, func() { links[0].Abort(errors.New("no message for a minute")) })
	for r, l := range links {
		wg.Go(func() {
			p, v := parse(c.program), values{g: c.graph.graph(), seed: c.seed}
			if outs[r], errs[r] = runOn(p, v, c.options, net.Over(l)); errs[r] != nil {
				l.Abort(errs[r])
			}
		})
	}
	wg.Wait()
	stuck.Stop()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return outs
}

// heldUp is a delay for each end of a message: mostly none, at times a turn of the scheduler, rarely some time.
func heldUp(seed uint64) func(rank, tag int) {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 7))
	return func(int, int) {
		mu.Lock()
		n := r.IntN(64)
		mu.Unlock()
		switch {
		case n < 16:
			runtime.Gosched()
		case n < 18:
			time.Sleep(time.Duration(n) * 5 * time.Microsecond)
		}
	}
}

// messenger is a device that exchanges messages by itself, as GPUs do through NCCL: those of a turn at the same time.
type messenger struct {
	device.Device
	ranks *net.Group
	own   int // number of the device among all
	all   int
}

func (m *messenger) Unwrap() device.Device { return m.Device }

// Exchange is over when all messages are.
func (m *messenger) Exchange(q device.Queue, list []device.Message) error {
	list = slices.Clone(list)
	return m.Launch(q, device.HostFunc("messages", func(arena []byte) error {
		errs := make([]error, len(list))
		var wg sync.WaitGroup
		for i, x := range list {
			wg.Go(func() {
				from, to := x.Peer, m.own
				if x.Send {
					from, to = to, from
				}
				b, peer, way := x.Mem.In(arena)[x.Off:x.Off+x.Bytes], order.RankOf(x.Peer, m.all, m.ranks.Ranks()), 2*(from*m.all+to) // as plan.Task.Channel
				if x.Send {
					errs[i] = m.ranks.Send(b, peer, way)
				} else {
					errs[i] = m.ranks.Recv(b, peer, way)
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}))
}
