package cuda

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"sagann/device"
	"sagann/device/launch"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// Widest is the largest number of neighbours above a root that the kernels for cliques and for
// triangles at edges can handle, if a block has so many bytes of shared memory. It is a power of two.
func Widest(shared int64) int {
	n := 1 << 15 // places in the table have 16 bits
	for n > small && max(cliqueShared(8, n, wideBlock/32, false), tableShared(n)+4*int64(n)) > shared {
		n /= 2
	}
	return n
}

// class is a range of roots, lo up to hi in the order of roots, with at most most neighbours above.
type class struct {
	lo, hi int
	most   int
}

// classes divides the roots with at least least neighbours above into classes. Roots are sorted by that
// number, descending, and sizes are the largest numbers of the classes.
func (g *Graph) classes(least int, sizes ...int) []class {
	above := func(v uint32) int { return len(g.rows.Above(v)) }
	upTo := func(n int) int { // the first root of at most n neighbours above
		at, _ := slices.BinarySearchFunc(g.order, n, func(v uint32, n int) int {
			if above(v) > n {
				return -1
			}
			return 1
		})
		return at
	}
	var out []class
	end := upTo(least - 1)
	for at := 0; at < end; {
		c := class{lo: at, hi: end, most: above(g.order[at])}
		for _, s := range sizes {
			if s < c.most {
				c.hi = min(c.hi, upTo(s))
			}
		}
		out = append(out, c)
		at = c.hi
	}
	return out
}

// slotsOf is the number of slots of the hash table for n vertices. The kernel's fill_table computes the
// same number.
func slotsOf(n int) int64 {
	slots := int64(64)
	for slots < 3*int64(n) {
		slots *= 2
	}
	return slots
}

// wordsOf is the number of words from one row to the next in a matrix of n rows.
func wordsOf(n int) int64 { return int64((n+31)/32 | 1) }

// tableShared is the bytes of shared memory for the hash table and the list of a root's neighbours,
// for roots of at most n neighbours above.
func tableShared(n int) int64 { return 16 + 4*int64(n) + 6*slotsOf(n) }

// cliqueShared is tableShared plus the sets of all warps and, if inside, the matrix.
func cliqueShared(k, n, warps int, inside bool) int64 {
	s := tableShared(n) + 4*int64(warps)*int64(max(k-4, 0))*wordsOf(n)
	if inside && k > 3 {
		s += 4 * int64(n) * wordsOf(n)
	}
	return s
}

// Shapes of blocks: for roots of many neighbours above one block fills a multiprocessor, for others
// several blocks share it.
const (
	middle      = 256 // neighbours above; a matrix of them leaves room for several blocks
	wideBlock   = 1024
	halfBlock   = 512 // two of them share a multiprocessor
	narrowBlock = 256
)

// warpBlocks is the number of blocks of kernels in which each warp does a root.
func (c Chip) warpBlocks() int { return 8 * c.Processors }

// shape is how a class of roots is launched.
type shape struct {
	threads, blocks int
	inside          bool // the matrix lies in shared memory
}

func shapeOf(k int, c class, chip Chip) shape {
	s := shape{threads: wideBlock, blocks: chip.Processors, inside: true}
	switch {
	case c.most <= middle || k == 3:
		s.threads, s.blocks = narrowBlock, 8*chip.Processors
	case cliqueShared(k, c.most, halfBlock/32, true) <= half(chip.Shared):
		s.threads, s.blocks = halfBlock, 2*chip.Processors
	}
	s.inside = cliqueShared(k, c.most, s.threads/32, true) <= chip.Shared
	return s
}

// cliqueClasses are the classes of roots for cliques of k vertices. If kernels mostly wait for host
// memory (waits), the roots that share a multiprocessor are one class, not two. Classes are then handed
// out from both ends, so that large roots, which compute, run beside smaller ones, which wait for rows.
func (g *Graph) cliqueClasses(k int, shared int64, waits bool) []class {
	if k == 3 {
		return g.classes(2, small, middle)
	}
	two, one := middle, middle // the largest roots whose matrix fits into half, and all, of the shared memory
	for two < Widest(shared) && cliqueShared(k, two+32, halfBlock/32, true) <= half(shared) {
		two += 32
	}
	for one < Widest(shared) && cliqueShared(k, one+32, wideBlock/32, true) <= shared {
		one += 32
	}
	if waits {
		return g.classes(k-1, small, two, one)
	}
	return g.classes(k-1, small, middle, two, one)
}

// half is the shared memory of each of two blocks on a multiprocessor, which reserves 1 KiB for each.
func half(shared int64) int64 { return shared/2 - 1<<10 }

// CliquesNeed is the bytes that Cliques takes on each GPU in addition to the graph. They include scratch for
// roots whose matrix does not fit into shared memory, for at least a quarter as many blocks as there
// are multiprocessors.
func CliquesNeed(r *rows.Rows, k int, chip Chip) int64 {
	need := int64(8*stateWords) + 5*16*int64(chip.warpBlocks()*8+wideBlock/32*chip.Processors) + 8*device.Align
	if k > 3 && cliqueShared(k, r.MaxAbove, wideBlock/32, true) > chip.Shared {
		need += 4 * int64(chip.Processors) * int64(r.MaxAbove) * wordsOf(r.MaxAbove)
	}
	return need
}

// Cliques counts the cliques of k vertices, 3 to 8.
func (g *Graph) Cliques(ctx context.Context, k int, report func(float64)) (run.Total, error) {
	if k < 3 || k > 8 {
		return run.Total{}, fmt.Errorf("cliques of %d vertices: the kernels count those of 3 to 8", k)
	}
	if err := g.wide(); err != nil {
		return run.Total{}, err
	}
	source := cliques(k, g.layout.Part)
	ends := uint64(0)
	if g.waits {
		ends = 1
	}
	all := g.cliqueClasses(k, g.cards[0].chip.Shared, g.waits)
	if len(all) == 0 {
		return run.Total{}, ctx.Err()
	}
	step, halved := uint64(len(g.cards)), uint64(base(g.rows))
	c := counting{g: g, sums: 1, share: g.shares(all, int(step))}
	c.prepare = func(c *card, number int, state device.Mem) (*job, error) {
		j := &job{}
		for i, x := range all {
			s := shapeOf(k, x, c.chip)
			lo, hi := uint64(x.lo+number), uint64(x.hi)
			threads, blocks := s.threads, s.blocks
			if x.most <= small {
				threads, blocks = narrowBlock, atMost(c.chip.warpBlocks(), x.hi-x.lo, narrowBlock/32)
			}
			blocks = atMost(blocks, x.hi-x.lo, 1)
			out, err := c.Alloc(16 * int64(blocks) * int64(threads/32))
			if err != nil {
				return nil, err
			}
			j.outs = append(j.outs, out)
			if x.most <= small {
				j.calls = append(j.calls, launch.Call{Source: source, Name: "saga_cliques_warp", Grid: blocks, Block: threads, Shared: 4 * threads,
					Args: launch.Args{"rows": c.table, "order": c.order, "state": state, "lo": lo, "hi": hi, "step": step, "base": halved, "out": out}})
				continue
			}
			var scratch device.Mem
			if !s.inside {
				if scratch, err = c.Alloc(4 * int64(blocks) * int64(x.most) * wordsOf(x.most)); err != nil {
					return nil, err
				}
			}
			j.calls = append(j.calls, launch.Call{Source: source, Name: "saga_cliques_block", Grid: blocks, Block: threads,
				Shared: int(cliqueShared(k, x.most, threads/32, s.inside)),
				Args: launch.Args{"rows": c.table, "order": c.order, "state": state, "next": state.Slice(8*int64(i+1), 8), "lo": lo, "hi": hi, "step": step, "base": halved,
					"ends": ends, "most": uint64(x.most), "slots": uint64(slotsOf(x.most)), "scratch": scratch, "out": out}})
		}
		return j, nil
	}
	totals, err := c.run(ctx, report)
	if err != nil {
		return run.Total{}, err
	}
	return totals[0], nil
}

// wide is an error if a root has more neighbours above than Widest.
func (g *Graph) wide() error {
	if most := Widest(g.cards[0].chip.Shared); g.rows.MaxAbove > most {
		return fmt.Errorf("a vertex has %d neighbours after it in order of degree; the kernels take %d", g.rows.MaxAbove, most)
	}
	return nil
}

// shares returns a function that computes the share of the work that is done, from the number of tasks
// that the launches of all classes have taken. A root counts as the square of its neighbours
// above. Small roots are left out, as their kernels are short.
func (g *Graph) shares(all []class, step int) func([]uint64) float64 {
	const steps = 64 // for each class, sums are kept at so many points
	sums := make([][]float64, len(all))
	total := 0.0
	sum := sync.OnceFunc(func() {
		for i, c := range all {
			sums[i] = make([]float64, steps+1)
			at := 0
			for v := c.lo; v < c.hi; v++ {
				d := float64(len(g.rows.Above(g.order[v])))
				for ; at <= (v-c.lo)*steps/(c.hi-c.lo); at++ {
					sums[i][at] = total
				}
				total += d * d
			}
			for ; at <= steps; at++ {
				sums[i][at] = total
			}
		}
	})
	return func(taken []uint64) float64 {
		sum()
		done := 0.0
		for i, c := range all {
			n := c.hi - c.lo // low halves of a count are taken from the front, high ones from the back; see next_of_ends
			front := min(int(taken[i]&(1<<32-1))*step, n)
			back := min(int(taken[i]>>32)*step, n-front)
			done += sums[i][front*steps/n] - sums[i][0] + sums[i][steps] - sums[i][(n-back)*steps/n]
		}
		return done / max(total, 1)
	}
}
