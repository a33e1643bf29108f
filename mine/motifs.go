package mine

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/run"
)

// Motif is a pattern with its count.
type Motif struct {
	Pattern Pattern // without marks, in canonical form
	Name    string  // "" for patterns without one
	Count   Total
}

// MaxMotif is the largest number of vertices of Motifs.
const MaxMotif = 6

// Motifs counts all connected patterns of k vertices, 3 to MaxMotif, in the order of
// pattern.Motifs: induced, unless EdgeInduced is given. Conditions are not allowed.
//
// Edge-induced counts are made first, and induced counts are computed from them: how often
// one pattern lies in another of more edges depends on the two patterns only.
func (g *Graph) Motifs(ctx context.Context, k int, options ...Option) ([]Motif, error) {
	q := query{}
	for _, o := range options {
		o(&q)
	}
	switch {
	case k < 3 || k > MaxMotif:
		return nil, fmt.Errorf("mine: motifs of %d vertices: the number is 3 to %d", k, MaxMotif)
	case q.cond != nil || q.limit != 0:
		return nil, fmt.Errorf("mine: motifs have neither a condition nor a limit; count their patterns one by one")
	}
	all, err := pattern.Motifs(k)
	if err != nil {
		return nil, err
	}
	counts, err := g.edgeInduced(ctx, all)
	if err != nil {
		return nil, err
	}
	if q.induced == nil || *q.induced {
		subtractLarger(all, counts)
	}
	out := make([]Motif, len(all))
	for i, p := range all {
		out[i] = Motif{Pattern: p, Name: p.Name()}
		if out[i].Count, err = run.FromBig(counts[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// edgeInduced counts all patterns. If all have formulas, the sums that they share are computed
// once.
func (g *Graph) edgeInduced(ctx context.Context, all []Pattern) ([]*big.Int, error) {
	counts := make([]*big.Int, len(all))
	if all[0].Vertices() <= 4 && g.wants(Formula) {
		done, err := g.byFormulas(ctx, all, counts)
		if done || err != nil {
			return counts, err
		}
	}
	jobs, err := g.jobs(all)
	if err != nil {
		return nil, err
	}
	for i, j := range jobs {
		total, err := g.count(ctx, j, g.reporter(float64(i)/float64(len(all)), float64(i+1)/float64(len(all))))
		if err != nil {
			return nil, err
		}
		counts[i] = total.Big()
	}
	return counts, nil
}

// jobs chooses how each pattern is counted. If the memory is too small for any of them, the error
// names the memory that is enough for all.
func (g *Graph) jobs(all []Pattern) ([]*job, error) {
	out := make([]*job, len(all))
	var most *BudgetError
	for i, p := range all {
		j, err := g.job(p, nil)
		var small *BudgetError
		switch {
		case errors.As(err, &small):
			if most == nil || most.Smallest < small.Smallest {
				most = small
			}
		case err != nil:
			return nil, err
		}
		out[i] = j
	}
	if most != nil {
		return nil, most
	}
	return out, nil
}

// byFormulas computes the counts of patterns that all have a formula. done is false if it did not:
// the memory is too small, but other engines may be used.
func (g *Graph) byFormulas(ctx context.Context, all []Pattern, counts []*big.Int) (done bool, err error) {
	formulas := make([]pattern.Formula, len(all))
	var union pattern.Formula
	for i, p := range all {
		formulas[i], _ = p.Formula()
		union = append(union, formulas[i]...)
	}
	r, err := g.ordered()
	if err != nil {
		return false, err
	}
	p, ok, err := g.formulaPlace(cuda.PartOf(union), r, union, "counting motifs by formulas")
	var small *BudgetError
	if err == nil && !ok || g.opt.Engine == Auto && errors.As(err, &small) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	sums, err := g.sums(ctx, r, union, p, g.reporter(0, 1))
	if err != nil {
		return false, err
	}
	for i, f := range formulas {
		total, err := evaluate(f, sums)
		if err != nil {
			return false, err
		}
		counts[i] = total.Big()
	}
	return true, nil
}

// subtractLarger turns edge-induced counts into induced ones. It goes from the pattern with the most
// edges down, and subtracts from each count the copies that lie in induced subgraphs of more edges.
func subtractLarger(all []Pattern, counts []*big.Int) {
	for i := len(all) - 1; i >= 0; i-- {
		for j := i + 1; j < len(all); j++ {
			if copies := all[i].Spanning(all[j]); copies > 0 {
				counts[i].Sub(counts[i], new(big.Int).Mul(big.NewInt(int64(copies)), counts[j]))
			}
		}
	}
}
