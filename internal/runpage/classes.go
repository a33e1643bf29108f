package runpage

import (
	"cmp"
	"slices"

	"sagann/internal/metrics"
)

// maxMatrix is the most classes for which a confusion matrix is stored and drawn, as a larger one cannot be
// read on a screen. With more classes the most frequent confusions are listed.
const maxMatrix = 50

// maxConfused is how many confusions are listed.
const maxConfused = 20

// Classes are the counts of a split by class.
type Classes struct {
	Split    string     `json:"split"`     // whose counts they are, such as "test"
	Rows     string     `json:"rows"`      // what is counted, such as "vertices"
	Hits     []int64    `json:"hits"`      // rows of the class that were predicted as it
	Said     []int64    `json:"predicted"` // rows predicted as the class
	Truth    []int64    `json:"truth"`     // rows of the class
	Matrix   [][]int64  `json:"matrix,omitempty"`
	Confused []Confused `json:"confused,omitempty"`
	Names    []string   `json:"names,omitempty"` // of classes 0, 1, …; nil: their numbers
}

// Name is what class k is called.
func (c *Classes) Name(k int) string {
	if k < len(c.Names) {
		return c.Names[k]
	}
	return intText(int64(k))
}

// Confused counts the rows of one class that were predicted as another.
type Confused struct {
	Truth int   `json:"truth"`
	Said  int   `json:"predicted"`
	Count int64 `json:"count"`
}

// CountClasses counts the rows of a split, whose numbers are ids. truth and said have one
// class for each row, 0 to classes-1. A row whose truth is something else is ignored.
func CountClasses(classes int, ids []uint32, truth, said []int32) *Classes {
	c := &Classes{Hits: make([]int64, classes), Said: make([]int64, classes), Truth: make([]int64, classes)}
	pairs := map[[2]int32]int64{}
	for _, i := range ids {
		t, s := truth[i], said[i]
		if t < 0 || int(t) >= classes || s < 0 || int(s) >= classes {
			continue
		}
		c.Truth[t]++
		c.Said[s]++
		if t == s {
			c.Hits[t]++
		}
		pairs[[2]int32{t, s}]++
	}
	if classes <= maxMatrix {
		c.Matrix = make([][]int64, classes)
		for t := range c.Matrix {
			c.Matrix[t] = make([]int64, classes)
		}
		for p, n := range pairs {
			c.Matrix[p[0]][p[1]] = n
		}
		return c
	}
	for p, n := range pairs {
		if p[0] != p[1] {
			c.Confused = append(c.Confused, Confused{int(p[0]), int(p[1]), n})
		}
	}
	slices.SortFunc(c.Confused, func(a, b Confused) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Truth, b.Truth), cmp.Compare(a.Said, b.Said))
	})
	c.Confused = c.Confused[:min(len(c.Confused), maxConfused)]
	return c
}

// CountLabels counts the rows of a split if rows have several labels. truth and logits have classes numbers
// for each row: truth is 0 or 1, and a logit above 0 means that the label was predicted.
func CountLabels(classes int, ids []uint32, truth, logits []float32) *Classes {
	c := &Classes{Hits: make([]int64, classes), Said: make([]int64, classes), Truth: make([]int64, classes)}
	for _, i := range ids {
		for k := range classes {
			if truth[int(i)*classes+k] < 0 { // not known
				continue
			}
			is, said := truth[int(i)*classes+k] > 0, logits[int(i)*classes+k] > 0
			if is {
				c.Truth[k]++
			}
			if said {
				c.Said[k]++
			}
			if is && said {
				c.Hits[k]++
			}
		}
	}
	return c
}

// fit reports whether all counts have the same number of classes.
func (c *Classes) fit() bool {
	if c == nil {
		return true
	}
	n := len(c.Hits)
	return len(c.Said) == n && len(c.Truth) == n && (len(c.Matrix) == 0 || len(c.Matrix) == n)
}

// classScore are the scores of one class.
type classScore struct {
	Class                 string
	Precision, Recall, F1 float64
	Truth                 int64
}

// scores are those of every class, and their means over classes that have rows or predictions.
func (c *Classes) scores() (list []classScore, mean classScore) {
	mean.Class = "mean"
	var occur []metrics.Class
	for k := range c.Hits {
		m := metrics.Class{Hits: c.Hits[k], Said: c.Said[k], Truth: c.Truth[k]}
		list = append(list, classScore{c.Name(k), m.Precision(), m.Recall(), m.F1(), m.Truth})
		if m.Occurs() {
			occur = append(occur, m)
		}
		mean.Truth += m.Truth
	}
	of := metrics.Macro(occur)
	mean.Precision, mean.Recall, mean.F1 = of.Precision, of.Recall, of.F1
	return list, mean
}
