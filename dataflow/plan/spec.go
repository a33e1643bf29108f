package plan

// ValueKind says where a vertex tensor comes from.
type ValueKind uint8

const (
	Input  ValueKind = iota // given: lives in host memory
	Stored                  // made in one phase, read in later ones
	Temp                    // made and read inside one visit of an interval
)

// Value is a vertex tensor: V rows of RowBytes.
type Value struct {
	Name     string
	Pos      string // the user's line
	Kind     ValueKind
	Cols     int
	RowBytes int64
	Set      uint8 // whose rows it has: 0 a full graph's, l+1 those of level l of sampled blocks
	Output   bool  // wanted in host memory after the step
	State    bool  // an Input whose rows a step also writes, in place, after it has read them
	// Derive makes the value of a streamed interval from other values that arrived with
	// it, instead of loading it: OtherValue operands at that interval. Such a value is a
	// Temp that is read as OtherValue only.
	Derive *Call
}

// GlobalKind says how a Global lives.
type GlobalKind uint8

const (
	Param GlobalKind = iota // set from outside, changed by the update
	Const                   // set from outside before every step
	Sum                     // zeroed at the start of a step, summed into
	Made                    // computed from other Globals
)

// Global is a matrix that does not depend on rows: Rows×Cols floats, dense.
type Global struct {
	Name       string
	Kind       GlobalKind
	Rows, Cols int
	Carry      bool // of kind Sum: behind the matrix lies what each number is short of its sum
}

// Bytes of the matrix.
func (g Global) Bytes() int64 { return int64(g.Rows) * int64(g.Cols) * 4 }

// Room is its device memory in bytes.
func (g Global) Room() int64 {
	if g.Carry {
		return 2 * g.Bytes()
	}
	return g.Bytes()
}

// Dir is the direction of a region: whose rows own the accumulators.
type Dir uint8

const (
	CSC Dir = iota // destinations own, sources stream
	CSR            // sources own, destinations stream
)

// String is csc or csr.
func (d Dir) String() string { return [...]string{"csc", "csr"}[d] }

// OperandKind says what an operand of a call stands for.
type OperandKind uint8

const (
	OwnValue   OperandKind = iota // a vertex tensor at the interval being visited
	OtherValue                    // a vertex tensor at the streamed interval
	GlobalRef                     // a Global
	EdgeTemp                      // a buffer of one row an edge, for the cell in hand
)

// Operand binds one buffer of a kernel.
type Operand struct {
	Kind  OperandKind
	ID    int // index into Values, Globals or EdgeTemps
	Write bool

	// Indexable says that the kernel reads rows of the value one by one, so that they may lie in a table (Sets.InTable).
	Indexable bool
}

// ofRows tells whether o is a vertex tensor.
func (o *Operand) ofRows() bool { return o.Kind == OwnValue || o.Kind == OtherValue }

// Reads tells whether o reads rows of value id.
func (o *Operand) Reads(id int) bool { return o.ofRows() && o.ID == id && !o.Write }

// Call runs one kernel.
type Call struct {
	Kernel   int
	Operands []Operand
	Rows     int // of a Globals step
	Cost     Cost
}

// Cost is the work of one call, for the simulator: so much an own row, an edge, a
// call. In a call over a cell, own rows are those that have an edge in it.
type Cost struct {
	RowDense, EdgeDense float64 // FLOPs of dense products (2 a multiply-add)
	RowElem, EdgeElem   float64 // element-wise operations, one a computed float
	RowBytes            int64   // read and written in order, an own row
	EdgeBytes           int64   // read and written in order, an edge: cell arrays and edge buffers
	SumBytes            int64   // written and read between the kernels of a call for sums over rows, an own row; 0 where only the optimiser reads the sums
	AccBytes            int64   // accumulator state read and written, an own row
	GatherBytes         int64   // read from the rows of the streamed interval, an edge
	OtherBytes          int64   // of one row of the streamed interval, all operands
	Others              int     // operands of the streamed interval
	FixedBytes          int64   // Globals read and written, a call
	Packed              bool    // the cell's far ends of edges are
	Products            int     // dense products, each a kernel of its own, of a tile
	Passes              int     // kernels beside them, of a tile
	Tile                int     // own rows (edges, where EdgeDense is) that they work on at a time; 0: all
}

// StepKind says what a step ranges over.
type StepKind uint8

const (
	Rows    StepKind = iota // the rows of the visited interval
	Stream                  // the cells of the visited interval, in Dir
	Globals                 // Globals only, once a phase, before its visits
	Tail                    // zeros behind the rows of Value that belong to set From, up to those of Set
)

// Step is a sequence of calls over the interval, over each of its cells, or once.
type Step struct {
	Kind  StepKind
	Dir   Dir
	Set   uint8 // whose rows, or edges: as Value.Set
	From  uint8 // Tail
	Value int   // Tail
	Calls []Call
	Label string // layer and stage, for prints and traces
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

// SetOf is the set whose rows operand o, a vertex tensor, has in calls of st over sampled blocks. An edge set goes from the set
// of the next number to that of its own, whose rows own it in direction CSC.
func (st *Step) SetOf(o *Operand) int {
	set := int(st.Set)
	if st.Kind == Stream && (st.Dir == CSC) == (o.Kind == OtherValue) {
		set++
	}
	return set
}

// Phase is a sweep over all intervals: for each, its steps in order.
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
	EdgeTemps []int64 // bytes an edge
	Phases    []Phase
	Updates   []Move
	Results   []int // Globals that the caller wants after the step
	Maxima    []int // Globals of kind Sum that collect maxima, as ordered bit patterns
}

// Cells tells the planner the sizes of the grid: own*P+other.
type Cells struct {
	V, P, Width int
	Bytes       [2][]int64 // by Dir; nil when a direction is not used
	NNZ         [2][]int64
	Needs       [2][]int64 // rows of the other interval that a cell reads; nil: not known, taken for all
}

// Rows of interval i.
func (c *Cells) Rows(i int) int { return max(0, min(c.V, (i+1)*c.Width)-i*c.Width) }

// ChunkBytes is what a full interval of a value takes, aligned.
func (c *Cells) ChunkBytes(v *Value) int64 { return Align(int64(c.Width) * v.RowBytes) }

// Align rounds a size up to what buffers begin at multiples of.
func Align(n int64) int64 { return (n + 255) &^ 255 }
