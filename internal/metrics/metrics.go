// Package metrics scores predictions of classes in float64: counts, precision, recall and
// F1 of every class with their averages, confusion matrices, losses and areas under ROC curves.
//
// The files: metrics.go (what is counted), rank.go, links.go (areas, losses, probabilities, ranks), spread.go (numbers and their spread).
package metrics

// Class counts the predictions of one class. Its ratios are 0 if the divisor is 0.
type Class struct {
	Hits  int64 // rows of the class that were predicted as it
	Said  int64 // rows that were predicted as the class
	Truth int64 // rows of the class
}

// Precision is the share of the predictions that are right.
func (c Class) Precision() float64 { return ratio(c.Hits, c.Said) }

// Recall is the share of the class's rows that were found.
func (c Class) Recall() float64 { return ratio(c.Hits, c.Truth) }

// F1 is the harmonic mean of precision and recall.
func (c Class) F1() float64 { return ratio(2*c.Hits, c.Said+c.Truth) }

// Occurs reports whether the class has rows or predictions.
func (c Class) Occurs() bool { return c.Said+c.Truth > 0 }

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Average is a mean over classes.
type Average struct{ Precision, Recall, F1 float64 }

// Macro is the plain mean over the classes of list; zeros for none.
func Macro(list []Class) Average { return weighted(list, func(Class) float64 { return 1 }) }

// Weighted is the mean over the classes of list, each counting as often as it has rows.
func Weighted(list []Class) Average {
	return weighted(list, func(c Class) float64 { return float64(c.Truth) })
}

func weighted(list []Class, weight func(Class) float64) (a Average) {
	sum := 0.0
	for _, c := range list {
		w := weight(c)
		a.Precision, a.Recall, a.F1, sum = a.Precision+w*c.Precision(), a.Recall+w*c.Recall(), a.F1+w*c.F1(), sum+w
	}
	if sum == 0 {
		return Average{}
	}
	return Average{a.Precision / sum, a.Recall / sum, a.F1 / sum}
}

// Micro is the score of all predictions of all classes together.
func Micro(list []Class) Average {
	var all Class
	for _, c := range list {
		all.Hits, all.Said, all.Truth = all.Hits+c.Hits, all.Said+c.Said, all.Truth+c.Truth
	}
	return Average{all.Precision(), all.Recall(), all.F1()}
}

// Confusion counts rows by class and prediction.
type Confusion [][]int64

// Confuse counts rows of one class each: entry [i][j] is the number of rows of class i that
// were predicted as j. truth and said are as long as each other, with classes below classes.
func Confuse(truth, said []int32, classes int) Confusion {
	c := make(Confusion, classes)
	for i := range c {
		c[i] = make([]int64, classes)
	}
	for i := range truth {
		c[truth[i]][said[i]]++
	}
	return c
}

// Classes are the counts of every class.
func (c Confusion) Classes() []Class {
	list := make([]Class, len(c))
	for i, row := range c {
		for j, n := range row {
			list[i].Truth += n
			list[j].Said += n
		}
		list[i].Hits = row[i]
	}
	return list
}

// Accuracy is the share of rows that were predicted right; 0 without rows.
func (c Confusion) Accuracy() float64 {
	var hits, all int64
	for i, row := range c {
		hits += row[i]
		for _, n := range row {
			all += n
		}
	}
	return ratio(hits, all)
}

// CountSets counts rows that have any number of classes: truth and said are rows of
// classes flags, 0 or 1 and whether the class was predicted. A flag below 0 is not known and is left out.
func CountSets(truth []float32, said []bool, classes int) []Class {
	list := make([]Class, classes)
	for i, t := range truth {
		c := &list[i%classes]
		if t < 0 {
			continue
		}
		if t > 0 {
			c.Truth++
		}
		if said[i] {
			c.Said++
			if t > 0 {
				c.Hits++
			}
		}
	}
	return list
}
