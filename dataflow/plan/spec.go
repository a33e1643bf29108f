package plan

import "fmt"

// ValueKind says where a vertex tensor comes from and how long it lives.
type ValueKind uint8

const (
	Input  ValueKind = iota // the program's input; host memory has it
	Stored                  // computed in one phase, read in later ones
	Temp                    // computed and read inside one visit of an interval
)

// Value is a vertex tensor: V rows of RowBytes.
type Value struct {
	Name     string
	Pos      string // the user's line
	Kind     ValueKind
	Cols     int
	RowBytes int64
	Set      uint16 // its row set: 0 the vertices of a full graph, else one of sampled blocks (Numbers)
	Type     uint16 // the type of its vertices
	Output   bool   // the caller wants it in host memory after the step
	State    bool   // an Input whose rows a step also writes, in place, after it has read them
	// Derive is the call that computes the value at a streamed interval when that interval
	// arrives, so that it need not be loaded. Its operands are OtherValue operands at the same
	// interval. A derived value is a Temp that is read as OtherValue only.
	Derive *Call
}

// GlobalKind says who writes a Global.
type GlobalKind uint8

const (
	Param GlobalKind = iota // set by the caller, changed by the update
	Const                   // set by the caller before every step
	Sum                     // zeroed at the start of a step; visits of intervals add to it
	Made                    // computed from other Globals
)

// Global is a matrix that does not depend on rows: Rows×Cols floats, dense.
type Global struct {
	Name       string
	Kind       GlobalKind
	Rows, Cols int
	Carry      bool // kind Sum: a second matrix behind it has the rounding error of each number
}

// Bytes of the matrix alone.
func (g Global) Bytes() int64 { return int64(g.Rows) * int64(g.Cols) * 4 }

// Room is its device memory in bytes, the Carry matrix included.
func (g Global) Room() int64 {
	if g.Carry {
		return 2 * g.Bytes()
	}
	return g.Bytes()
}

// Dir is the direction of a gather over a relation: which end of its edges has the accumulators. A relation has cells of its own for
// each of its two directions, so that a direction names cells, too.
type Dir uint16

// The directions of the first relation; Of gives those of others.
const (
	CSC Dir = iota // sums at destinations; chunks of sources stream
	CSR            // sums at sources; chunks of destinations stream
)

// Of is direction d, CSC or CSR, of relation r.
func (d Dir) Of(r int) Dir { return Dir(2*r) + d }

// Relation is the number of the relation.
func (d Dir) Relation() int { return int(d / 2) }

// Way is CSC or CSR.
func (d Dir) Way() Dir { return d % 2 }

// String is csc or csr, with the number of the relation unless it is the first: csr/2.
func (d Dir) String() string {
	name := [...]string{"csc", "csr"}[d.Way()]
	if r := d.Relation(); r > 0 {
		name += fmt.Sprintf("/%d", r)
	}
	return name
}

// OperandKind says what an operand of a call stands for.
type OperandKind uint8

const (
	OwnValue   OperandKind = iota // a vertex tensor at the interval being visited
	OtherValue                    // a vertex tensor at the streamed interval
	GlobalRef                     // a Global
	EdgeTemp                      // a buffer with one row per edge of the cell that is being worked on
)

// Operand binds one buffer of a kernel.
type Operand struct {
	Kind  OperandKind
	ID    int // index into Values, Globals or EdgeTemps
	Write bool

	// Indexable says that the kernel reads rows of the value one by one, so that they may lie in a table (Sets.InTable).
	Indexable bool
	// Paddable says that the kernel needs no zeros in memory behind the rows that are there.
	Paddable bool
}

// ofRows tells whether o is a vertex tensor.
func (o *Operand) ofRows() bool { return o.Kind == OwnValue || o.Kind == OtherValue }

// Reads tells whether o reads rows of value id.
func (o *Operand) Reads(id int) bool { return o.ofRows() && o.ID == id && !o.Write }

// Call runs one kernel.
type Call struct {
	Kernel   int
	Operands []Operand
	Rows     int // in a Globals step: the rows of the Global that the call works on
	Cost     Cost
}

// Cost is the work of one call, for the simulator: per own row, per edge and per call. In a call
// over a cell only own rows that have an edge in the cell count.
type Cost struct {
	RowDense, EdgeDense float64 // FLOPs of dense products, per own row and per edge (a multiply-add is 2)
	RowElem, EdgeElem   float64 // element-wise operations, one for each float computed, per own row and per edge
	RowHard, EdgeHard   float64 // those of them that take exponentials, divisions or the like
	RowBytes            int64   // bytes per own row, read and written in order
	EdgeBytes           int64   // bytes per edge, read and written in order: cell arrays and edge buffers
	More                More    // what only some kernels of the call move and do
	AccBytes            int64   // bytes of accumulators per own row, read and written
	GatherBytes         int64   // bytes per edge, read from rows of the streamed interval
	GatherPad           int64   // bytes per edge that a GPU's lanes could read beside them and do not
	OtherBytes          int64   // bytes of one row of the streamed interval, over all operands there that count for the cache
	Others              int     // these operands
	FixedBytes          int64   // bytes of Globals per call, read and written
	Packed              bool    // the call reads far ends of edges from a packed cell
	Laid                Laid    // rows of the streamed interval that a GPU lays out anew
	Products            int     // dense products per tile, each a kernel
	Passes              int     // other kernels per tile
	Tile                int     // rows per tile (edges if EdgeDense > 0); 0: all at once
}

// More is a part of Cost, per own row.
type More struct {
	Sums     int64   // bytes that kernels of the call write and read again for sums over rows; 0 if only the optimiser reads the sums
	Again    int64   // bytes that kernels of products and of their sums read which another kernel of the call reads, too
	Last     int64   // bytes that the last cell of the row reads and writes beside AccBytes; below 0: so many less
	LastElem float64 // element-wise operations of that cell
	Between  int64   // bytes that kernels of a tile write to scratch memory and read there (kernel.Layout.Between)
	Scratch  int64   // bytes of scratch memory that a tile takes, of all its rows
	Moved    Moved
}

// Moved is what kernels of a call over rows compute and move in memory, a row, where a backend knows (kernel.Moved).
type Moved struct {
	Known                       bool
	Products, Kernels           int
	Bytes                       int64
	Groups, Sums, Library, Rest Flow
}

// Flow is operations, two a multiply and add, and bytes.
type Flow struct{ Flops, Bytes int64 }

// Laid is how a GPU lays rows of the streamed interval out anew in scratch memory before edges read them (kernel.Laying).
type Laid struct {
	Row   int64 // bytes that a row takes there at least; 0: rows are read where they lie
	Terms bool  // rows are lists of the terms of a maximum's gradient; otherwise two lie side by side
	Edges int64 // edges that rows have at least, in the mean, where that is done
	Room  int64 // bytes that there are
}

// StepKind says what a step ranges over.
type StepKind uint8

const (
	Rows    StepKind = iota // the rows of the visited interval
	Stream                  // the cells of the visited interval, in Dir
	Globals                 // Globals only, once per phase, before its visits
	Tail                    // sampled blocks: zeros for the rows of Value from the end of set From to the end of Set
)

// Step is a sequence of calls over the interval, over each of its cells, or once.
type Step struct {
	Kind  StepKind
	Dir   Dir
	Set   uint16 // the row set, or for Stream the edge set, numbered as Value.Set
	Type  uint16 // the type of the rows of the visited interval: other intervals skip the step
	From  uint16 // Tail only
	Src   uint16 // Stream over sampled blocks: the vertex set of the sources
	Dst   uint16 // and that of the destinations
	Value int    // Tail only: index into Values
	Calls []Call
	Label string // for prints and traces
}

// Reads tells whether a call of st reads value id at the streamed interval.
func (st *Step) Reads(id int) bool {
	for _, c := range st.Calls {
		for _, o := range c.Operands {
			if o.Kind == OtherValue && o.ID == id {
				return true
			}
		}
	}
	return false
}

// SetOf is the set whose rows operand o, a vertex tensor, has in calls of st over sampled blocks.
func (st *Step) SetOf(o *Operand) int {
	switch {
	case st.Kind != Stream:
		return int(st.Set)
	case (st.Dir.Way() == CSC) == (o.Kind == OtherValue):
		return int(st.Src)
	}
	return int(st.Dst)
}

// Far is the set of the sources of st over sampled blocks, or with CSR that of the destinations: where the other ends of edges lie.
func (st *Step) Far() int { return st.SetOf(&Operand{Kind: OtherValue}) }

// Phase is a sweep over all intervals: each is visited, and its steps run in order.
type Phase struct {
	Label string
	Steps []Step
}

// Move pairs a parameter with its gradient for the update.
type Move struct{ Param, Grad int }

// Spec is a program ready for planning.
type Spec struct {
	Values    []Value
	Globals   []Global
	EdgeTemps []int64 // edge buffers: bytes per edge
	Phases    []Phase
	Updates   []Move
	Results   []int // Globals that the caller wants after the step
	Maxima    []int // Globals of kind Sum that collect maxima, as ordered bit patterns

	Between bool    // another program, planned with a plan of this one as its base, runs before many steps, and must leave windows as they are
	Scratch Scratch // nil: plans have no memory for what kernels take beside their operands
}

// Cells tells the planner the sizes of the grid: V vertices in P intervals of Width vertices, or of several types.
// Slices by Dir have P·P entries, that of cell (own, other) at own*P+other. A cell of 0 bytes does not exist: its intervals are not of
// the types at the ends of its relation.
type Cells struct {
	V, P, Width int
	Types       []Span    // by type: its intervals, which follow those of the type before it; nil: there is one type
	Ends        [][2]int  // by relation: the types of its sources and destinations; nil: there is one type
	Bytes       [][]int64 // by Dir: of each cell; nil: the direction is not used
	NNZ         [][]int64 // edges of each cell
	Needs       [][]int64 // different rows of the other interval that a cell reads; nil: not known, all

	// Wide is how many intervals of a type cells reach over at their far end, as far as there are so many: the cell of an own interval with the first
	// of them has all edges, and what gathers read there lies one interval behind the other. 0: one.
	Wide int
}

// Span is the intervals of a vertex type: N intervals from First on, which have V vertices, Width each but for the last ones.
type Span struct{ First, N, V, Width int }

// Rows of interval i.
func (s *Span) Rows(i int) int { return max(0, min(s.V, (i-s.First+1)*s.Width)-(i-s.First)*s.Width) }

// Has tells whether interval i is one of the type.
func (s *Span) Has(i int) bool { return s.First <= i && i < s.First+s.N }

// NewCells is a grid of one type without cells, for dirs directions.
func NewCells(v, p, width, dirs int) *Cells {
	return &Cells{V: v, P: p, Width: width, Bytes: make([][]int64, dirs), NNZ: make([][]int64, dirs), Needs: make([][]int64, dirs)}
}

// Span is the intervals of type t.
func (c *Cells) Span(t uint16) Span {
	if c.Types == nil {
		return Span{0, c.P, c.V, c.Width}
	}
	return c.Types[t]
}

// Of is the intervals of interval i's type.
func (c *Cells) Of(i int) Span {
	for t := range c.Types {
		if c.Types[t].Has(i) {
			return c.Types[t]
		}
	}
	return Span{0, c.P, c.V, c.Width}
}

// Side is the intervals that own rows in direction d, and those of the far ends.
func (c *Cells) Side(d Dir) (own, far Span) {
	if c.Types == nil {
		return c.Span(0), c.Span(0)
	}
	e := c.Ends[d.Relation()]
	own, far = c.Types[e[1]], c.Types[e[0]]
	if d.Way() == CSR {
		own, far = far, own
	}
	return own, far
}

// Reach is how many rows a cell with other interval i has at its far end.
func (c *Cells) Reach(i int) (rows int) {
	far := c.Of(i)
	first, n := c.Reached(far, i)
	for k := range n {
		rows += far.Rows(first + k)
	}
	return rows
}

// Reached is the intervals of far that cells with interval i reach over: n from first on.
func (c *Cells) Reached(far Span, i int) (first, n int) {
	w := max(1, min(c.Wide, far.N))
	k := (i - far.First) / w * w
	return far.First + k, min(w, far.N-k)
}

// FarWidth is how many rows the far end of a cell has at most, with room for intervals that are not full.
func (c *Cells) FarWidth() int {
	most := c.Width
	if c.Wide > 0 {
		for _, s := range append([]Span{{N: c.P, Width: c.Width}}, c.Types...) {
			if c.Types == nil || s.V > 0 {
				most = max(most, min(c.Wide, s.N)*s.Width)
			}
		}
	}
	return most
}

// Fars is how many cells an own interval has whose far ends are of the type of far.
func (c *Cells) Fars(far Span) int {
	w := max(1, c.Wide)
	return (far.N + w - 1) / w
}

// Begins tells whether cells with interval i of far may have edges: whether it is the first that they reach over.
func (c *Cells) Begins(far Span, i int) bool {
	first, _ := c.Reached(far, i)
	return first == i
}

// Rows of interval i.
func (c *Cells) Rows(i int) int {
	s := c.Of(i)
	return s.Rows(i)
}

// ChunkBytes is how many bytes a full interval of a value takes, aligned.
func (c *Cells) ChunkBytes(v *Value) int64 { return Align(int64(c.Span(v.Type).Width) * v.RowBytes) }

// Align rounds a size up to a multiple of 256 bytes, at which every buffer begins.
func Align(n int64) int64 { return (n + 255) &^ 255 }
