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
	x, err := newGrowth(m, &keyed{key})
	if err != nil {
		return 0, err
	}
	var mu sync.Mutex
	err = x.run(ctx, g, func(l *growLane) growSink {
		return &growCount{growLane: l, mu: &mu, add: add}
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

func (c *growCount) settle(int, int64) (bool, error) { return false, nil }

// split is how many rows a thread counts before it asks whether the table is full, and how many blocks count: each thread may put as many keys into the table after it is full.
func (c *growCount) split() (tiles int64, blocks int) {
	most := c.room.counters / 4 / growBlock
	tiles = min(8, most)
	return tiles, min(tableBlocks*c.chip.Processors, int(most/tiles))
}

func (c *growCount) last(ctx context.Context, n int64, write func(values, rows device.Mem) error) error {
	x := &c.size[c.spec.Size]
	if err := write(device.Mem{}, x.rows); err != nil {
		return err
	}
	if !c.begun {
		if err := c.zero(c.counters); err != nil {
			return err
		}
		c.begun = true
	}
	done := c.state.Slice(0, 24)
	tiles, blocks := c.split()
	blocks = min(blocks, c.grid((n+tiles-1)/tiles, growBlock))
	for taken := int64(0); 32*tiles*taken < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := []uint64{uint64(taken), uint64(c.counts), 0}
		if err := c.GPU.CopyH2D(c.Queue, done, 0, device.Bytes(from)); err != nil {
			return err
		}
		k := c.call(c.spec.Size, "saga_grow_count", n, growBlock, launch.Args{"rows": c.table, "label": c.label, "off": c.off, "kind": c.kind, "classes": c.labels.classes, "kinds": c.labels.kinds, "many_kinds": c.labels.many, "list": x.rows, "list_room": uint64(c.room.rows[c.spec.Size]), "n": uint64(n), "tiles": uint64(tiles),
			"keys": c.counters, "mask": uint64(c.room.counters - 1), "most": uint64(c.room.counters / 2), "done": done})
		k.Grid = blocks
		if err := c.Launch(k); err != nil {
			return err
		}
		if err := c.GPU.CopyD2H(c.Queue, device.Bytes(from), done, 0); err != nil {
			return err
		}
		if err := c.await(); err != nil {
			return err
		}
		taken, c.counts = int64(from[0]), int64(from[1])
		if from[2] > 0 {
			c.mu.Lock()
			err := c.add(1<<63-1, from[2])
			c.mu.Unlock()
			if err != nil {
				return err
			}
		}
		if c.counts >= c.room.counters/2 {
			if err := c.giveUp(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *growCount) end() error { return c.giveUp(context.Background()) }

// giveUp gives the keys of the table to add, and empties it.
func (c *growCount) giveUp(ctx context.Context) error {
	if c.counts == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The rows of the last size are counted: their memory is free.
	packed := c.size[c.spec.Size].rows
	for at, most := int64(0), packed.Len()/counterBytes; at < c.room.counters; at += most {
		n := min(most, c.room.counters-at)
		k := launch.Call{Source: sums(), Name: "saga_grow_pack", Grid: c.grid(n, growBlock), Block: growBlock, Clear: []device.Mem{c.state.Slice(8, 8)},
			Args: launch.Args{"keys": c.counters, "from": uint64(at), "n": uint64(n), "out": packed, "many": c.state.Slice(8, 8)}}
		if err := c.Launch(k); err != nil {
			return err
		}
		if err := c.ask(c.state.Slice(8, 8)); err != nil {
			return err
		}
		if err := c.give(packed, int64(c.answer[0])); err != nil {
			return err
		}
	}
	c.counts = 0
	return errors.Join(ctx.Err(), c.zero(c.counters))
}

// give gives n keys to add.
func (c *growCount) give(packed device.Mem, n int64) error {
	stage := device.View[uint64](c.pinned.Bytes())
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
