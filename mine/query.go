package mine

import (
	"fmt"

	"sagann/mine/pattern"
	"sagann/mine/rows"
)

// Option is an option of a count or a listing.
type Option func(*query)

// query is a pattern with its options.
type query struct {
	pattern Pattern // if matches are induced, it has the marks of pattern.Induced
	where   *pattern.Expr
	kinds   *rows.Kinds // nil unless where reads labels of edges
	cond    func(Match) Bool
	induced *bool
	limit   int64
}

// QuestionError says that the pattern or an option does not fit the graph, the engine or the device.
type QuestionError struct{ text string }

// Error says what does not fit.
func (e *QuestionError) Error() string { return "mine: " + e.text }

// Induced looks for induced subgraphs: pairs without an edge in the pattern must not have
// one in the graph. Motifs does so by default.
func Induced(q *query) { yes := true; q.induced = &yes }

// EdgeInduced lets pairs that the pattern does not mention have an edge or none. Count and
// Match do so by default.
func EdgeInduced(q *query) { no := false; q.induced = &no }

// Where keeps the matches for which the condition holds. The function runs once, on symbols:
//
//	mine.Where(func(m mine.Match) mine.Bool {
//		return m.Label(0).Eq(m.Label(2)).And(m.Adjacent(1, 3).Not())
//	})
//
// A second Where replaces the first.
func Where(condition func(m Match) Bool) Option { return func(q *query) { q.cond = condition } }

// Limit ends a listing after n matches, the first n in its order; 0: all. Counts are
// not limited.
func Limit(n int64) Option { return func(q *query) { q.limit = n } }

// ask checks a pattern with its options.
func (g *Graph) ask(p Pattern, options []Option) (*query, error) {
	q := &query{pattern: p}
	for _, o := range options {
		o(q)
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("mine: %w", err)
	}
	var err error
	if q.where, err = trace("condition", q.cond, p.Vertices()); err != nil {
		return nil, err
	}
	if q.induced != nil && *q.induced {
		q.pattern = p.Induced()
	}
	if q.limit < 0 {
		return nil, fmt.Errorf("mine: a limit of %d matches", q.limit)
	}
	if g.byID.Label == nil && (p.Labelled() || q.where.Uses(pattern.Label)) {
		return nil, &QuestionError{"the pattern or its condition asks for labels, but the graph has none"}
	}
	if p.EdgeLabelled() {
		q.where = edgeLabels(p, q.where)
		q.pattern = q.pattern.WithoutEdgeLabels()
	}
	if q.where.Uses(pattern.EdgeLabel) {
		if g.gpus != nil {
			return nil, &QuestionError{fmt.Sprintf("labels of edges are compared on the CPU; device %q cannot", g.opt.Device)}
		}
		if g.typed == nil {
			return nil, &QuestionError{"the pattern or its condition asks for labels of edges, but the graph has none"}
		}
		if q.kinds, err = g.edgeKinds(); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// edgeLabels is the condition that edges have the labels of p, and that where holds. A pattern's
// symmetries must keep both, and engines check both as soon as the ends of an edge are known.
func edgeLabels(p Pattern, where *pattern.Expr) *pattern.Expr {
	all := &pattern.Expr{Op: pattern.And}
	for j := range p.Vertices() {
		for i := range j {
			if label := p.EdgeLabel(i, j); label != pattern.AnyLabel {
				all.Args = append(all.Args, Match{p.Vertices()}.EdgeLabel(i, j).Eq(Const(int64(label))).e)
			}
		}
	}
	if where != nil {
		all.Args = append(all.Args, where)
	}
	return all
}
