package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// RandomSplit replaces the splits of d by random ones over its labelled
// vertices: the shares train and val (each above 0, together below 1), the rest
// for testing. Equal seeds give equal splits.
func RandomSplit(d *Data, train, val float64, seed uint64) error {
	if !(train > 0 && val > 0 && train+val < 1) {
		return fmt.Errorf("shares %v and %v: each must be above 0, together below 1", train, val)
	}
	if d.Labels == nil && d.MultiLabels == nil {
		return fmt.Errorf("%s has no labels to split", d.Name)
	}
	d.split(train, val, rand.New(rand.NewPCG(seed, splitStream)))
	if len(d.Train) == 0 || len(d.Val) == 0 || len(d.Test) == 0 {
		return fmt.Errorf("%s has too few labelled vertices for shares %v, %v and the rest", d.Name, train, val)
	}
	return nil
}

func (d *Data) split(train, val float64, r *rand.Rand) {
	ids := make([]uint32, 0, d.Edges.V)
	for v := range d.Edges.V {
		if d.Labels == nil || d.Labels[v] >= 0 {
			ids = append(ids, uint32(v))
		}
	}
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	a := int(train * float64(len(ids)))
	b := a + int(val*float64(len(ids)))
	part := func(ids []uint32) []uint32 {
		if len(ids) == 0 {
			return nil
		}
		ids = slices.Clone(ids)
		slices.Sort(ids)
		return ids
	}
	d.Train, d.Val, d.Test = part(ids[:a]), part(ids[a:b]), part(ids[b:])
}
