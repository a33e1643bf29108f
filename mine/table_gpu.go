package mine

import (
	"context"
	"slices"

	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/table"
)

// onGPUs reports whether GPUs count the rows by pattern: all rows of edges, without conditions, of a graph whose vertices all have labels, or none.
func (t *Table) onGPUs() bool {
	r := t.g.byID
	return t.g.gpus != nil && t.err == nil && !t.spec.Vertices && t.spec.Size > 1 && t.spec.From == nil && t.whole().Keep == nil &&
		!slices.ContainsFunc(t.spec.Where, func(e *pattern.Expr) bool { return e != nil }) &&
		!slices.ContainsFunc(r.Label, func(l int32) bool { return l < 0 }) && r.MaxDegree < cuda.WidestTable
}

// patternsOnGPUs counts the rows by their canonical pattern.
func (t *Table) patternsOnGPUs(ctx context.Context) (map[Pattern]int64, error) {
	f := &frequent{g: t.g, kinds: t.spec.Kinds, Frequency: Frequency{Edges: t.spec.Size}}
	at, err := t.g.place(f.rowsOnGPUs())
	if err != nil {
		return nil, err
	}
	list, _, err := f.countOnGPUs(ctx, at, f.rows(), t.spec.Size, table.Part{}, Total{})
	if err != nil {
		return nil, err
	}
	all := make(map[Pattern]int64, len(list))
	for _, s := range list {
		all[s.Pattern] = int64(s.Rows.Lo)
	}
	return all, nil
}
