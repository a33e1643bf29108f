package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// RandomSplit replaces the splits of d by a random split of its labelled
// vertices. train and val are shares, each above 0 and together below 1; the rest
// is for testing. Equal seeds give equal splits.
func RandomSplit(d *Data, train, val float64, seed uint64) error {
	return RandomSplitOf(d, VertexLabels, train, val, seed)
}

// RandomSplitOf is RandomSplit over the labelled vertices, edges or graphs.
func RandomSplitOf(d *Data, k LabelKind, train, val float64, seed uint64) error {
	if !(train > 0 && val > 0 && train+val < 1) {
		return fmt.Errorf("shares %v and %v: each must be above 0, together below 1", train, val)
	}
	if !d.Labelled(k) {
		what := "labels"
		if k != VertexLabels {
			what = string(k) + " labels"
		}
		return fmt.Errorf("%s has no %s to split", d.Name, what)
	}
	d.split(k, train, val, rand.New(rand.NewPCG(seed, splitStream)))
	d.Report.Changes = slices.DeleteFunc(d.Report.Changes, func(c string) bool {
		return strings.Contains(c, noSplit) || k == VertexLabels && d.Report.Masks > 0 && strings.Contains(c, ofSplits)
	})
	if k == VertexLabels {
		d.Report.Mask, d.Report.Masks = 0, 0
	}
	for _, ids := range d.Splits(k) {
		if len(ids) == 0 {
			return fmt.Errorf("%s has too few labelled %s for shares %v, %v and the rest", d.Name, plural[k], train, val)
		}
	}
	return nil
}

// noSplit is the beginning of the text that DefaultSplit reports.
const noSplit = "there was no split"

var plural = map[LabelKind]string{VertexLabels: "vertices", EdgeLabels: "edges", GraphLabels: "graphs"}

func (d *Data) split(k LabelKind, train, val float64, r *rand.Rand) {
	labels, n := d.labelsOf(k)
	ids := make([]uint32, 0, n)
	for v := range n {
		if labels == nil || labels[v] >= 0 {
			ids = append(ids, uint32(v))
		}
	}
	r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	a := int(train * float64(len(ids)))
	b := a + int(val*float64(len(ids)))
	// Marking the members and collecting them in order sorts in linear time.
	where := make([]uint8, n)
	for i, part := range [][]uint32{ids[:a], ids[a:b], ids[b:]} {
		for _, v := range part {
			where[v] = uint8(i + 1)
		}
	}
	to := d.parts(k)
	for i, size := range []int{a, b - a, len(ids) - b} {
		*to[i] = nil
		if size > 0 {
			*to[i] = make([]uint32, 0, size)
		}
	}
	for v, i := range where {
		if i > 0 {
			*to[i-1] = append(*to[i-1], uint32(v))
		}
	}
}
