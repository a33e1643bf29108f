package batches

import (
	"slices"

	"sagann/sample"
)

// Times of edges. With Setting.Past a seed, and all that is reached from it, draws edges up to the seed's time only. A vertex that seeds of
// several times reach is in a level once for each of these times. Seeds of pairs see the edges before the pair's time, and so not the pair.

// findPast sets d.past, if edges are drawn by time.
func (d *Draws) findPast() (err error) {
	if d.Past != "" {
		d.past, err = sample.NewPast(d.each[0].program, d.Past == Latest)
	}
	return err
}

// drawUpper draws the blocks above the seeds of b.
func (d *Draws) drawUpper(b *blocks, key sample.Key) error {
	if d.past == nil {
		return d.each[0].program.BlocksFrom(&b.upper, b.seeds, key, d.far.into(b, key))
	}
	switch m := d.Moments; {
	case d.paired(): // enterSeeds has set them
	case m != nil:
		b.until = b.until[:0]
		for i, k := range b.seeds {
			b.seeds[i], b.until = m.Vertex[k], append(b.until, m.Time[k])
		}
	default:
		b.until = slices.Grow(b.until[:0], len(b.seeds))
		for _, v := range b.seeds {
			b.until = append(b.until, d.In.Data.Vertices.Time[v])
		}
	}
	return d.past.Blocks(&b.upper, b.seeds, b.until, key)
}
