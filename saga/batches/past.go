package batches

import (
	"slices"

	"sagann/sample"
)

// Times of edges. With Setting.Past a seed, and all that is reached from it, draws edges up to the seed's time only. A vertex that seeds of
// several times reach is in a level once for each of these times. Seeds of pairs see the edges before the pair's time, and so not the pair.
// Of several relations, the edges of those without times are always there.

// findPast sets how x draws edges by time, if they are drawn so and have times.
func (x *edges) findPast(past string) (err error) {
	if past != "" && x.graph.Time != nil {
		x.past, err = sample.NewPast(x.program, past == Latest)
	}
	return err
}

// untilOf sets b.until, the times of the seeds of b, and makes these vertices where they are numbers of Job.Moments. Seeds of pairs have
// theirs (enterSeeds).
func (d *Draws) untilOf(b *blocks) {
	if m := d.Moments; m != nil {
		b.until = b.until[:0]
		for i, k := range b.seeds {
			b.seeds[i], b.until = m.Vertex[k], append(b.until, m.Time[k])
		}
		return
	}
	b.until = slices.Grow(b.until[:0], len(b.seeds))
	for _, v := range b.seeds {
		b.until = append(b.until, d.In.Data.Vertices.Time[v])
	}
}

// drawUpper draws the blocks above the seeds of b.
func (d *Draws) drawUpper(b *blocks, key sample.Key) error {
	x := &d.each[0]
	if x.past == nil {
		return x.program.BlocksFrom(&b.upper, b.seeds, key, d.far.into(b, key))
	}
	if !d.paired() {
		d.untilOf(b)
	}
	return x.past.Blocks(&b.upper, b.seeds, b.until, key)
}
