package cuda

import (
	"errors"
	"fmt"

	"sagann/device"
)

// MostHeld is how many vertices a sample can have that may not come twice: they lie in shared memory.
const MostHeld = 6144

// held is how samples that hold so many vertices are launched: threads of a sample, and places of its table, at most
// three quarters of which are taken.
type held struct{ group, slots int }

func heldBy(vertices int) held {
	h := held{32, 64}
	for 3*h.slots < 4*vertices {
		h.slots *= 2
	}
	if h.slots > 1024 { // the tables of eight samples are too large for a block
		h.group = 256
	}
	return h
}

func (h held) defines() string {
	return fmt.Sprintf("#define GROUP %d\n#define SLOTS %d\n", h.group, h.slots)
}

// launch is blocks of 256 threads and their shared memory for so many samples.
func (h held) launch(samples int) (blocks, shared int) {
	each := 256 / h.group
	return (samples + each - 1) / each, each * 8 * h.slots
}

// uniqueText is the source of a step of trees that adds no vertex twice.
func (w *Walk) uniqueText(wide bool, step int) string {
	per := w.widths()[step+1]
	return heldBy(per).defines() + w.head(wide) + holdText + uniqueTreeText + fmt.Sprintf(uniqueTreeHead, step, per, w.Sizes[step])
}

// Grow says how samples grow: by steps of Size draws, each of an edge of all vertices that the last step added, until they have Most
// vertices. No vertex comes twice.
type Grow struct {
	Roots, Size, Most int
	Steps             int // at most
}

// Held is how many vertices draws of a sample hold at most.
func (w *Grow) Held() int { return w.Most + w.Size + w.Roots }

// Source is the kernel's text.
func (w *Grow) Source() string {
	h := heldBy(w.Held())
	h.group = 256
	return h.defines() + fmt.Sprintf("#define THREADS 256\n#define ROOTS %d\n#define SIZE %d\n#define MOST %d\n", w.Roots, w.Size, w.Most) + prelude + scanText + holdText + growText
}

// Grown is samples that have grown: Count[i] vertices of sample i begin at Vertices[i·Most], its roots first, and Place is step·Size +
// draw of each that is no root.
type Grown struct{ Vertices, Place, Count []uint32 }

// Grow grows len(roots)/Roots samples, of which the first is named first. Without copy it leaves them out.
func (g *Graph) Grow(w *Grow, roots []uint32, first uint64, k0, k1 uint32, copy bool) (x *Grown, err error) {
	n := len(roots) / w.Roots
	var mems []device.Mem
	defer func() {
		err = errors.Join(err, g.gpu.Sync())
		for _, m := range mems {
			err = errors.Join(err, g.drop(m))
		}
	}()
	take := func(words int) (m device.Mem) {
		if err == nil {
			if m, err = g.alloc(max(4*int64(words), 8)); err == nil {
				mems = append(mems, m)
			}
		}
		return m
	}
	from, list, place, count := take(len(roots)), take(n*w.Most), take(n*w.Most), take(n)
	if err != nil {
		return nil, err
	}
	if err = g.gpu.CopyH2D(g.queue, from, 0, bytesOf(roots)); err != nil {
		return nil, err
	}
	shared := 4 * (32 + 3*w.Size + 2*w.Roots + 2*heldBy(w.Held()).slots)
	if err = g.launch([]call{{w.Source(), "saga_grow", n, 256, shared,
		[]any{g.offsets, g.far, from, list, place, count, uint64(w.Steps), first, uint64(k0) | uint64(k1)<<32}}}); err != nil || !copy {
		return nil, err
	}
	x = &Grown{make([]uint32, n*w.Most), make([]uint32, n*w.Most), make([]uint32, n)}
	for i, to := range [][]uint32{x.Vertices, x.Place, x.Count} {
		if err = g.gpu.CopyD2H(g.queue, bytesOf(to), []device.Mem{list, place, count}[i], 0); err != nil {
			return nil, err
		}
	}
	return x, nil // Sync stands above
}
