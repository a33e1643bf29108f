package sample

// Sampler says how samples are drawn. A sample begins with its roots. At each step every
// transit (by default each vertex that the last step added) draws Size of its in-edges,
// and the sample adds the sources of these edges. Compile calls Transits, Next, Score and
// EdgeWeight once, on symbols.
type Sampler struct {
	Name  string
	Steps int                // number of steps; Unbounded: until no sample has a transit
	Size  func(step int) int // draws per transit at a step (per sample if Over is not Individual); steps count from 0; nil: 1
	Roots int                // roots per sample; 0: 1
	Over  Over               // what a draw chooses from

	// Replace draws with replacement. It matters only for Individual samplers without Next
	// whose Output is Layers, Together or Apart. If it is not set there, the draws of a row
	// take different edges (parallel edges are different edges), and a vertex with at most
	// Size edges takes its whole row, in order. With Output: Steps, and with Next, draws are
	// always with replacement; see Unique.
	Replace bool

	// KeepLoops always takes the edges from a vertex to itself, in addition to Size other
	// edges. It is for blocks and subgraphs that are drawn without Next.
	KeepLoops bool

	Unique Unique // whether a sample may add a vertex twice
	Most   int    // most vertices per sample, roots included; further draws add nothing; 0: no bound

	// State declares numbers that each sample keeps for itself. See Sample.Get and Set.
	State []Field

	// Transits returns transit i, from 0 to Width-1, of a step: a vertex, or None, which
	// draws nothing. Any other number is an error of Run. Nil: the transits are the vertices
	// that the last step added.
	Transits func(s Sample, i Int, r Rand) Int
	Width    int // transits per step if Transits is given; 0: 1

	// Next returns the place in the pool of the edge to draw, or None, which adds nothing.
	// Nil: edges are drawn with equal probability, or in proportion to Score.
	Next func(s Sample, at Pool, r Rand) Int

	// Score returns a finite number of 0 or more for an edge. Edges of a row are drawn in
	// proportion to it. Without replacement they are drawn one after the other, each in
	// proportion among the edges that are left (Plackett and Luce). Edges of Score 0 are
	// never drawn. Collective and Everywhere draw vertices, with replacement: Collective in
	// proportion to the sum of Score over a vertex's edges into the level below, Everywhere
	// over all its out-edges. The block then has all edges from the drawn vertices into the
	// level below.
	Score func(e Edge) Real

	// EdgeWeight returns the weight of a drawn edge in its block; nil: the block has no
	// weights.
	EdgeWeight func(e Edge) Real
	// RowNormal divides the weights of each row of a block by their sum.
	RowNormal bool

	Output Output
	Top    int    // > 0: the row of a vertex is the Top vertices that Size walks from it, by Next, visit most
	Length int    // steps of each of these walks
	Method Method // how PickWeighted draws, and how edges are drawn by Score
}

// Unbounded, as Steps, goes on until no sample has a transit. More than 2²⁰ steps are an error.
const Unbounded = -1

// NoVertex marks a place of Samples.Steps where the draw added no vertex.
const NoVertex = ^uint32(0)

// Over says what a draw chooses from.
type Over int

// What a draw chooses from.
const (
	Individual Over = iota // the edges of one transit
	Collective             // the edges of all transits of the sample; blocks are one sample
	Everywhere             // all vertices, by Score
)

// Unique says which vertices a sample does not add twice. If a draw gives such a vertex, it is
// repeated at most 255 times; after that it adds nothing.
type Unique int

// What is unique.
const (
	Repeats  Unique = iota // any vertex may come again
	InStep                 // a step adds no vertex twice (NextDoor's unique)
	InSample               // a sample holds no vertex twice
)

// Output says what a sampler gives.
type Output int

// Kinds of output, and the method that draws them.
const (
	Steps    Output = iota // the vertices that each step added: Program.Run
	Layers                 // blocks: Program.Blocks
	Together               // the vertices of all samples, and all edges among them: Program.Blocks
	Apart                  // one subgraph as in Together for each seed, side by side: Program.Blocks
)

// Field is a named array of numbers in the state of a sample.
type Field struct {
	Name  string
	Len   int  // numbers, from 1 to 2²⁰
	Roots bool // they begin as the roots of the sample, those beyond the roots as 0; not set: all begin as 0
}

func (s *Sampler) roots() int { return max(1, s.Roots) }

func (s *Sampler) size(step int) int {
	if s.Size == nil {
		return 1
	}
	return s.Size(step)
}
