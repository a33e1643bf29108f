package cuda

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"sagann/device"
	"sagann/device/launch"
)

// Sorting says how Sort works.
type Sorting struct {
	// Room is the bytes that Sort may take on the GPU, at least LeastSorting().
	Room int64
	// Twice has parts of the keys sorted on the GPU, not only divided by splitters, before these are sorted. For comparison.
	Twice bool
}

// LeastSorting is the least that a sort takes on a GPU.
func LeastSorting() int64 { return sortLanes * (tileBytes() + sortFixed) }

// tileBytes is the bytes for a tile: keys twice, and counts.
func tileBytes() int64 { return 2*8*int64(sortTile()) + 4*digits }

// sortFixed is the other bytes of a lane.
const sortFixed = 8*digits + 8*mostSplits + 5*device.Align

const (
	sortLanes  = 3       // one copies up, one computes, one copies down
	mostSplits = 127     // two digits each and one more
	sortSample = 2048    // keys drawn for a splitter
	leastPiece = 8 << 20 // keys; a smaller piece takes no less time
)

// sorter sorts on a GPU.
type sorter struct {
	most  int // keys of a piece
	lanes []*sortLane
	twice bool
}

// sortLane has memory for a piece and a queue of its own.
type sortLane struct {
	*launch.Card
	a, b, counts, totals, split device.Mem
	stage                       device.HostMem
	done                        device.Event
}

// Sort sorts keys that lie in host memory, best in that of HostAlloc. The result is in out, which has as many; keys are overwritten. Pieces of the
// keys that fit on the GPU are divided by splitters, which a sample of the keys gives, and written back in place. Then all keys between two splitters
// are copied up, sorted and copied down to where they belong. So each key crosses the link four times, as often as with sorted pieces that are
// merged, but is sorted once. What lies between two splitters and does not fit is divided again.
func Sort(ctx context.Context, gpu device.GPU, keys, out []uint64, o Sorting) error {
	return sorting(gpu, len(keys), o, func(s *sorter) error { return s.sort(ctx, [][]uint64{keys}, out) })
}

// SortPieces sorts pieces of keys in place, and returns the length of all but the last. For comparison with Sort: on the host they can be merged.
func SortPieces(ctx context.Context, gpu device.GPU, keys []uint64, o Sorting) (length int, err error) {
	return length, sorting(gpu, len(keys), o, func(s *sorter) error {
		length = s.most
		pieces := s.pieces([][]uint64{keys})
		return s.deal(ctx, len(pieces), func(l *sortLane, i int) error { return l.finish(sortJob{pieces[i], pieces[i][0], ^uint64(0)}) })
	})
}

// sorting has f work with lanes for n keys.
func sorting(gpu device.GPU, n int, o Sorting, f func(s *sorter) error) (err error) {
	s := &sorter{twice: o.Twice}
	defer func() {
		if err != nil {
			err = errors.Join(err, gpu.Sync()) // copies may still use the lists
		}
		for _, l := range s.lanes {
			if len(l.stage.Bytes()) > 0 {
				err = errors.Join(err, gpu.HostFree(l.stage))
			}
			err = errors.Join(err, l.Release(0))
		}
	}()
	tile := sortTile()
	tiles := int((o.Room/sortLanes - sortFixed) / tileBytes())
	if tiles < 1 {
		return &device.BudgetError{Device: gpu.Info().Name, Asked: LeastSorting(), Budget: o.Room, Largest: o.Room}
	}
	tiles = max(1, min(tiles, max(leastPiece, n/32)/tile, (n+tile-1)/tile))
	s.most = tiles * tile
	for range sortLanes {
		l := &sortLane{Card: &launch.Card{GPU: gpu}}
		s.lanes = append(s.lanes, l)
		if err := l.open(tiles); err != nil {
			return err
		}
	}
	return f(s)
}

func (l *sortLane) open(tiles int) (err error) {
	if l.Queue, err = l.GPU.NewQueue("sort"); err != nil {
		return err
	}
	keys := 8 * int64(tiles*sortTile())
	for _, x := range []struct {
		to    *device.Mem
		bytes int64
	}{{&l.a, keys}, {&l.b, keys}, {&l.counts, 4 * digits * int64(tiles)}, {&l.totals, 8 * digits}, {&l.split, 8 * mostSplits}} {
		if *x.to, err = l.Alloc(x.bytes); err != nil {
			return err
		}
	}
	// Smaller blocks are not pinned.
	if l.stage, err = l.GPU.HostAlloc(1 << 20); err != nil {
		return err
	}
	l.done, err = l.GPU.NewEvent()
	return err
}

// sort sorts the keys of some lists to one.
func (s *sorter) sort(ctx context.Context, from [][]uint64, out []uint64) error {
	pieces, jobs := s.pieces(from), []sortJob{{from, out, ^uint64(0)}}
	if len(pieces) > 1 {
		split := splitters(from, len(out), s.most)
		starts := make([][]int, len(pieces)) // by piece: where each digit begins
		err := s.deal(ctx, len(pieces), func(l *sortLane, i int) (err error) {
			starts[i], err = l.divide(pieces[i], split, s.twice)
			return err
		})
		if err != nil {
			return err
		}
		jobs = s.divided(pieces, starts, split, out)
	}
	var large []sortJob
	jobs = slices.DeleteFunc(jobs, func(j sortJob) bool {
		if len(j.to) > s.most {
			large = append(large, j)
			return true
		}
		return false
	})
	err := s.deal(ctx, len(jobs), func(l *sortLane, i int) error { return l.finish(jobs[i]) })
	for _, j := range large {
		if err == nil {
			err = s.sort(ctx, j.from, j.to)
		}
	}
	return err
}

// sortJob is keys that are to be sorted to a place.
type sortJob struct {
	from   [][]uint64
	to     []uint64
	differ uint64 // bits in which the keys may differ
}

// deal has the lanes do jobs.
func (s *sorter) deal(ctx context.Context, n int, do func(l *sortLane, i int) error) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next, failed := 0, error(nil)
	for _, l := range s.lanes {
		wg.Go(func() {
			for {
				mu.Lock()
				if failed == nil {
					failed = ctx.Err()
				}
				i := next
				next++
				ends := failed != nil || i >= n
				mu.Unlock()
				if ends {
					return
				}
				if err := do(l, i); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return failed
}

// pieces are lists of keys that fit on a lane.
func (s *sorter) pieces(from [][]uint64) (pieces [][][]uint64) {
	left := 0
	for _, list := range from {
		for len(list) > 0 {
			if left == 0 {
				pieces, left = append(pieces, nil), s.most
			}
			n := min(left, len(list))
			last := len(pieces) - 1
			pieces[last] = append(pieces[last], list[:n])
			list, left = list[n:], left-n
		}
	}
	return pieces
}

// splitters are some of n keys, which ascend, so that most pieces between two of them fit on a lane.
func splitters(from [][]uint64, n, most int) []uint64 {
	parts := min(mostSplits+1, n/(most-most/8)+2)
	var drawn []uint64
	step := max(1, n/(parts*sortSample))
	at := 0
	for _, list := range from {
		for ; at < len(list); at += step {
			drawn = append(drawn, list[at])
		}
		at -= len(list)
	}
	slices.Sort(drawn)
	var split []uint64
	for i := 1; i < parts; i++ {
		split = append(split, drawn[i*len(drawn)/parts])
	}
	return slices.Compact(split)
}

// divided are the jobs after keys were divided. What is equal to a splitter is written at once.
func (s *sorter) divided(pieces [][][]uint64, starts [][]int, split, out []uint64) (jobs []sortJob) {
	for d := range 2*len(split) + 1 {
		j, n := sortJob{differ: ^uint64(0)}, 0
		if d > 1 && d/2 < len(split) {
			j.differ = split[d/2-1] ^ split[d/2]
		}
		for i, p := range pieces {
			lo, hi := starts[i][d], starts[i][d+1]
			n += hi - lo
			for _, list := range p {
				if a, b := min(lo, len(list)), min(hi, len(list)); a < b {
					j.from = append(j.from, list[a:b])
				}
				lo, hi = max(0, lo-len(list)), max(0, hi-len(list))
			}
		}
		j.to, out = out[:n], out[n:]
		if d%2 == 1 {
			for i := range j.to {
				j.to[i] = split[d/2]
			}
		} else if n > 0 {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// upload copies lists to a.
func (l *sortLane) upload(from [][]uint64) (n int, err error) {
	for _, list := range from {
		if err := l.GPU.CopyH2D(l.Queue, l.a, 8*int64(n), device.Bytes(list)); err != nil {
			return 0, err
		}
		n += len(list)
	}
	return n, nil
}

// await waits for what was submitted.
func (l *sortLane) await() error {
	if err := l.GPU.Record(l.Queue, l.done); err != nil {
		return err
	}
	return device.Await(l.GPU, l.done)
}

// pass places n keys of a by a digit in b, and has them change places.
func (l *sortLane) pass(n int, shift, splits uint64) error {
	if n == 0 {
		return nil
	}
	tiles := (n + sortTile() - 1) / sortTile()
	args := launch.Args{"keys": l.a, "n": uint64(n), "shift": shift, "splitters": l.split, "splits": splits, "counts": l.counts}
	call := func(name string, grid int, args launch.Args) launch.Call {
		return launch.Call{Source: sorts(), Name: name, Grid: grid, Block: sortBlock, Shared: sortShared(), Args: args}
	}
	err := l.Launch(call("saga_sort_count", tiles, args),
		launch.Call{Source: sorts(), Name: "saga_sort_scan", Grid: digits, Block: 32, Args: launch.Args{"counts": l.counts, "tiles": uint64(tiles), "totals": l.totals}},
		call("saga_sort_place", tiles, args.With(launch.Args{"out": l.b, "totals": l.totals})))
	l.a, l.b = l.b, l.a
	return err
}

// sorted sorts n keys by those digits in which they differ, given bits that do.
func (l *sortLane) sorted(n int, differ uint64) error {
	for shift := 0; shift < bits.Len64(differ); shift += 8 {
		if err := l.pass(n, uint64(shift), 0); err != nil {
			return err
		}
	}
	return nil
}

// divide places keys by splitters, and returns where each digit begins.
func (l *sortLane) divide(piece [][]uint64, split []uint64, sorted bool) ([]int, error) {
	n, err := l.upload(piece)
	if err != nil {
		return nil, err
	}
	stage := device.View[uint64](l.stage.Bytes())
	copy(stage[digits:], split)
	if err := l.GPU.CopyH2D(l.Queue, l.split, 0, device.Bytes(stage[digits:digits+len(split)])); err != nil {
		return nil, err
	}
	if sorted {
		if err := l.sorted(n, ^uint64(0)); err != nil {
			return nil, err
		}
	}
	if err := l.pass(n, 0, uint64(len(split))); err != nil {
		return nil, err
	}
	if err := l.GPU.CopyD2H(l.Queue, device.Bytes(stage[:digits]), l.totals, 0); err != nil {
		return nil, err
	}
	if err := l.download(piece); err != nil {
		return nil, err
	}
	starts := make([]int, digits+1)
	for d, n := range stage[:digits] {
		starts[d+1] = starts[d] + int(n)
	}
	return starts, nil
}

// download copies a to lists and waits.
func (l *sortLane) download(to [][]uint64) error {
	at := int64(0)
	for _, list := range to {
		if err := l.GPU.CopyD2H(l.Queue, device.Bytes(list), l.a, at); err != nil {
			return err
		}
		at += 8 * int64(len(list))
	}
	return l.await()
}

// finish sorts keys to their place.
func (l *sortLane) finish(j sortJob) error {
	n, err := l.upload(j.from)
	if err != nil {
		return err
	}
	if err := l.sorted(n, j.differ); err != nil {
		return err
	}
	return l.download([][]uint64{j.to})
}
