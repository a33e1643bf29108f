package sampled

import (
	"fmt"
	"math/bits"

	"sagann/dataset"
	"sagann/sample"
)

// match prints the share of a batch's rows that the previous batch has, too. It also prints what this share would be if
// batches were reordered inside a window, so that the next batch is the one with the most rows in common.
func (e *epochs) match() error {
	d, size, window, items := (*dataset.Data)(nil), e.With.Batch, e.Match, []uint32(nil)
	if e.of.named {
		d = e.graph()
		items = d.Train
	} else if s, err := dataset.ParseSpec(e.Data); err != nil {
		return err
	} else if d, err = dataset.Synthetic(s); err != nil {
		return err
	}
	d, how, _, err := e.sampling(d)
	if err != nil {
		return err
	}
	p, err := sample.Compile(how.Rows, how.Sampler)
	if err != nil {
		return err
	}
	order := sample.Permutation(d.Edges.V, sample.Key{Seed: 1})
	if items != nil {
		order = sample.Permutation(len(items), sample.Key{Seed: 1})
		for i, k := range order {
			order[i] = items[k]
		}
	}
	n := min(e.Batches, len(order)/size)
	sets, rows, inOrder, ofTwo := make([][]uint64, n), 0, 0, 0
	common := func(a, b int) (n int) {
		for i, x := range sets[a] {
			n += bits.OnesCount64(x & sets[b][i])
		}
		return n
	}
	var b sample.Blocks
	for k := range n {
		if err := p.Blocks(&b, order[k*size:(k+1)*size], sample.Key{Seed: 1, Batch: uint32(k)}); err != nil {
			return err
		}
		sets[k] = make([]uint64, (d.Edges.V+63)/64)
		for _, v := range b.Vertices {
			sets[k][v/64] |= 1 << (v % 64)
		}
		if rows += len(b.Vertices); k > 0 {
			inOrder += common(k-1, k)
		}
		for i, x := range sets[k] {
			if k > 1 {
				ofTwo += bits.OnesCount64(x & (sets[k-1][i] | sets[k-2][i]))
			}
		}
	}
	best, last := 0, -1
	for lo := 0; lo < n; lo += window {
		used := make([]bool, min(window, n-lo))
		for range used {
			next, most := -1, -1
			for i := range used {
				if shared := 0; !used[i] {
					if last >= 0 {
						shared = common(last, lo+i)
					}
					if shared > most {
						next, most = i, shared
					}
				}
			}
			used[next], last, best = true, lo+next, best+most
		}
	}
	after := float64(rows) * float64(n-1) / float64(n) // without the first batch, which has no previous one
	fmt.Printf("%d batches of %d rows, of %d: the batch before has %.1f %% of them, one of the two before %.1f %%, in the best order of every %d batches the one before %.1f %%\n",
		n, rows/n, d.Edges.V, 100*float64(inOrder)/after, 100*float64(ofTwo)/float64(rows)*float64(n)/float64(max(1, n-2)), window, 100*float64(best)/after)
	return nil
}
