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
// A match maps the vertices of a pattern to different vertices of the graph, edges to
// edges, vertices with a label to vertices of that label, and fulfils the condition (see
// Where). Matches are edge-induced unless Induced says that pairs without an edge in the
// pattern must not have one in the graph. A pattern can also forbid single pairs, as in
// "0-1-2-3-0 0~2".
//
// Two matches are the same subgraph if one becomes the other by renumbering the pattern
// in a way that keeps its edges, forbidden pairs, labels and the condition. The condition
// is kept if it reads the same afterwards, up to the order in which its parts are written
// (see pattern.Expr.Normal). Count counts subgraphs, and Match lists each once. So
// a condition that tells vertices of the pattern apart, such as label(0) < label(1) on a
// triangle, has both matches of a subgraph counted if both fulfil it.
//
// The graph is undirected: Open refuses an edge whose reverse is missing. Loops and
// repeated entries are dropped and counted (Graph.Dropped).
//
// # Order of listings
//
// Rows of a listing have a graph vertex for each pattern vertex. They ascend
// lexicographically when they are read in the order: pattern vertex 0, then always the
// lowest pattern vertex adjacent to one before it. Of the matches of a subgraph the one
// that is first in this order is listed. The order depends on nothing else, so Limit(N)
// gives the same rows for every engine and number of threads.
//
// # Engines
//
// Formulas count stars, the 5-cycle, and patterns of three and four vertices, from degrees,
// triangles at edges, wedges and closed walks. Bit matrices count cliques: the neighbours of a root
// that come after it in order of degree, as rows of bits. Maps count patterns such as cycles
// and houses by walks that may meet a vertex twice, and subtract those. All else is loops over
// sorted sets (packages mine/plan and mine/run). Auto takes formulas or bits if they apply
// and fit into the memory, otherwise the faster of maps and loops, as estimated. Explain
// shows the choice before the run. Memory is taken before the work begins; if Options.Mem is
// too small, the error names the smallest that would do.
// Counts have 128 bits.
//
// The files: mine.go (Open), query.go and symbols.go (what is asked), count.go (which engine, and
// counting), expect.go (how long each takes), maps.go, motifs.go, match.go (listing), explain.go, gpu.go (the same on GPUs).
//
// With Options.Device the same engines run on GPUs (package mine/cuda) and give the same
// counts and rows. Call Close on such a graph: it frees the GPUs.
//
// # Another engine, another formula
//
// An engine has a name in mine.go and in the flag of cmd/saga/mine.go, and in count.go a function that makes its
// job, as loopsJob does, its place in the order that auto tries, and the call. It is explained in explain.go, its time in the
// file expect of mine/plan, and its work lies in mine/run, for GPUs in mine/cuda and gpu.go. A formula is
// declared in the file formula of mine/pattern, with a line in its testdata/motifs.txt; induced patterns have one up to
// four vertices. A sum that it needs and that nothing computes yet goes into the files sums of mine/run (at edges: closed)
// and mine/cuda, is compared by compareSums of mine/cuda, and has its work in expect.go here, its time in that of mine/plan.
package mine
