package cuda

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/pattern"
)

// CountKeys counts the rows of a table by a key or, if it is nil, by their quick codes (table.QuickOf), in tables of keys on the GPUs: a table that is full is given to add, which
// gets keys with the rows that have them, from one goroutine at a time, and is emptied. A key may come several times. end is the vertex before which the
// rows that were counted begin.
func CountKeys(ctx context.Context, g *Graph, m *Making, key *pattern.Expr, add func(key int64, rows uint64) error) (end int, err error) {
	x, err := newGrowth(m, &keyed{key}, len(g.cards))
	if err != nil {
		return 0, err
	}
	var mu sync.Mutex
	err = x.run(ctx, g, func(l *growLane) (growSink, error) {
		return &growCount{growLane: l, mu: &mu, add: add}, nil
	})
	return x.deal.Next, cmp.Or(err, x.deal.Err())
}

// growCount counts rows by key.
type growCount struct {
	*growLane
	mu     *sync.Mutex
	add    func(key int64, rows uint64) error
	begun  bool
	counts int64 // keys in the table
}

func (c *growCount) begin(int) {}

func (c *growCount) finish() error { return nil }

func (c *growCount) settle(int, int64) (bool, error) { return false, nil }

// split is how many words, of a bit for each lane of a warp, a warp counts before it looks whether the table is full, and how many blocks count: each thread may put as many keys into the table after
// it is full. Few blocks are slower than few words.
func (c *growCount) split() (each int64, blocks int) {
	most := c.room.counters / 4 / growBlock
	blocks = min(countBlocks*c.chip.Processors, int(most), mostCounting)
	return min(countTiles, most/int64(blocks)), blocks
}

// countBlocks is the blocks of a multiprocessor that count, mostCounting how many there are at most, countTiles the words that a warp takes at a time.
const (
	countBlocks  = 12
	mostCounting = 1 << 12
	countTiles   = 32
)

// leftBytes is the memory for what warps have left when the table was full.
func leftBytes(counters int64) int64 {
	return 8 * growWarps * min(counters/4/growBlock, mostCounting)
}

func (c *growCount) last(ctx context.Context, b *grownBatch) error {
	n, size, done := b.slots, c.spec.Size, c.words(2, 4)
	if !c.begun {
		if err := errors.Join(c.zero(c.counters), c.zero(done)); err != nil {
			return err
		}
		c.begun = true
	}
	words := c.bits
	if b.fused(c.growLane) {
		words = device.Mem{}
	}
	each, blocks := c.split()
	blocks = min(blocks, c.grid((n+countTiles-1)/countTiles, growBlock))
	args := b.args.With(launch.Args{"label": c.label, "off": c.off, "kind": c.kind, "classes": c.labels.classes, "kinds": c.labels.kinds, "many_kinds": c.labels.many, "vertices": uint64(c.spec.Rows.V()),
		"begin": uint64(b.begin), "end": uint64(b.end), "place": c.size[b.size].place, "slots": c.slots, "words": words, "n": uint64(n), "tiles": uint64(countTiles), "each": uint64(each), "left": c.left,
		"keys": c.counters, "mask": uint64(c.room.counters - 1), "most": uint64(c.room.counters / 2), "done": done})
	top := uint64(0) // rows with the key that the table cannot hold
	for taken, left, resumed := int64(0), uint64(0), uint64(0); 32*countTiles*taken < n || left > 0; resumed = 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := launch.Call{Source: c.texts[size], Name: "saga_grow_count", Grid: blocks, Block: growBlock, Shared: c.shape.counted(size), Args: args.With(launch.Args{"resumed": resumed}), Clear: []device.Mem{c.words(5, 1)}}
		if resumed == 0 {
			k.Clear = append(k.Clear, c.words(2, 2))
		}
		if err := c.Launch(k); err != nil {
			return err
		}
		if err := c.ask(done); err != nil {
			return err
		}
		taken, c.counts = int64(c.host.answer[0]), int64(c.host.answer[2])
		top, left = c.host.answer[1], c.host.answer[3]
		if c.counts >= c.room.counters/2 {
			if err := c.giveUp(ctx); err != nil {
				return err
			}
			if err := errors.Join(c.zero(c.counters), c.zero(c.words(4, 1))); err != nil {
				return err
			}
		}
	}
	if top == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(1<<63-1, top)
}

func (c *growCount) end() error { return c.giveUp(context.Background()) }

// giveUp gives the keys of the table to add.
func (c *growCount) giveUp(ctx context.Context) error {
	if c.counts == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	packed, most := c.packed, c.room.packed()
	if c.counts <= most {
		most = c.room.counters
	}
	for at := int64(0); at < c.room.counters; at += most {
		n := min(most, c.room.counters-at)
		k := launch.Call{Source: sums(), Name: "saga_grow_pack", Grid: c.grid(n, growBlock), Block: growBlock, Clear: []device.Mem{c.words(1, 1)},
			Args: launch.Args{"keys": c.counters, "from": uint64(at), "n": uint64(n), "out": packed, "many": c.words(1, 1)}}
		if err := c.Launch(k); err != nil {
			return err
		}
		if err := c.ask(c.words(1, 1)); err != nil {
			return err
		}
		if err := c.give(packed, int64(c.host.answer[0])); err != nil {
			return err
		}
	}
	c.counts = 0
	return ctx.Err()
}

// give gives n keys to add.
func (c *growCount) give(packed device.Mem, n int64) error {
	stage := device.View[uint64](c.host.stage)
	for at := int64(0); at < 2*n; at += int64(len(stage)) {
		part := stage[:min(int64(len(stage)), 2*n-at)]
		if err := c.GPU.CopyD2H(c.Queue, device.Bytes(part), packed, 8*at); err != nil {
			return err
		}
		if err := c.await(); err != nil {
			return err
		}
		for i := 0; i < len(part); i += 2 {
			if err := c.add(int64((part[i]-1)^1<<63), part[i+1]); err != nil {
				return err
			}
		}
	}
	return nil
}
