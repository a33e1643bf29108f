package cuda

import (
	"errors"
	"fmt"

	"sagann/device"
	"sagann/device/launch"
)

// MostHeld is the largest number of vertices that a unique step or sample can have: they are in a hash
// table in shared memory.
const MostHeld = 6144

// held is the launch shape of unique samples: group is the number of threads per sample, slots the size
// of its hash table, which is filled to at most three quarters.
type held struct{ group, slots int }

func heldBy(vertices int) held {
	h := held{32, 64}
	for 3*h.slots < 4*vertices {
		h.slots *= 2
	}
	if h.slots > 1024 { // the tables of eight samples do not fit in a block's shared memory
		h.group = 256
	}
	return h
}

func (h held) defines() string {
	return fmt.Sprintf("#define GROUP %d\n#define SLOTS %d\n", h.group, h.slots)
}

// launch is the number of blocks of 256 threads for so many samples, and the bytes of shared memory of
// a block.
func (h held) launch(samples int) (blocks, shared int) {
	each := 256 / h.group
	return (samples + each - 1) / each, each * 8 * h.slots
}

// uniqueText is the source of a step of trees that adds no vertex twice.
func (w *Walk) uniqueText(wide bool, step int) string {
	per := w.widths()[step+1]
	return heldBy(per).defines() + w.head(wide) + holdText + uniqueTreeText + fmt.Sprintf(uniqueTreeHead, step, per, w.Sizes[step])
}

// Grow is a sampler whose steps make Size draws each from the rows, taken together, of all vertices that
// the last step added, until a sample has Most vertices. A sample has no vertex twice.
type Grow struct {
	Roots, Size, Most int
	Steps             int // largest number of steps
}

// Held is the largest number of vertices that the hash table of a sample holds.
func (w *Grow) Held() int { return w.Most + w.Size + w.Roots }

// Source is the kernel's text.
func (w *Grow) Source() string {
	h := heldBy(w.Held())
	h.group = 256
	return h.defines() + fmt.Sprintf("#define THREADS 256\n#define ROOTS %d\n#define SIZE %d\n#define MOST %d\n", w.Roots, w.Size, w.Most) + prelude + scanText + holdText + growText
}

// Grown holds samples of Grow. Sample i has Count[i] vertices from Vertices[i·Most] on, its roots first.
// Place has, at the same index as a vertex that is no root, step·Size + draw of the draw that added it.
type Grown struct{ Vertices, Place, Count []uint32 }

// Grow draws len(roots)/Roots samples, the first with the number first, by the Philox key k0, k1. Without
// copy it does not copy them to the host.
func (g *Graph) Grow(w *Grow, roots []uint32, first uint64, k0, k1 uint32, copy bool) (x *Grown, err error) {
	n := len(roots) / w.Roots
	var mems []device.Mem
	defer func() {
		err = errors.Join(err, g.card.GPU.Sync())
		for _, m := range mems {
			err = errors.Join(err, g.card.Drop(m))
		}
	}()
	take := func(words int) (m device.Mem) {
		if err == nil {
			if m, err = g.card.Alloc(max(4*int64(words), 8)); err == nil {
				mems = append(mems, m)
			}
		}
		return m
	}
	from, list, place, count := take(len(roots)), take(n*w.Most), take(n*w.Most), take(n)
	if err != nil {
		return nil, err
	}
	if err = g.card.GPU.CopyH2D(g.card.Queue, from, 0, device.Bytes(roots)); err != nil {
		return nil, err
	}
	shared := 4 * (32 + 3*w.Size + 2*w.Roots + 2*heldBy(w.Held()).slots)
	if err = g.card.Launch(launch.Call{Source: w.Source(), Name: "saga_grow", Grid: n, Block: 256, Shared: shared,
		Args: launch.Args{"offsets": g.offsets, "far": g.far, "roots": from, "list": list, "place": place, "count": count, "steps": uint64(w.Steps), "first": first, "key": uint64(k0) | uint64(k1)<<32}}); err != nil || !copy {
		return nil, err
	}
	x = &Grown{make([]uint32, n*w.Most), make([]uint32, n*w.Most), make([]uint32, n)}
	for i, to := range [][]uint32{x.Vertices, x.Place, x.Count} {
		if err = g.card.GPU.CopyD2H(g.card.Queue, device.Bytes(to), []device.Mem{list, place, count}[i], 0); err != nil {
			return nil, err
		}
	}
	return x, nil // Sync stands above
}
