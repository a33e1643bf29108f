package batches

import "sagann/dataset"

// Items are what an epoch goes over in batches: training vertices, edges with labels, links to predict, or graphs. They
// are numbered as in the data; training links are numbered from 0.
//
// The seeds of a batch are the vertices from which its blocks are drawn. They are its vertices; or the ends of its edges;
// or the ends of its links and of as many pairs that no edge joins; or all vertices of its graphs.

// trainItems lists the numbers of the items of the training split.
func (j *Job) trainItems() []uint32 {
	d := j.In.Data
	if j.Task != dataset.LinkLabels {
		return d.Splits(j.Task)[0]
	}
	list := make([]uint32, d.Targets.Links.Train.Len())
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

// weightOf is the weight of item x in the mean loss.
func (j *Job) weightOf(x uint32) float64 {
	w, d := j.In.Meaning.ClassWeights, j.In.Data
	switch {
	case j.Task == dataset.LinkLabels:
		return 2 // the link, and the pair without an edge that is drawn with it
	case w == nil:
		return 1
	case j.Task == dataset.EdgeLabels:
		return float64(w[d.EdgeLabels[x]])
	case j.Task == dataset.GraphLabels:
		return float64(w[d.GraphLabels[x]])
	}
	return float64(w[d.Labels[x]])
}

// Weight is the weight of a list of items in the mean loss: the sum of theirs or, if some of several labels are not known,
// how many rows the known ones would fill.
func (j *Job) Weight(items []uint32) (sum float64) {
	if j.In.Meaning.Partial {
		return j.In.Known(items)
	}
	for _, x := range items {
		sum += j.weightOf(x)
	}
	return sum
}

// paired tells whether items are pairs of vertices.
func (j *Job) paired() bool { return j.Task == dataset.EdgeLabels || j.Task == dataset.LinkLabels }

// membersOf lists the vertices of each graph.
func membersOf(d *dataset.Data, graphs int) [][]uint32 {
	list := make([][]uint32, graphs)
	for v, g := range d.GraphOf {
		list[g] = append(list[g], uint32(v))
	}
	return list
}
