package mine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"sagann/mine/agg"
	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
	"sagann/mine/table"
)

// Table is the connected sets of edges, or of vertices, of a size, each once. Making a Table does nothing: its rows are
// made when they are read or aggregated; Store keeps them. A Table does not change; Extend and Filter
// return others.
//
// A row is the set in its least connected order: the sequence that comes first of those in which each
// edge touches (each vertex is adjacent to) one before it. Rows ascend. Edges ascend by lower end, then by
// higher end. All vertices take part, also those without a label.
//
// In conditions and keys m.Vertex(i) and the others name vertices of the row. A row of vertices has them in order. A
// row of edges has the lower end of edge i at 2·i and the higher end at 2·i+1.
type Table struct {
	g    *Graph
	spec table.Spec
	keep []func(*table.Row) bool // by size; nil: all
	// filters are what keep asks, of patterns in any form.
	filters cuda.Filters
	err     error
}

// Table is the table of all edges or, with vertices, of all vertices.
func (g *Graph) Table(vertices bool) *Table {
	return &Table{g: g, spec: table.Spec{Rows: g.byID, Vertices: vertices, Size: 1}, keep: make([]func(*table.Row) bool, 2), filters: make(cuda.Filters, 2)}
}

// Extend is the table of rows with one edge (vertex) more, of those for which the condition holds; nil: of all.
func (t *Table) Extend(condition func(m Match) Bool) *Table {
	next := *t
	next.spec.Size++
	next.keep, next.filters = append(slices.Clip(t.keep), nil), append(slices.Clip(t.filters), nil)
	if next.spec.Size > next.limit() && next.err == nil {
		next.err = &QuestionError{fmt.Sprintf("a table of %d edges or vertices a row: the most are %d", next.spec.Size, next.limit())}
	}
	if condition == nil || next.err != nil {
		return &next
	}
	e, err := trace("condition", condition, next.places())
	if err == nil {
		err = next.read(e)
	}
	next.err = err
	next.spec.Where = append(make([]*pattern.Expr, 0, next.spec.Size+1), t.spec.Where...)
	for len(next.spec.Where) <= next.spec.Size {
		next.spec.Where = append(next.spec.Where, nil)
	}
	next.spec.Where[next.spec.Size] = e
	return &next
}

// Filter keeps the rows whose pattern, in canonical form, is wanted: edge-induced for rows of edges, induced for
// rows of vertices. wanted is called from several goroutines.
func (t *Table) Filter(wanted func(Pattern) bool) *Table {
	next := *t
	next.keep, next.filters = slices.Clone(t.keep), slices.Clone(t.filters)
	before, first := t.keep[t.spec.Size], t.filters[t.spec.Size]
	if t.g.EdgeLabels() && next.err == nil {
		next.spec.Kinds, next.err = t.g.edgeKinds()
	}
	if wanted == nil && next.err == nil {
		next.err = errors.New("mine: there is no function to filter by")
	}
	var known sync.Map
	next.keep[t.spec.Size] = func(r *table.Row) bool {
		return (before == nil || before(r)) && wanted(canonicalOf(r.Pattern(), &known))
	}
	next.filters[t.spec.Size] = func(p Pattern) bool { return (first == nil || first(p)) && wanted(canonicalOf(p, &known)) }
	return &next
}

// canonicalOf is the canonical form of the pattern of a row. Patterns that were seen before are known.
func canonicalOf(p Pattern, known *sync.Map) Pattern {
	if c, ok := known.Load(p); ok {
		return c.(Pattern)
	}
	c := p.Canonical()
	known.Store(p, c)
	return c
}

// Aggregate counts the rows by a key.
func (t *Table) Aggregate(ctx context.Context, key func(m Match) Int) (map[int64]int64, error) {
	all := map[int64]int64{}
	for c, err := range t.Counts(ctx, key) {
		if err != nil {
			return nil, err
		}
		all[c.Key] = c.Rows
	}
	return all, nil
}

// KeyCount is how many rows have a key.
type KeyCount struct{ Key, Rows int64 }

// Counts yields the keys of the rows, ascending, with how many rows have each. Counters take what Options.Mem leaves beside
// the graph; what does not fit goes to files in Options.Scratch, so there may be more keys than memory. An error is
// yielded last.
func (t *Table) Counts(ctx context.Context, key func(m Match) Int) iter.Seq2[KeyCount, error] {
	return func(yield func(KeyCount, error) bool) {
		var e *pattern.Expr
		at := *t
		if at.err == nil && key == nil {
			at.err = errors.New("mine: there is no key to count rows by")
		}
		if at.err == nil {
			_, at.err = trace("key", func(m Match) Bool { e = key(m).e; return Int{e}.Eq(Int{e}) }, t.places())
		}
		if at.err == nil {
			at.err = at.read(e)
		}
		c := &counting{scratch: t.g.opt.Scratch, each: defaultCounter}
		workers := t.g.opt.Threads
		onGPUs := at.err == nil && t.g.gpus != nil && at.growable(false) == nil
		if at.err == nil && !onGPUs {
			workers, at.err = c.divide(&at)
		}
		switch {
		case at.err != nil:
		case onGPUs:
			at.err = c.countOnGPUs(ctx, &at, e)
		default:
			at.err = c.count(ctx, &at, workers, e)
		}
		if at.err != nil {
			yield(KeyCount{}, errors.Join(at.err, c.close()))
			return
		}
		last := true // no error so far, and the loop goes on
		for x, err := range agg.Entries(ctx, c.list...) {
			if last = yield(KeyCount{int64(x.Key ^ 1<<63), int64(x.Count)}, failed(err)) && err == nil; !last {
				break
			}
		}
		if err := c.close(); err != nil && last {
			yield(KeyCount{}, err)
		}
	}
}

// counting is the counters of the workers, each of which takes so many bytes.
type counting struct {
	scratch string
	each    int64
	mu      sync.Mutex
	list    []*agg.Counter
}

// defaultCounter is the memory of a counter if nothing bounds it.
const defaultCounter = 1 << 40

// divide divides the memory that the graph and stored rows leave among the counters.
func (c *counting) divide(t *Table) (workers int, err error) {
	fixed, reader := t.takes()
	p, err := t.g.workers(fixed, reader+agg.MinMem, countingKeys)
	if mem := t.bound(); mem > 0 && err == nil {
		c.each = (mem-fixed)/int64(p.workers) - reader
	}
	return p.workers, err
}

// countingKeys is what a budget is too small for.
const countingKeys = "counting rows of a table"

// bound is the most memory of tables, 0: any. With GPUs Options.Mem is theirs.
func (t *Table) bound() int64 {
	if t.g.gpus != nil {
		return 0
	}
	return t.g.opt.Mem
}

// takes is the memory of what rows are made of: fixed of the graph and of the stored rows that they begin with, and reader of
// each reader of these.
func (t *Table) takes() (fixed, reader int64) {
	fixed = t.g.byID.Bytes()
	if t.spec.Kinds != nil {
		fixed += t.g.byID.KindsBytes()
	}
	if from := t.spec.From; from != nil {
		fixed, reader = fixed+from.Held(), from.Reader()
	}
	return fixed, reader
}

// count counts the rows of t.
func (c *counting) count(ctx context.Context, t *Table, workers int, e *pattern.Expr) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := t.whole().Share(ctx, workers, func() func(*table.Row) {
		one, err := agg.NewCounter(agg.Options{Mem: c.each, Scratch: c.scratch})
		if err != nil {
			cancel(err)
			return func(*table.Row) {}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.list = append(c.list, one)
		var value func() int64
		return func(r *table.Row) {
			if value == nil {
				value = r.Func(e)
			}
			if err := one.Add(uint64(value()) ^ 1<<63); err != nil {
				cancel(err)
			}
		}
	})
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause
	}
	return failed(t.room(err))
}

// room says in terms of the options what does not fit.
func (t *Table) room(err error) error {
	var small *run.RoomError
	if errors.As(err, &small) {
		return fmt.Errorf("mine: the counters of the rows take more than the memory, and there is no Scratch folder for them: %w",
			&BudgetError{Mem: t.g.opt.Mem, Smallest: t.g.opt.Mem + 1, AtLeast: true, What: countingKeys})
	}
	return err
}

func (c *counting) close() (err error) {
	for _, one := range c.list {
		err = errors.Join(err, one.Close())
	}
	return err
}

// Patterns counts the rows by their canonical pattern; on a graph with GPUs these do, see OnGPUs.
func (t *Table) Patterns(ctx context.Context) (map[Pattern]int64, error) {
	at := t.typed()
	switch {
	case at.onGPUs():
		return at.patternsOnGPUs(ctx)
	case at.err == nil && at.g.gpus != nil && at.growable(true) == nil:
		return at.codesOnGPUs(ctx)
	}
	var known sync.Map
	return countRows(ctx, at, func(r *table.Row) Pattern { return canonicalOf(r.Pattern(), &known) })
}

// typed is the table whose patterns have the labels of edges, if the graph has them.
func (t *Table) typed() *Table {
	at := *t
	if at.g.EdgeLabels() && at.err == nil {
		at.spec.Kinds, at.err = at.g.edgeKinds()
	}
	return &at
}

// countRows counts rows by key on all threads.
func countRows[K comparable](ctx context.Context, t *Table, key func(r *table.Row) K) (map[K]int64, error) {
	if t.err != nil {
		return nil, t.err
	}
	var mu sync.Mutex
	var parts []map[K]int64
	spec := t.whole()
	err := spec.Share(ctx, t.g.opt.Threads, func() func(*table.Row) {
		part := map[K]int64{}
		mu.Lock()
		defer mu.Unlock()
		parts = append(parts, part)
		return func(r *table.Row) { part[key(r)]++ }
	})
	if err != nil {
		return nil, failed(err)
	}
	all := map[K]int64{}
	for _, part := range parts {
		for k, n := range part {
			all[k] += n
		}
	}
	return all, nil
}

// Rows yields the rows: the user's numbers of vertices. A row is valid until the next one. An error is yielded
// last, with a nil row.
func (t *Table) Rows(ctx context.Context) iter.Seq2[[]uint32, error] {
	return func(yield func([]uint32, error) bool) {
		if t.err != nil {
			yield(nil, t.err)
			return
		}
		broken := false
		spec := t.whole()
		err := spec.Each(ctx, func(r *table.Row) bool {
			broken = !yield(r.All(), nil)
			return !broken
		})
		if err != nil && !broken {
			yield(nil, failed(err))
		}
	}
}

// failed is the error of making rows.
func failed(err error) error {
	var p *table.PanicError
	if errors.As(err, &p) {
		return fmt.Errorf("mine: %w", err)
	}
	return err
}

// whole is the rows with all conditions.
func (t *Table) whole() *table.Spec {
	s := t.spec
	if !slices.ContainsFunc(t.keep, func(keep func(*table.Row) bool) bool { return keep != nil }) {
		return &s
	}
	s.Keep = func(r *table.Row) bool {
		keep := t.keep[r.Size()]
		return keep == nil || keep(r)
	}
	return &s
}

// places is how many vertices conditions and keys can name.
func (t *Table) places() int {
	if t.spec.Vertices {
		return t.spec.Size
	}
	return 2 * t.spec.Size
}

// limit is the most edges or vertices of a row: patterns have at most 8 vertices.
func (t *Table) limit() int {
	if t.spec.Vertices {
		return pattern.MaxVertices
	}
	return pattern.MaxVertices - 1
}

// read makes the labels of edges, if e needs them, and says what e cannot have.
func (t *Table) read(e *pattern.Expr) error {
	switch {
	case e.Uses(pattern.Label) && t.g.byID.Label == nil:
		return &QuestionError{"the condition or key asks for labels, but the graph has none"}
	case !e.Uses(pattern.EdgeLabel):
		return nil
	case !t.g.EdgeLabels():
		return &QuestionError{"the condition or key asks for labels of edges, but the graph has none"}
	}
	var kinds *rows.Kinds
	kinds, err := t.g.edgeKinds()
	t.spec.Kinds = kinds
	return err
}
