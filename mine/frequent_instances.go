package mine

import (
	"context"

	"sagann/mine/domain"
	"sagann/mine/lattice"
	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// instances finds the patterns that are frequent by their number of instances.
func (g *Graph) instances(ctx context.Context, f Frequency, kinds *rows.Kinds) ([]FrequentPattern, error) {
	by, err := g.byLabels(ctx, kinds, 1)
	if err != nil {
		return nil, err
	}
	ordered, err := g.ordered()
	if err != nil {
		return nil, err
	}
	edges := f.Edges
	if edges == 0 {
		edges = f.Vertices * (f.Vertices - 1) / 2
	}
	counted, err := by.Census(ctx, ordered, kinds, edges, f.Vertices, Total{Lo: uint64(f.Support)}, g.opt.Threads)
	if err != nil {
		return nil, err
	}
	if f.By == Instances {
		counted = reached(counted)
	}
	all := make([]FrequentPattern, len(counted))
	for i, c := range counted {
		all[i] = FrequentPattern{Pattern: c.Pattern, Support: c.Instances}
	}
	return all, nil
}

// reached keeps the patterns that Instances finds: of more than one edge those with a connected part of
// one edge less that was found. The patterns come by ascending number of edges.
func reached(counted []domain.Counted) []domain.Counted {
	found := map[pattern.Pattern]bool{}
	kept := counted[:0]
	for _, c := range counted {
		if c.Pattern.Edges() == 1 || lattice.HasPart(c.Pattern, found) {
			found[c.Pattern] = true
			kept = append(kept, c)
		}
	}
	return kept
}
