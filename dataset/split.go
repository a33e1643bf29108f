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

// RandomSplitOf is RandomSplit over the labelled vertices, edges or graphs. Edges between the same two vertices, in either direction, are in one part.
func RandomSplitOf(d *Data, k LabelKind, train, val float64, seed uint64) error {
	if !(train > 0 && val > 0 && train+val < 1) {
		return fmt.Errorf("shares %v and %v: each must be above 0, together below 1", train, val)
	}
	if !d.Labelled(k) {
		what := "labels"
		if k != VertexLabels {
			what = string(k) + " labels"
		}
		return fmt.Errorf("%sno %s to split", namedFirst(d), what)
	}
	beside := d.split(k, train, val, rand.New(rand.NewPCG(seed, splitStream)))
	forgetSplit(d, k)
	parts, all := d.Splits(k), 0
	for _, ids := range parts {
		all += len(ids)
	}
	for i, ids := range parts {
		if len(ids) == 0 {
			return fmt.Errorf("%stoo few labelled %s, %d, for the shares %v, %v and %v: there is none for %s", namedFirst(d), k.Plural(), all, train, val, float32(1-train-val),
				[]string{"training", "validation", "testing"}[i])
		}
	}
	if beside > 0 {
		d.change(ofTwins+"{is|are} in one part of the split with it", beside)
	}
	return nil
}

// ofTwins begins the text that tells of edges which are not divided.
const ofTwins = "%d {edge|edges} between two vertices that another edge joins, in the same direction or the other, "

// forgetSplit takes what was reported of an earlier split of kind k out of the report.
func forgetSplit(d *Data, k LabelKind) {
	d.Report.Changes = slices.DeleteFunc(d.Report.Changes, func(c string) bool {
		return saysDrawn(c, k) || k == EdgeLabels && strings.HasSuffix(c, "in one part of the split with it") || k == VertexLabels && d.Report.Masks > 0 && strings.Contains(c, ofSplits)
	})
	if k == VertexLabels {
		d.Report.Mask, d.Report.Masks = 0, 0
	}
}

// settleSplits drops from the splits what cannot stand in them, and reports it: repeats; members of an earlier
// split, which training must not share with the others; and members without a label, which nothing can be compared
// with. A split that has no member left is nil. Every reader ends with it.
func (d *Data) settleSplits(k LabelKind) {
	labels, _ := d.labelsOf(k)
	splits := d.splits(k)
	n := 0
	for _, s := range splits {
		for _, v := range s.ids {
			n = max(n, int(v)+1)
		}
	}
	if labels != nil && n > len(labels) {
		return // an id that is too large is an error
	}
	owner := make([]uint8, n) // by number: the split it is in, from 1
	for i, s := range splits {
		var shared [3]int // with which split
		unlabelled, kept := 0, make([]uint32, 0, len(s.ids))
		for _, v := range s.ids {
			switch {
			case owner[v] != 0:
				shared[owner[v]-1]++
			case labels != nil && labels[v] < 0:
				unlabelled++
			default:
				owner[v] = uint8(i + 1)
				kept = append(kept, v)
			}
		}
		for j, n := range shared[:i+1] {
			switch {
			case n > 0 && i == j:
				d.change("%d repeated "+several(k)+" of the "+s.name+" split {was|were} dropped", n)
			case n > 0:
				d.change("%d "+several(k)+" {is|are} in the "+splits[j].name+" and in the "+s.name+" split: {it stays|they stay} in the "+splits[j].name+" split alone", n)
			}
		}
		if unlabelled > 0 {
			d.change("%d "+several(k)+" of the "+s.name+" split {has|have} no label: {it is|they are} left out of it, and of its scores", unlabelled)
		}
		if len(kept) < len(s.ids) || len(kept) == 0 {
			*d.parts(k)[i] = kept
			if len(kept) == 0 {
				*d.parts(k)[i] = nil
			}
		}
	}
}

// several is the words for one and for more of what has labels, for package words.
func several(k LabelKind) string { return "{" + string(k) + "|" + k.Plural() + "}" }

// settle is what every reader ends with: it settles the splits, and warns of labels that may be meant otherwise.
func (d *Data) settle() {
	for _, k := range []LabelKind{VertexLabels, EdgeLabels, GraphLabels} {
		d.settleSplits(k)
		d.warnClasses(k)
		if n := d.Sets(k); n.Cols > 0 && n.oneHot() {
			d.warn("%seach row of labels has a single 1 among %d columns, and is read as several labels of one %s (sigmoids, micro-F1); for one class each save the column of the 1, such as labels.argmax(1)", namedFirst(d), n.Cols, k)
		}
	}
}

// warnClasses warns of numbers of classes of which most do not occur, such as ids, and of classes that count from 1: each number takes a
// column of the last layer.
func (d *Data) warnClasses(k LabelKind) {
	labels := d.classesOf(k)
	n := k.ClassesOf(d)
	if labels == nil || d.Schema.Of(k).Classes != nil {
		return
	}
	if least := leastClass(labels); least == 1 && n > 2 {
		d.warn("%slabels of %s count from 1: class 0 has no member, and takes a column of the last layer; numbers less 1 do not", namedFirst(d), k.Plural())
	}
	if n <= 100 {
		return
	}
	has, occur := make([]bool, n), 0
	for _, c := range labels {
		if c >= 0 && int(c) < n && !has[c] {
			has[c] = true
			occur++
		}
	}
	if 2*occur < n {
		d.warn("%slabels of %s count up to %d, and only %d numbers occur; each number is a class: numpy.unique(y, return_inverse=True)[1] numbers those that occur", namedFirst(d), k.Plural(), n-1, occur)
	}
}

// leastClass is the smallest label that is a class, -1 without any.
func leastClass(labels []int32) int32 {
	least := int32(-1)
	for _, c := range labels {
		if c >= 0 && (least < 0 || c < least) {
			least = c
		}
	}
	return least
}

// oneHot reports whether each row of sets has a single 1, and the others are 0.
func (n Numbers) oneHot() bool {
	for row := range slices.Chunk(n.Rows, n.Cols) {
		sum := float32(0)
		for _, y := range row {
			if y < 0 {
				return false
			}
			sum += y
		}
		if sum != 1 {
			return false
		}
	}
	return true
}

// noSplit is the beginning of the text that DefaultSplit reports.
const noSplit = "there was no split"

// ofLabelled is the part of that text that says of what the split is.
func ofLabelled(k LabelKind) string { return " labelled " + k.Plural() + " " }

// saysDrawn reports whether a change is that DefaultSplit drew the split of kind k.
func saysDrawn(change string, k LabelKind) bool {
	return strings.Contains(change, noSplit) && strings.Contains(change, ofLabelled(k))
}

// Drawn reports whether the split of kind k was drawn at random by DefaultSplit, as there was none.
func (r *Report) Drawn(k LabelKind) bool {
	return slices.ContainsFunc(r.Changes, func(c string) bool { return saysDrawn(c, k) })
}

// split divides what has a label of kind k at random, and says how many edges had to stay with another one (see together).
func (d *Data) split(k LabelKind, train, val float64, r *rand.Rand) (beside int) {
	labels, n := d.labelsOf(k)
	ids := make([]uint32, 0, n)
	for v := range n {
		if labels == nil || labels[v] >= 0 {
			ids = append(ids, uint32(v))
		}
	}
	of, groups := together(d, k, ids)
	order, size := make([]uint32, groups), make([]uint32, groups)
	for g := range order {
		order[g] = uint32(g)
	}
	for _, g := range of {
		size[g]++
	}
	r.Shuffle(groups, func(i, j int) { order[i], order[j] = order[j], order[i] })
	a := int(train * float64(len(ids)))
	b := a + int(val*float64(len(ids)))
	part, taken := make([]uint8, groups), 0
	for _, g := range order {
		switch {
		case taken < a:
		case taken < b:
			part[g] = 1
		default:
			part[g] = 2
		}
		taken += int(size[g])
	}
	to := d.parts(k)
	for i := range to {
		*to[i] = nil
	}
	for i, v := range ids {
		p := to[part[of[i]]]
		*p = append(*p, v)
	}
	return len(ids) - groups
}

// together numbers the groups of ids that go into one part of a split, in the order of their first members: edges between the same two vertices, in
// either direction. A part that is scored would else have edges whose twins, often with the same label, were trained on. Of vertices and graphs
// each is a group.
func together(d *Data, k LabelKind, ids []uint32) (of []uint32, groups int) {
	of = make([]uint32, len(ids))
	if k != EdgeLabels {
		for i := range ids {
			of[i] = uint32(i)
		}
		return of, len(ids)
	}
	low, high, ends := make([]uint32, len(ids)), make([]uint32, len(ids)), EdgePairs(d, false)
	for i, e := range ids {
		u, v := ends.Src[e], ends.Dst[e]
		low[i], high[i] = min(u, v), max(u, v)
	}
	pairs := indexEdges(PairV(d), low, high)
	number := make([]uint32, len(pairs.to)) // of a pair, from 1
	for i := range ids {
		g := &number[pairs.find(low[i], high[i])]
		if *g == 0 {
			groups++
			*g = uint32(groups)
		}
		of[i] = *g - 1
	}
	return of, groups
}

// EdgesApart is how many edges of the validation and the test split join two vertices that an edge of an earlier part joins, too, in
// either direction: what is learned of that one helps to predict them.
func EdgesApart(d *Data) (n int) {
	parts := d.Splits(EdgeLabels)
	ids := slices.Concat(parts[:]...)
	of, groups := together(d, EdgeLabels, ids)
	first := make([]uint8, groups) // the part of the first member, from 1
	for i, g := range of {
		part := uint8(1)
		if i >= len(parts[0]) {
			part++
		}
		if i >= len(parts[0])+len(parts[1]) {
			part++
		}
		switch first[g] {
		case 0:
			first[g] = part
		case part:
		default:
			n++
		}
	}
	return n
}

// namedFirst is the name of d before what is said of it; the parts of a graph of several types have none.
func namedFirst(d *Data) string {
	if d.Name == "" {
		return ""
	}
	return d.Name + ": "
}
