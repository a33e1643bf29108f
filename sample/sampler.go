package sample

// Sampler says how samples are drawn. A sample begins with its roots. At each step every
// transit (by default each vertex that the last step added) draws Size of its in-edges,
// and their far ends are added. The functions run once, on symbols, when a Program is
// compiled.
type Sampler struct {
	Name  string
	Steps int                // how often transits draw; Unbounded: until no sample has a transit
	Size  func(step int) int // draws of each transit at a step, from 0; of each sample if Collective; nil: 1
	Roots int                // roots of a sample; 0: 1
	Over  Over               // what a draw chooses from

	// Replace draws with replacement. In blocks and subgraphs (Layers, Together, Apart) of Individual
	// samplers whose Next is nil, a draw takes another edge than those before it where
	// Replace is not set; parallel edges are edges of their own. A vertex that has no more
	// than Size edges then takes its whole row, in order. In Steps, and by Next, draws are
	// always with replacement; see Unique.
	Replace bool

	// KeepLoops takes the edges from a vertex to itself always, beside Size others. It is
	// for blocks that are drawn without Next.
	KeepLoops bool

	Unique Unique // which vertices may come twice
	Most   int    // vertices of a sample at most, roots included: draws after that add nothing; 0: no bound

	// State is numbers that each sample has of its own. See Sample.Get and Set.
	State []Field

	// Transits is the transit number i of a sample's step, of Width; nil: what the last step
	// added. It returns a vertex, or None to draw nothing; another number is an error of Run.
	Transits func(s Sample, i Int, r Rand) Int
	Width    int // transits of a step if Transits is given; 0: 1

	// Next is the place in the pool of the edge that is drawn; None adds nothing. Nil: every
	// edge with equal probability, or in proportion to Score.
	Next func(s Sample, at Pool, r Rand) Int

	// Score is a number of 0 or more of each edge. Edges of a row are drawn in proportion
	// to it; without replacement one after the other, each in proportion among those that
	// are left (Plackett and Luce). Edges of Score 0 are never drawn. Collective draws vertices, with replacement, in
	// proportion to the sum over their edges into the level below, Everywhere in proportion
	// to the sum over all their out-edges; blocks then have all edges from a drawn vertex.
	Score func(e Edge) Real

	// EdgeWeight is the weight that a drawn edge carries into its block; nil: none.
	EdgeWeight func(e Edge) Real
	// RowNormal divides the weights of each row of a block by their sum.
	RowNormal bool

	Output Output
	Top    int    // a row is so many of the vertices that Size walks of Next visit most
	Length int    // of these walks
	Method Method // of PickWeighted, and of draws of edges by Score
}

// Unbounded steps go on until no sample has a transit, at most 2²⁰ of them.
const Unbounded = -1

// NoVertex stands where a draw added nothing.
const NoVertex = ^uint32(0)

// Over says what a draw chooses from.
type Over int

// What a draw chooses from.
const (
	Individual Over = iota // the edges of one transit
	Collective             // the edges of all transits of the sample; blocks are one sample
	Everywhere             // all vertices, by Score
)

// Unique says which vertices a sample does not add twice. A draw of such a vertex is made
// again, at most 255 times; then it adds nothing.
type Unique int

// What is unique.
const (
	Repeats  Unique = iota // any vertex may come again
	InStep                 // a step adds no vertex twice (NextDoor's unique)
	InSample               // a sample holds no vertex twice
)

// Output says what a sampler's samples are.
type Output int

// Kinds of samples.
const (
	Steps    Output = iota // what each step added: Program.Run
	Layers                 // blocks: Program.Blocks
	Together               // the vertices of all samples, and all edges among them: Program.Blocks
	Apart                  // the same for each sample on its own, side by side: Program.Blocks
)

// Field is numbers of the state of a sample.
type Field struct {
	Name  string
	Len   int  // how many
	Roots bool // they begin as the first roots of the sample; else as 0
}

func (s *Sampler) roots() int { return max(1, s.Roots) }

func (s *Sampler) size(step int) int {
	if s.Size == nil {
		return 1
	}
	return s.Size(step)
}
