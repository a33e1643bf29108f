package batches

import "sagann/sample"

// Items chosen by norms. An epoch makes n draws, with replacement, from the n items, a batch at a time. Items with
// larger norms are drawn more often and count less each time.

// chosenItems are the items of a batch chosen by norms. counts is the weight of each in the loss: the number of times it
// was chosen, over n times its probability, where n is the number of all items.
type chosenItems struct {
	items  []uint32
	counts []float32
}

// norms are the norms of all items, scaled by normsOf, and the weight of all items in the loss.
type norms struct {
	list   []float32
	weight float64
}

// normsOf returns 1 + norm/mean for each item, where mean is the mean norm of the items; 1 for all if the mean is 0.
func normsOf(norms []float32, items []uint32) []float32 {
	list, sum := make([]float32, len(items)), 0.0
	for i, v := range items {
		list[i] = norms[v]
		sum += float64(norms[v])
	}
	mean := sum / float64(max(1, len(items)))
	for i := range list {
		if mean == 0 {
			mean = 1
		}
		list[i] = float32(float64(list[i])/mean) + 1
	}
	return list
}

// choose draws the items of all batches of an epoch by their norms.
func (n *norms) choose(d *Draws, epoch int) ([]chosenItems, error) {
	list := make([]chosenItems, d.Count())
	for i := range list {
		k := n.draws(d, i)
		places, weights, err := sample.ByNorm(n.list, k, sample.Key{Seed: d.Seed, Epoch: uint32(epoch), Batch: uint32(i)})
		if err != nil {
			return nil, err
		}
		for j, at := range places {
			places[j] = d.items[at]
			weights[j] *= float32(k)
		}
		list[i] = chosenItems{places, weights}
	}
	return list, nil
}

// draws is how many items batch i of an epoch draws.
func (n *norms) draws(d *Draws, i int) int { return min(d.Batch, len(n.list)-i*d.Batch) }
