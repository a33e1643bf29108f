package mine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"sagann/mine/cuda"
	"sagann/mine/domain"
	"sagann/mine/pattern"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// By says how the support of a pattern is measured.
type By string

// The supports. See the package's documentation for what each means.
const (
	// MNI is the size of the smallest domain: the least, over the pattern's vertices, number of
	// graph vertices that any match puts there.
	MNI By = "mni"
	// Instances is the number of distinct sets of edges that form the pattern. A pattern of more than one edge is found
	// if it has at least the support, and so has a connected part of it that has one edge less and
	// was found itself.
	Instances By = "instances"
	// InstancesAll is Instances without that second condition.
	InstancesAll By = "instances-all"
)

// Engines that find frequent patterns; see the package's documentation. Auto takes Domains for MNI. For
// instances it takes Census, or Tables where patterns are induced or have more than three edges.
const (
	Domains Engine = "domains"
	Census  Engine = "census"
	Tables  Engine = "tables"
)

// Frequency is the question of Graph.Frequent.
type Frequency struct {
	// Support is the least support of a frequent pattern, from 1 on.
	Support int64
	// Edges and Vertices are the most that a pattern has; 0: any number, for one of the two. No
	// pattern has more than 8 vertices.
	Edges, Vertices int
	// By is the kind of support; "" is MNI.
	By By
	// Engine is the engine that finds the patterns; "" is Auto.
	Engine Engine
	// Induced grows patterns by vertices and counts induced matches. Edges must be 0.
	Induced bool
	// AtLeast only decides which patterns are frequent, which is faster: Support of the
	// patterns is the one asked for.
	AtLeast bool
	// Top keeps the patterns of highest support; of equal ones the first in the order of
	// patterns. 0: all.
	Top int
	// PlainEdges takes no labels from the types of the edges.
	PlainEdges bool
	// Domains keeps the domains of all patterns, for Domain.
	Domains bool
	// Resume is a folder in which a search keeps each size of patterns when it is finished (the census its result), and from which it
	// goes on after an interrupt, with the same result; "": none.
	Resume string
	// Level, unless nil, is called by a search by MNI before each size of patterns, with the size in edges (of the
	// smallest such pattern) and about how many candidates there are.
	Level func(edges, candidates int)
}

// FrequentPattern is a pattern with its support.
type FrequentPattern struct {
	Pattern Pattern // canonical
	Support Total
	g       *domain.Graph
	domains []domain.Set
}

// Edges is the number of the pattern's edges.
func (f *FrequentPattern) Edges() int { return f.Pattern.Edges() }

// Domain yields the graph's vertices that some match puts at pattern vertex i, by the user's numbers,
// ascending. It is empty unless Frequency.Domains was set, and for a vertex that the pattern does not have.
func (f *FrequentPattern) Domain(i int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if i < 0 || i >= len(f.domains) {
			return
		}
		numbers := f.g.Vertices(f.Pattern.Label(i))
		var domain []uint32
		for x := range f.domains[i].All() {
			domain = append(domain, numbers[x])
		}
		slices.Sort(domain)
		for _, v := range domain {
			if !yield(v) {
				return
			}
		}
	}
}

// Frequent finds the frequent patterns: those that have at least the support asked for, and no more
// edges or vertices. They are ordered by number of edges, then by descending support, then by text.
func (g *Graph) Frequent(ctx context.Context, f Frequency) ([]FrequentPattern, error) {
	q, err := g.frequent(f)
	if err != nil {
		return nil, err
	}
	peers, err := join(g.opt.Net, func() string { return fmt.Sprintf("%s, kept %t", q.heading(), q.Resume != "") })
	if err != nil {
		return nil, err
	}
	if peers != nil {
		q.peers = peers
	}
	keep, sizes, err := q.begin()
	if err != nil {
		return nil, err
	}
	find := q.byCensus
	switch {
	case q.By == MNI:
		find = q.byDomains
	case q.tables():
		find = q.byTables
	}
	all, err := find(ctx, keep, sizes)
	var small *run.RoomError
	for errors.As(err, &small) {
		if peers != nil { // all ranks must do the same
			q.single, q.least = true, q.taken
		}
		if need := q.least + small.Need; q.single || need > g.opt.Mem {
			return nil, &BudgetError{Mem: g.opt.Mem, Smallest: need, AtLeast: small.More || peers != nil, What: finding} // with more, ranks take more threads
		}
		q.single = true // one thread leaves enough for the patterns
		all, err = find(ctx, keep, sizes)
	}
	if err != nil {
		return nil, err
	}
	return ranked(all, f.Top), nil
}

// frequent checks a question.
func (g *Graph) frequent(f Frequency) (*frequent, error) {
	q := &frequent{Frequency: f, g: g}
	if err := q.check(); err != nil {
		return nil, err
	}
	if g.EdgeLabels() && !f.PlainEdges {
		var err error
		if q.kinds, err = g.edgeKinds(); err != nil {
			return nil, fmt.Errorf("%w; with plain edges (--plain-edges) labels are left out", err)
		}
	}
	return q, nil
}

// frequent is a search for frequent patterns.
type frequent struct {
	Frequency
	g      *Graph
	kinds  *rows.Kinds // nil: edges without labels
	single bool        // one thread works
	peers  domain.Peers
	least  int64 // bytes with one thread, without patterns
	taken  int64 // bytes with the threads that work
	left   int64 // bytes for patterns where instances are counted; 0: no bound
}

// edgeKinds is the labels of edges by entry of the rows, nil without labels.
func (f *frequent) edgeKinds() []int32 {
	if f.kinds == nil {
		return nil
	}
	return f.kinds.Label
}

// byDomains finds the patterns that are frequent by MNI.
func (f *frequent) byDomains(ctx context.Context, keep *kept, sizes [][]FrequentPattern) ([]FrequentPattern, error) {
	all := slices.Concat(sizes...)
	if n := len(sizes); n > 0 && len(sizes[n-1]) == 0 {
		return all, nil // it had ended
	}
	by, q, err := f.question(ctx)
	if err := f.agree("the graph by labels", err); err != nil {
		return nil, err
	}
	if n := len(sizes); n > 0 {
		for _, p := range sizes[n-1] {
			q.Begin = append(q.Begin, p.Pattern)
		}
	}
	q.Keeps, q.Peers = holds, f.peers
	for i := range all {
		q.Held += holds(all[i].Pattern)
	}
	size := max(len(sizes)-1, 0) // finished
	report := f.g.reporter(0, 1)
	q.Level = func(candidates, parents int) {
		size++
		if f.Level != nil {
			f.Level(size+1, candidates)
		}
	}
	q.Report = func(done, parents int) {
		levels := f.Edges - 1
		if f.Edges == 0 { // a guess, unless patterns are induced
			levels = f.Vertices - 1
		}
		if report != nil && levels > 0 {
			report((float64(size-1) + float64(done)/float64(parents)) / float64(levels))
		}
	}
	err = f.onCards(by, &q, func() error {
		return by.Mine(ctx, q, func(level []domain.Found) error {
			from := len(all)
			all = slices.Grow(all, len(level))
			for _, x := range level {
				p := FrequentPattern{Pattern: x.Pattern, Support: Total{Lo: uint64(x.Support)}, g: by}
				if f.AtLeast {
					p.Support.Lo = uint64(f.Support)
				}
				if f.Domains {
					p.domains = x.Domains
				}
				all = append(all, p)
			}
			sizes = append(sizes, nil)
			return f.kept(keep.save(len(sizes), all[from:]))
		})
	})
	if err == nil {
		err = f.kept(keep.save(len(sizes)+1, nil))
	}
	return all, err
}

// kept is the error of keeping a size, or that of the rank that keeps it.
func (f *frequent) kept(err error) error {
	if f.Resume == "" {
		return err
	}
	return f.agree("keeping a size of patterns", err)
}

// question makes the graph by labels and the question that it answers, within the memory.
func (f *frequent) question(ctx context.Context) (*domain.Graph, domain.Question, error) {
	q := domain.Question{Least: f.Support, Vertices: f.Vertices, Edges: f.Edges, Induced: f.Induced, AtLeast: f.AtLeast, Domains: f.Domains}
	by, fixed, err := f.byLabels(ctx, f.Support)
	if err != nil {
		return nil, q, err
	}
	p, room, err := f.workers(fixed+f.exchanged(), by.WorkerBytes()+by.GrowBytes(q))
	q.Workers, q.Room = p.workers, room
	return by, q, err
}

// finding is what a BudgetError says of this search.
const finding = "finding frequent patterns"

// byLabels makes the graph by labels, for a least support. fixed is its bytes with those of the graph's rows.
func (f *frequent) byLabels(ctx context.Context, least int64) (by *domain.Graph, fixed int64, err error) {
	fixed = f.g.byID.Bytes() + 4*int64(len(f.edgeKinds()))
	room := int64(0)
	if f.g.opt.Mem > 0 && f.g.gpus == nil {
		room = max(f.g.opt.Mem-fixed, 1)
	}
	by, err = domain.New(ctx, f.g.byID, f.edgeKinds(), least, f.g.opt.Threads, room)
	var small *run.RoomError
	if errors.As(err, &small) {
		err = &BudgetError{Mem: f.g.opt.Mem, Smallest: fixed + small.Need, AtLeast: f.g.gpus == nil, What: finding}
	}
	if err != nil {
		return nil, 0, err
	}
	return by, fixed + by.Bytes(), nil
}

// check checks the question and fills in what it leaves open.
func (f *frequent) check() error {
	if f.By == "" {
		f.By = MNI
	}
	if err := f.checkSize(); err != nil {
		return err
	}
	wrong := func(format string, a ...any) error { return &QuestionError{fmt.Sprintf(format, a...)} }
	switch {
	case f.By != MNI && f.By != Instances && f.By != InstancesAll:
		return wrong("no support %q; there are mni, instances and instances-all", f.By)
	case !slices.Contains([]Engine{"", Auto, Domains, Census, Tables}, f.Engine):
		return wrong("no engine %q for frequent patterns; there are auto, domains, census and tables", f.Engine)
	case (f.Engine == Census || f.Engine == Tables) && f.By == MNI, f.Engine == Domains && f.By != MNI:
		return wrong("engine %s does not find patterns by %s: domains are for mni, census and tables for instances", f.Engine, f.By)
	case f.Resume != "" && f.Domains:
		return wrong("domains are not kept in the folder from which a search goes on: leave out one of the two")
	case f.AtLeast && f.Domains:
		return wrong("domains are not exact if only the least support is decided")
	case f.By != MNI && (f.AtLeast || f.Domains):
		return wrong("instances are counted exactly and without domains: leave out atleast and domains, or take mni")
	case f.Engine == Census && f.tables():
		return wrong("the census counts edge-induced patterns of at most %d edges; engine tables counts all", domain.MostCensus)
	case f.By == MNI && f.Support > int64(f.g.Vertices()):
		return wrong("a support of %d: the graph has %d vertices", f.Support, f.g.Vertices())
	case len(f.g.byID.Col) > math.MaxUint32:
		return wrong("the graph has %d entries in its rows; frequent patterns are found in at most %d", len(f.g.byID.Col), uint32(math.MaxUint32))
	}
	if f.g.gpus != nil && f.By != MNI {
		if err := f.checkGPUs(); err != nil {
			return err
		}
	}
	if f.Vertices == 0 {
		f.Vertices = pattern.MaxVertices
	}
	return nil
}

// checkGPUs checks whether GPUs count instances.
func (f *frequent) checkGPUs() error {
	if !f.tables() {
		return &QuestionError{fmt.Sprintf("the census is the CPU's; device %q finds patterns by mni, and counts instances with engine tables", f.g.opt.Device)}
	}
	if f.Induced && !f.quick() {
		return &QuestionError{fmt.Sprintf("induced patterns of %d vertices: %v, by which GPUs tell them apart; the CPU counts them", f.Vertices, cuda.ErrWide)}
	}
	if most := f.g.byID.MaxDegree; most >= cuda.WidestTable {
		return &QuestionError{fmt.Sprintf("a vertex has %d neighbours; GPUs count rows where vertices have fewer than %d", most, cuda.WidestTable)}
	}
	return nil
}

// checkSize checks the numbers of the question.
func (f *frequent) checkSize() error {
	wrong := func(format string, a ...any) error { return &QuestionError{fmt.Sprintf(format, a...)} }
	switch {
	case f.Support < 1:
		return wrong("a support of %d: the least is 1", f.Support)
	case f.Edges < 0 || f.Vertices < 0 || f.Top < 0:
		return wrong("%d edges, %d vertices, the top %d: none may be below 0", f.Edges, f.Vertices, f.Top)
	case f.Edges == 0 && f.Vertices == 0:
		return wrong("patterns without a limit: say how many edges or vertices they may have")
	case f.Vertices == 1 || f.Vertices > pattern.MaxVertices:
		return wrong("patterns of at most %d vertices: the number is 2 to %d", f.Vertices, pattern.MaxVertices)
	case f.Edges > maxEdges:
		return wrong("patterns of at most %d edges: %d vertices have at most %d", f.Edges, pattern.MaxVertices, maxEdges)
	case f.Induced && f.Edges > 0:
		return wrong("induced patterns grow by vertices: limit their vertices, not their edges")
	}
	return nil
}

// maxEdges is how many edges the largest patterns have.
const maxEdges = pattern.MaxVertices * (pattern.MaxVertices - 1) / 2

// rank is what a pattern is ordered by.
type rank struct {
	at, edges int
	text      string
}

// ranked orders the patterns, and keeps the top ones if top is not 0.
func ranked(all []FrequentPattern, top int) []FrequentPattern {
	keys := make([]rank, len(all))
	for i := range all {
		keys[i] = rank{i, all[i].Edges(), all[i].Pattern.String()}
	}
	support := func(a, b rank) int {
		s, t := all[a.at].Support, all[b.at].Support
		return cmp.Or(cmp.Compare(t.Hi, s.Hi), cmp.Compare(t.Lo, s.Lo))
	}
	if top > 0 && top < len(all) {
		slices.SortFunc(keys, func(a, b rank) int {
			return cmp.Or(support(a, b), cmp.Compare(a.edges, b.edges), cmp.Compare(a.text, b.text))
		})
		keys = keys[:top]
	}
	slices.SortFunc(keys, func(a, b rank) int {
		return cmp.Or(cmp.Compare(a.edges, b.edges), support(a, b), cmp.Compare(a.text, b.text))
	})
	out := make([]FrequentPattern, len(keys))
	for i, k := range keys {
		out[i] = all[k.at]
	}
	return out
}
