package cuda

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// Blocks of the pool of a listing have blockBytes bytes.
const (
	blockBytes  = 8 << 10
	leastBlocks = 2
)

// poolBlocks is the most blocks of the pool for each multiprocessor: four for each of its
// warps. That is several times what warps leave unused in their last blocks. Tests set fewer.
var poolBlocks = 128

func (c Chip) poolBlocks() int { return poolBlocks * c.Processors }

// The first launch of a listing has few tasks, so that the first rows come soon. If a launch leaves
// more than half of the pool empty, the next one has twice as many tasks. If the pool was too small,
// the next one has half as many, as the work behind the first task without a block was in vain.
const (
	firstTasks = 1 << 8
	mostListed = 1 << 20
)

// ListNeed is the bytes that List takes on each GPU in addition to the graph: the least that works, and the most
// that it can use.
func ListNeed(p *plan.Plan, r *rows.Rows, chip Chip) (least, most int64) {
	least, most = NestNeed(p, r, chip)
	tail := doneBytes(r) + 4*device.Align
	return least + tail + leastBlocks*blockBytes, most + tail + int64(chip.poolBlocks())*blockBytes
}

// doneBytes is the bytes of the list that says for each task of a launch whether it is complete or,
// without a pool, how many matches it has.
func doneBytes(r *rows.Rows) int64 { return 8 * min(mostListed, tasksBytes(r)/16) }

// lister lists on one GPU.
type lister struct {
	g      *Graph
	c      *card
	width  int
	tasks  []task
	k      launch.Call
	tally  *launch.Call // without a pool: the launch that counts, before the one that lists
	pool   device.Mem
	host   device.HostMem // two copies of the pool, used in turn
	second bool
	window int // tasks of the next launch
	blocks int
	state  device.Mem // see stateWords; word 1 is the next task, word 2 the number of blocks taken
	done   device.Mem // by task of a launch: whether it is complete
}

// piece is what a launch listed: runs of rows in order. It has all rows of the tasks before task
// whole, and the first extra rows of task whole.
type piece struct {
	rows  [][]uint32
	whole int
	extra uint64
	used  float64 // share of the pool that was used
	err   error
}

// List calls yield with the matches of a plan for listing. A row holds a graph vertex for each pattern
// vertex, and is only valid during the call. Rows come in ascending order of their vertices by level.
// List ends when yield returns false, all matches are listed or ctx is done. The graph's vertices must be
// in the order of the user's numbers. room is the bytes that List may take, see ListNeed. Without a
// pool a launch is two kernels: one counts the matches of each task, the other writes them.
//
// GPUs list stretches of tasks in turn, and the stretches are read in the same turn.
func (g *Graph) List(ctx context.Context, p *plan.Plan, pool bool, room int64, report func(float64), yield func(row []uint32) bool) (err error) {
	all := tasks(g.rows, p, 0, g.rows.V())
	if len(all) == 0 {
		return ctx.Err()
	}
	held := make([]int, len(g.cards))
	for i, c := range g.cards {
		held[i] = c.Held()
	}
	var ls []*lister
	defer func() {
		if err != nil {
			for _, c := range g.cards {
				err = errors.Join(err, c.GPU.Sync())
			}
		}
		for i, c := range g.cards {
			err = errors.Join(err, c.Release(held[i]))
		}
		for _, l := range ls {
			err = errors.Join(err, l.c.GPU.HostFree(l.host))
		}
	}()
	for _, c := range g.cards {
		l := &lister{g: g, c: c, width: p.Pattern.Vertices(), tasks: all, window: firstTasks}
		if err := l.open(p, pool, room); err != nil {
			return err
		}
		ls = append(ls, l)
	}
	return (&listing{ls, len(all), p.Pattern.Vertices(), report, yield}).run(ctx)
}

// open takes the memory of a card.
func (l *lister) open(p *plan.Plan, pool bool, room int64) (err error) {
	c, r := l.c, l.g.rows
	left := room - 16*int64(len(l.tasks)) - doneBytes(r) - 8*stateWords - 8*device.Align
	l.blocks = int(max(leastBlocks, min(int64(l.c.chip.poolBlocks()), left/2/blockBytes)))
	list, err := launch.Put(c.Card, l.tasks)
	if err != nil {
		return err
	}
	source := nest(p, pooled)
	if !pool {
		source = nest(p, placed)
	}
	if l.k, err = c.nestCall(r, p, source, 1<<40, left-int64(l.blocks)*blockBytes); err != nil {
		return err
	}
	if l.pool, err = c.Alloc(int64(l.blocks) * blockBytes); err != nil {
		return err
	}
	if l.done, err = c.Alloc(doneBytes(r)); err != nil {
		return err
	}
	if l.state, err = c.Alloc(8 * stateWords); err != nil {
		return err
	}
	l.k.Args = l.k.Args.With(launch.Args{"tasks": list, "state": l.state, "next": l.state.Slice(8, 8)})
	if pool {
		l.k.Args = l.k.Args.With(launch.Args{"pool": l.pool, "blocks": uint64(l.blocks), "words": uint64(blockBytes / 4), "taken": l.state.Slice(16, 8), "complete": l.done})
	} else {
		l.exact(nest(p, tallied))
	}
	if err := c.GPU.Sync(); err != nil { // the copy still reads the list of tasks
		return err
	}
	l.host, err = c.GPU.HostAlloc(2 * int64(l.blocks) * blockBytes)
	return err
}

// launch lists the tasks from lo up to hi, without the first skip rows, and copies the rows to the
// host.
func (l *lister) launch(ctx context.Context, lo, hi int, skip uint64) piece {
	if l.tally != nil {
		return l.launchExact(ctx, lo, hi, skip)
	}
	k := l.k
	k.Args = k.Args.With(launch.Args{"lo": uint64(lo), "hi": uint64(hi), "base": uint64(lo), "skip": skip})
	k.Clear = []device.Mem{l.state, l.done.Slice(0, 4*int64(hi-lo)), l.pool.Slice(0, 8)}
	if err := l.c.Launch(k); err != nil {
		return piece{err: err}
	}
	state, done := make([]uint64, stateWords), make([]uint32, hi-lo)
	finish := func(_ int, c *card) error {
		err := c.GPU.Sync()
		if err == nil {
			err = errors.Join(c.GPU.CopyD2H(c.Queue, device.Bytes(state), l.state, 0), c.GPU.CopyD2H(c.Queue, device.Bytes(done), l.done, 0))
		}
		return errors.Join(err, c.GPU.Sync())
	}
	if err := l.wait(ctx, finish); err != nil {
		return piece{err: err}
	}
	words, err := l.copied(int64(min(int(state[2])+1, l.blocks)) * blockBytes)
	if err != nil {
		return piece{err: err}
	}
	p := l.sort(lo, done, words)
	p.used = float64(state[2]+1) / float64(l.blocks)
	return p
}

// wait waits for a launch of this card.
func (l *lister) wait(ctx context.Context, finish func(i int, c *card) error) error {
	one := counting{g: &Graph{cards: []*card{l.c}}}
	return one.wait(ctx, []device.Mem{l.state}, nil, finish)
}

// copied copies the first bytes of the pool to the host.
func (l *lister) copied(bytes int64) ([]uint32, error) {
	to := l.host.Bytes()
	if l.second {
		to = to[l.blocks*blockBytes:]
	}
	l.second = !l.second
	err := l.c.GPU.CopyD2H(l.c.Queue, to[:bytes], l.pool.Slice(0, bytes), 0)
	return device.View[uint32](to[:bytes]), errors.Join(err, l.c.GPU.Sync())
}

// sort puts the runs of rows in the order of their tasks, up to the first task that is not
// complete. A warp takes blocks with ascending numbers, so reading the blocks in order finds the runs
// of each task in order.
func (l *lister) sort(lo int, done, words []uint32) piece {
	whole := 0
	for whole < len(done) && done[whole] == 1 {
		whole++
	}
	p := piece{whole: lo + whole}
	at := make([]int, whole+3) // at[i+1]: where the next run of task i goes
	p.err = l.runs(words, func(task int, rows []uint32) {
		if task <= whole {
			at[task+2]++
		}
	})
	if p.err != nil {
		return p
	}
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	p.rows = make([][]uint32, at[len(at)-1])
	p.err = l.runs(words, func(task int, rows []uint32) {
		if task > whole {
			return
		}
		p.rows[at[task+1]] = rows
		at[task+1]++
		if task == whole {
			p.extra += uint64(len(rows) / l.width)
		}
	})
	return p
}

// runs calls f with the runs of rows in all blocks.
func (l *lister) runs(words []uint32, f func(task int, rows []uint32)) error {
	for at := 0; at < len(words); at += blockBytes / 4 {
		block := words[at : at+blockBytes/4]
		used := int(block[0])
		for i := 1; i < used; {
			if i+2 > len(block) || i+2+int(block[i+1])*l.width > min(used, len(block)) {
				return fmt.Errorf("block %d of a listing is broken at word %d of %d", at/(blockBytes/4), i, used)
			}
			n := int(block[i+1]) * l.width
			f(int(block[i]), block[i+2:i+2+n])
			i += 2 + n
		}
	}
	return nil
}

// give calls yield with the rows of a piece, in order; false when that returns false.
func (x *listing) give(p piece) bool {
	for _, rows := range p.rows {
		for at := 0; at < len(rows); at += x.width {
			if !x.yield(rows[at : at+x.width : at+x.width]) {
				return false
			}
		}
	}
	return true
}

// listing reads the pieces of all cards.
type listing struct {
	listers []*lister
	tasks   int
	width   int // vertices of the pattern
	report  func(float64)
	yield   func(row []uint32) bool
}

// run has the cards list stretches of tasks in turn, and reads the stretches in the same turn. A card
// is at most one launch ahead of the reader, as there are two host copies of its pool.
func (x *listing) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	n := len(x.listers)
	pieces := make([]chan piece, n)
	var cards sync.WaitGroup
	defer cards.Wait()
	defer cancel() // before waiting
	for i, l := range x.listers {
		pieces[i] = make(chan piece)
		cards.Go(func() {
			for turn := i; ; turn += n {
				if lo, hi := x.stretch(turn); lo == hi || !l.list(ctx, lo, hi, pieces[i]) {
					return
				}
			}
		})
	}
	for turn := 0; ; turn++ {
		at, hi := x.stretch(turn)
		if at == hi {
			return nil
		}
		for at < hi {
			var p piece
			select {
			case p = <-pieces[turn%n]:
			case <-ctx.Done():
				return ctx.Err()
			}
			if p.err != nil {
				return p.err
			}
			if !x.give(p) {
				return nil
			}
			at = p.whole
			if x.report != nil {
				x.report(float64(at) / float64(x.tasks))
			}
		}
	}
}

// stretch is the tasks of a turn, from lo up to hi. Each stretch has twice as many tasks as the one
// before.
func (x *listing) stretch(turn int) (lo, hi int) {
	length := firstTasks
	for range turn {
		lo = min(lo+length, x.tasks)
		length = min(2*length, mostListed)
	}
	return lo, min(lo+length, x.tasks)
}

// list lists a stretch, in as many launches as it takes. The next launch begins with the first task
// that the last one did not complete.
func (l *lister) list(ctx context.Context, lo, hi int, out chan<- piece) bool {
	skip := uint64(0)
	for lo < hi {
		to := min(hi, lo+l.window)
		p := l.launch(ctx, lo, to, skip)
		if p.whole < to {
			l.window = max(1, (to-lo)/2)
		} else if p.used < 0.5 {
			l.window = min(2*l.window, mostListed)
		}
		select {
		case out <- p:
		case <-ctx.Done():
			return false
		}
		if p.err != nil {
			return false
		}
		if p.whole > lo {
			skip = 0
		}
		skip += p.extra
		lo = p.whole
	}
	return true
}
