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
	forgetSplit(d, k)
	parts, all := d.Splits(k), 0
	for _, ids := range parts {
		all += len(ids)
	}
	for i, ids := range parts {
		if len(ids) == 0 {
			return fmt.Errorf("%s has too few labelled %s, %d, for the shares %v, %v and %v: there is none for %s", d.Name, k.Plural(), all, train, val, float32(1-train-val),
				[]string{"training", "validation", "testing"}[i])
		}
	}
	return nil
}

// forgetSplit takes what was reported of an earlier split of kind k out of the report.
func forgetSplit(d *Data, k LabelKind) {
	d.Report.Changes = slices.DeleteFunc(d.Report.Changes, func(c string) bool {
		return saysDrawn(c, k) || k == VertexLabels && d.Report.Masks > 0 && strings.Contains(c, ofSplits)
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
		d.warn("%s: labels of %s count up to %d, and only %d numbers occur; each number is a class: numpy.unique(y, return_inverse=True)[1] numbers those that occur", d.Name, k.Plural(), n-1, occur)
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

// namedFirst is the name of d before what is said of it; the parts of a graph of several types have none.
func namedFirst(d *Data) string {
	if d.Name == "" {
		return ""
	}
	return d.Name + ": "
}
