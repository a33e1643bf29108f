package kernel

// Args is what one strip call sees: Rows dense rows of every operand.
type Args struct {
	Rows    int
	Out     []float32   // Rows×OutCols
	OutCols int         //
	In      [][]float32 // each Rows×InCols[i], except a Global operand of a Row op, which is the whole matrix
	InCols  []int
	InRows  []int // rows of a Global operand, 0 for the others
	I, J    int32 // attributes of the op
	F       float32
}

// StripFunc computes one op over a strip. It must treat rows independently: the
// result of a row may depend neither on Rows nor on the row's place in the strip.
type StripFunc func(*Args)

// From says where a leaf is read.
type From uint8

const (
	Own     From = iota // the row of the interval being visited
	Other               // the row at the far end of the edge
	Cell                // an array of the cell: Attr names it
	EdgeBuf             // a buffer of one row an edge of the cell
	Global              // a matrix that does not depend on rows
)

// Key selects a block of columns by a number that the edge carries.
type Key uint8

// The keys of keyed movements.
const (
	NoKey  Key = iota
	ByType     // the edge's type
	ByRank     // the edge's position in its destination's in-list; past the last block: nothing
)

// CellArray names the per-edge arrays that a cell may carry.
type CellArray uint8

// The arrays of a cell.
const (
	Rank CellArray = iota
	Type
	Weight
	Data
)

// Leaf loads an operand into register Reg.
type Leaf struct {
	From    From
	Operand int       // index into Launch.Bufs (Own, Other, EdgeBuf, Global)
	Array   CellArray // for Cell
	Cols    int       // width of the register
	LD      int       // floats from one row of the buffer to the next
	Rows    int       // rows of a Global
	Key     Key       // Own or Other, keyed: block key(e) of Blocks
	Blocks  int
	Half    bool // Own or Other, on GPUs (halves.go): rows of bfloat16, two to a float of LD
	Spread  bool // a Global row repeated for every row of the strip (operand of an element-wise op)
	Indexed bool // Own or Other: row r is row Index[r] of the launch (indexed.go)
	Padded  bool // Own: rows from Live of the launch on are zeros, and are not there (then.go)
	Reg     int
}

// Role is what an instruction means to a backend beyond its strip function and its
// expression. Backends ask for the role, never for an op's name.
type Role uint8

// The roles of instructions.
const (
	Func         Role = iota // nothing beyond
	MatMul                   // In[0] · In[1], In[1] Global: backends have products of their own
	MatMulNT                 // In[0] · In[1]ᵀ, In[1] Global
	Mul                      // In[0] times In[1], column by column
	Square                   // In[0] times itself
	Neg                      // -In[0]
	Eq                       // 1 where In[0] = In[1], 0 elsewhere
	Mask                     // In[0] where In[1] is not 0, 0 elsewhere
	Widen                    // column c is column c / (columns / columns of In[0]) of In[0]
	GroupSum                 // sums of neighbouring columns of In[0], so many each
	Concat                   // all of In side by side
	Unpack                   // I columns of words of two bfloat16
	SparseMatMul             // In[0] · In[1], In[0] sparse rows (ops/sparse.go), In[1] Global
	SparseDrop               // In[0], sparse rows, with entries dropped by In[1], the step, and In[2], the row's identity
	Plus                     // In[0] plus In[1], column by column
)

// Product tells whether r is a product of matrices.
func (r Role) Product() bool { return r == MatMul || r == MatMulNT }

// Apart tells whether GPUs have a kernel for r alone, which reads In[0] from memory.
func (r Role) Apart() bool { return r.Product() || r == SparseMatMul || r == SparseDrop }

// Instr computes register Dst.
type Instr struct {
	Op   string // its name, for errors, comments and digests
	Role Role
	Fn   StripFunc // for Func
	CUDA string    // the op's expression, for the CUDA renderer
	Dst  int
	In   []int
	I, J int32
	F    float32
}

// Acc is what happens to a result.
type Acc uint8

const (
	Store       Acc = iota // row programs: row r of the buffer = register row; region programs: an EdgeBuf row
	Sum                    // own row += register, over the edges of the row
	Max                    // own row = max over edges; Aux receives the rank of the arg-max (lowest on ties); 0 without edges
	SumExp                 // own row = Σ exp(x - max) over edges, and Aux receives max, the maximum of the column; 1 and 0 without edges
	SumTN                  // Global += In[Reg]ᵀ · In[Reg2] over all rows
	SumRows                // Global (1×c) += Σ rows of Reg
	SumBy                  // Global (Blocks×c): row key += row of Reg, the key standing in Reg2; none below 0 or from Blocks on
	SumSparse              // Global (Blocks×c): += Reg2ᵀ · Reg over all rows, Reg2 holding sparse rows
	SumByType              // own row += In[Reg] · block key(e) of the Global in Reg2, Blocks matrices one below the other; with Trans, its transpose. On CPUs only
	SumTNByType            // Global (Blocks matrices): block key(e) += In[Reg]ᵀ · In[Reg2], Reg2 a row of the own end; with Trans, its transpose. On CPUs only
	MaxBy                  // as SumBy, with the maximum, as Ordered numbers: a row that nothing reached stays 0
)

// KeyedRows tells whether a adds rows to rows of a Global that Reg2 names.
func (a Acc) KeyedRows() bool { return a == SumBy || a == MaxBy || a == SumSparse }

// Global tells whether a reduces over all rows into a Global.
func (a Acc) Global() bool { return a == SumTN || a == SumTNByType || a == SumRows || a.KeyedRows() }

// Pair tells whether a result of a reads Reg2.
func (a Acc) Pair() bool { return a == SumTN || a.ByType() || a.KeyedRows() }

// ByType tells whether a multiplies sums of the edges of one row and one type.
func (a Acc) ByType() bool { return a == SumByType || a == SumTNByType }

// Out is one result of a program.
type Out struct {
	Acc     Acc
	Reg     int
	Reg2    int // of results that are pairs
	Operand int
	Aux     int // operand of the second state buffer (Max, SumExp); -1 when absent
	LD      int
	AuxLD   int
	Carry   bool // SumTN, SumRows: the Global is two, its sums and what they are short of (cpu/long_sums.go)
	Key     Key  // Sum: into block key(e) of Blocks; SumByType, SumTNByType: the block of the Global
	Trans   bool // SumByType: the matrices are transposed; SumTNByType: the products
	Blocks  int  // also SumBy, MaxBy, SumSparse: rows of the Global
	Quiet   bool // Sum, Max, SumExp: only Then reads it, and a GPU does not write it; Aux it does
}

// Program is a fused computation. Edge programs run once a cell with own rows on
// one side; row programs have no edges and only Own and Global leaves.
type Program struct {
	Name     string
	Edges    bool
	Widths   []int // columns of every register
	Leaves   []Leaf
	Instrs   []Instr
	Outs     []Out
	Operands int
	Packed   bool     // edges of cells hold far ends as chunk.Want.Pack says
	Ascend   bool     // ranks of a row's edges ascend in every cell (chunk.Want.Ascend)
	Tile     int      // rows, or edges of products on them, that a GPU works on at a time; 0: a default
	Then     *Program // of a gather: what its own rows become when all their edges are added (then.go); nil: nothing
}
