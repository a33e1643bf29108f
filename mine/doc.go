// Package mine counts and lists patterns in graphs: cliques, motifs, and any connected
// pattern of up to eight vertices with labels and conditions.
//
//	g, err := mine.Open(edges, mine.Options{})
//	n, err := g.Count(ctx, mine.MustPattern("0-1-2-3-0"))          // cycles of four
//	n, err = g.Count(ctx, mine.MustPattern("wedge"), mine.Induced) // and no third edge
//	for m, err := range g.Match(ctx, p, mine.Limit(10)) { … }      // rows in a fixed order
//
// # Meaning
//
// A match maps the vertices of a pattern to different vertices of the graph. Edges are mapped to
// edges, vertices with a label to vertices of that label, and the condition holds (see Where).
// Matches are edge-induced by default: a pair without an edge in the pattern may have one in the
// graph. With Induced it must not. A pattern can also forbid single pairs, as in "0-1-2-3-0 0~2".
//
// Two matches are the same subgraph if a renumbering of the pattern turns one into the other and
// keeps the edges, forbidden pairs, labels and the condition. A renumbering keeps the condition if
// the condition reads the same afterwards, up to the order in which its parts are written (see
// pattern.Expr.Normal). Count counts subgraphs, and Match lists each subgraph once. A condition
// may tell vertices of the pattern apart, such as label(0) < label(1) on a triangle. Then several
// matches on the same vertices are counted if each of them fulfils the condition.
//
// The graph is undirected: Open refuses an edge whose reverse is missing. Loops and
// repeated entries are dropped and counted (Graph.Dropped).
//
// # Order of listings
//
// A row of a listing has a graph vertex for each pattern vertex. Rows ascend lexicographically if
// their columns are read in this order: pattern vertex 0, then always the lowest pattern vertex
// that is adjacent to one before it. Of the matches of a subgraph, the first in this order is
// listed. The order depends on nothing else, so Limit(N) gives the same rows on any number of
// threads or GPUs.
//
// # Frequent patterns
//
// Frequent finds the connected patterns with at least a given support. Patterns have the labels of the
// graph's vertices; a graph without labels has one. A vertex with label -1 takes no part. The support
// MNI of a pattern is the smallest, over its vertices, number of graph vertices that any match puts
// there; all matches count, and vertices that a symmetry exchanges share theirs. No pattern has more
// support than a connected part of it, so patterns grow edge by edge from frequent ones (package
// mine/lattice). Domains are found without listing matches (package mine/domain).
//
// The support Instances is the number of distinct sets of edges that form the pattern. It is not anti-monotone: a
// vertex with ten edges has 45 wedges. A pattern of more than one edge is found if it has the support
// and grows from a found pattern of one edge less, as GAMMA does it. InstancesAll has no such
// rule. Patterns of up to three edges are counted from the neighbours' labels and the triangles (engine Census). Larger
// ones, and induced ones (whose instances are sets of vertices), are counted row by row (engine Tables, package mine/table).
//
// # Tables
//
// A Table is every connected set of edges, or of vertices, of a size, once, for what the other engines cannot say:
//
//	t := g.Table(false).Extend(nil).Extend(func(m mine.Match) mine.Bool { return m.Label(0).Ne(m.Label(5)) })
//	counts, err := t.Aggregate(ctx, func(m mine.Match) mine.Int { return m.Degree(0) })
//
// Rows are sequences that begin with rows of the size before. They are made when they are read; Store keeps them, and Explain says before what it would keep.
//
// # Engines
//
// There are four engines. Formulas count stars, the 5-cycle, and patterns of three and four
// vertices, from degrees, triangles at edges, wedges and closed walks. Bit matrices count cliques:
// the neighbours of a root that come after the root in order of degree are rows of bits. Maps
// count patterns such as cycles and houses: they count walks that may meet a vertex twice, and
// subtract the walks that do. Loops over sorted sets count and list all patterns (packages
// mine/plan and mine/run). Auto takes formulas or bits if they apply and fit into the memory,
// otherwise the one of maps and loops that is estimated to be faster. Explain shows the choice
// before the run. Memory is taken before the work begins; if Options.Mem is too small, the error
// names the smallest value that works. Counts have 128 bits.
//
// With Options.Device the same engines run on GPUs (package mine/cuda) and give the same
// counts and rows; of frequent patterns Domains and, of edge-induced ones, Tables. Call Close on such a graph: it frees the GPUs.
package mine

// For contributors. The files: mine.go (Open), query.go and symbols.go (the question), count.go (choice of an
// engine, and counting), expect.go (expected times of engines), maps.go, motifs.go, match.go
// (listing), frequent.go, frequent_instances.go, frequent_resume.go, frequent_room.go and explain_frequent.go, frequent_gpu.go and ranks.go (frequent patterns), table.go, table_stored.go, table_explain.go and table_gpu.go (tables), explain.go, gpu.go (the engines on GPUs).
//
// Another engine, another formula:
//
// A new engine needs a name in mine.go and in the flag of cmd/saga/mine.go. In count.go the engine
// needs a function that makes its job, as loopsJob does, a place in the order in which auto tries
// engines, and the call that counts. explain.go explains the engine, and the file expect of
// mine/plan estimates its time. The counting itself lies in mine/run, for GPUs in mine/cuda and
// gpu.go. The lists of engines in the tests of this package name the engine, too.
//
// A new formula is declared in the file formula of mine/pattern, with a line in the
// testdata/motifs.txt of that package. Induced patterns of up to four vertices have formulas. If a
// formula needs a sum that no code computes yet, write the sum in the files sums of mine/run (for
// sums at edges: closed) and mine/cuda, and compare both in compareSums of mine/cuda. The work of
// the sum is counted in expect.go here, its time in the file expect of mine/plan.
