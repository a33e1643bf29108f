package batches

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"sagann/sample"
)

// kind says how an epoch makes batches of its items. A new kind has a file of its own, a field of Setting that asks for it
// and a case of kindOf.
type kind interface {
	text(batch int) string               // of batches of so many, in digests
	check(s *Setting, j *Job) error      // an error if s does not fit j
	begin(d *Draws)                      // called once, when the items of d are known
	count() (all, full int)              // batches of an epoch, and how many of them are full
	order(epoch int) (epochItems, error) // of an epoch; it depends on seed and epoch alone
	exact() bool                         // the seeds of a full batch of vertices are its Setting.Batch items
	there() bool                         // a GPU can draw such batches
}

// epochItems are the items of the batches of an epoch.
type epochItems interface {
	items(batch int) (items []uint32, counts []float32) // and how often each counts in the loss; nil: once
	weight(batch int) float64                           // of these items in the loss
	behind(batch int) []uint32                          // vertices that are seeds behind the items, without a loss
}

// kindOf is the kind of the batches of s.
func (s *Setting) kindOf() kind {
	switch {
	case s.Clusters != nil:
		return &clustered{of: s.Clusters}
	case s.Norms != nil:
		return &normed{of: s.Norms}
	}
	return &shuffled{}
}

// shuffled takes every item once per epoch, in an order drawn for it.
type shuffled struct{ d *Draws }

func (k *shuffled) text(batch int) string { return fmt.Sprintf(", batches of %d", batch) }

func (k *shuffled) check(*Setting, *Job) error { return nil }

func (k *shuffled) begin(d *Draws) { k.d = d }

func (k *shuffled) count() (all, full int) {
	n, batch := len(k.d.items), k.d.Batch
	return (n + batch - 1) / batch, n / batch
}

func (k *shuffled) exact() bool { return true }

func (k *shuffled) there() bool { return true }

func (k *shuffled) order(epoch int) (epochItems, error) {
	h := fnv.New64a()
	fmt.Fprintf(h, "batches of epoch %d", epoch)
	r := rand.New(rand.NewPCG(k.d.Seed, h.Sum64()))
	out := make([]uint32, len(k.d.items))
	copy(out, k.d.items)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return &shuffledItems{k.d, out}, nil
}

// shuffledItems are the items of an epoch; batch i has Setting.Batch of them from i*Setting.Batch on.
type shuffledItems struct {
	d    *Draws
	list []uint32
}

func (o *shuffledItems) items(batch int) ([]uint32, []float32) {
	n := o.d.Batch
	return o.list[batch*n : min(len(o.list), (batch+1)*n)], nil
}

func (o *shuffledItems) weight(batch int) float64 {
	items, _ := o.items(batch)
	return o.d.Weight(items)
}

func (o *shuffledItems) behind(int) []uint32 { return nil }

// key is the key of draws for all batches of an epoch.
func (d *Draws) key(epoch int) sample.Key { return sample.Key{Seed: d.Seed, Epoch: uint32(epoch)} }
