package kernel

// What the engine asks of a backend for one kind of GPU, package kernel/cuda for CUDA: text that
// the device compiles, and the commands that launches take.

// Renderer makes programs ready for one kind of GPU. Programs are such as Check accepts.
type Renderer interface {
	// Render gives p as text for a chip. It is an error when an instruction has no code for
	// this kind of GPU.
	Render(p *Program, chip Chip) (Rendered, error)
	// Scratch is the device memory in bytes that launches of p need beside their operands:
	// over at most so many own rows, or edges of a cell. Nothing is rendered.
	Scratch(p *Program, chip Chip, rows, edges int) int64
	// Need gives the scratch memory (Need.Bytes) of launches over at most so many own rows and, if p is over edges, cells of so many edges and rows of far ends:
	// what Scratch says or, if rows are then laid out anew within room bytes, what that takes.
	Need(p *Program, chip Chip, room int64) Need
	// Optimizer is a kernel that updates parameters, and one that moves running statistics. The first takes step (the
	// numbers of the step), note and, of each of UpdatesTogether parameters, numbered from 0 on, w0 (the parameter), g0 (its gradient), m0 and v0
	// (moments that the kind has), n0 (its length), decay0 (the bits of a float32) and number0, whose complement the note gets; the second has no
	// moments, and a share in place of the decay. Blocks are of the parameter that is their second index.
	Optimizer(kind Optimizer) GPUText
	// Join adds what two devices have summed: its first kernel adds float32, its second
	// takes the larger of Ordered numbers. They take a, which gets the result, b and n, the length.
	Join() GPUText
	// Blocks are kernels that make parts of sampled blocks on the device (BlockTake and so on).
	Blocks() GPUText
}

// Need is what launches of a program need of scratch memory.
type Need struct {
	Bytes   func(rows, edges, far int) int64
	Between int64 // Layout.Between
	Moved   Moved
}

// Moved is what kernels of a program over rows compute and move in memory, a row, where groups of warps multiply.
type Moved struct {
	Known    bool
	Products int   // kernels of products and of sums of products, a tile
	Kernels  int   // other kernels, a tile
	Bytes    int64 // of operands that other kernels read and write
	Groups   Flow  // products by groups of warps
	Sums     Flow  // sums of products by groups of warps
	Library  Flow  // other products
	Rest     Flow  // other sums of products
}

// Flow is operations, two a multiply and add, and bytes.
type Flow struct{ Flops, Bytes int64 }

// GPUText is source with the kernels that are wanted of it.
type GPUText struct {
	Source string
	Names  []string // in the order of GPUStep.Func
}

// Rendered is a program as text.
type Rendered interface {
	Text() GPUText
	// Steps lists what a launch does, in order.
	Steps(l *GPULaunch) []GPUStep
	// Scratch is Renderer.Scratch of the program.
	Scratch(rows, edges int) int64
}

// Optimizer is a rule by which parameters are updated.
type Optimizer uint8

// UpdatesTogether is how many parameters a launch of an optimiser's kernel updates at most.
const UpdatesTogether = 12

// The optimisers. The numbers of a step are the learning rate and, in this order, momentum, or
// beta 1, beta 2, epsilon and the two corrections of the moments; number 6 is the epoch
// that a note names, number 7 that of the update, from 1.
const (
	SGD      Optimizer = iota
	Momentum           // one moment
	Adam               // two
	AdamW              // two; the decay is apart from the gradient
)

// GPUStep is one command of a launch: a call of kernel Func, or a product.
type GPUStep struct {
	Func   int // index into the names of GPUText; -1 for a product
	Grid   [3]uint32
	Block  uint32
	Shared uint32
	Args   GPUArgs
	Beside bool // may run at the same time as the next step, which writes other rows
	Gemm   GPUGemm
	Dense  bool  // a kernel as fast as the library's products
	Tiles  bool  // a product by tiles, which TF32 makes little faster
	Halves bool  // a product in float32 by groups of warps
	Bytes  int64 // that it reads and writes, a row that edges gather once an edge
	Flops  int64 // an operation a column of each instruction, two a multiply and add of products
	Elem   int64 // of products: operations of what follows them in the same kernel
}

// GPUGemm is C = A·B, or C += A·B with Add, row-major at device addresses; TransA
// and TransB read the transpose of what lies there.
type GPUGemm struct {
	A, B, C        uint64
	M, N, K        int
	LDA, LDB, LDC  int
	TransA, TransB bool
	Add            bool
}

// GPULaunch binds a program to device memory, for one interval or one cell.
type GPULaunch struct {
	Rows        int       // own rows
	Bufs        []uint64  // addresses by operand
	Cell        *GPUCell  // the cell's edges; nil in row programs
	Index       uint64    // of a program that Indexes: a list of uint32
	Live        []int     // by operand: the rows that are there of one that is padded (Leaf.Padded); nil: none is
	First, Last bool      // edge programs: start the accumulators; finish them
	Gather      GatherWay // edge programs: the kernels of the gather
	Far         int       // edge programs: rows of the interval of the far ends; 0: not known
	Scratch     uint64    // as many bytes as Renderer.Scratch says
	Room        int64     // bytes that are there, if more; gathers lay rows out anew in what suffices
	TF32        bool      // operands of products may be rounded to 10 bits of fraction
}

// GPUCell is a cell on the device; addresses of absent parts are 0. Ptr is the list
// itself, in host memory; nil where only the device has it, and the numbers below stand for it.
type GPUCell struct {
	RowIDs, PtrAt, Other, Rank, Type, Weight, Data uint64
	Bits                                           int // of an id in Other, where the program is Packed
	Ptr                                            []uint32

	Rows, NNZ int // entries of Ptr and edges, where Ptr is nil
	Most      int // edges that a row has at most
	Far       int // rows of the far ends, of which none is laid out anew; 0: GPULaunch.Far
}

// Size is how many entries the row list has, and edges.
func (c *GPUCell) Size() (entries, edges int) {
	if c.Ptr == nil {
		return c.Rows, c.NNZ
	}
	n := len(c.Ptr) - 1
	return n, int(c.Ptr[n])
}

// GatherWay is which kernels gather.
type GatherWay uint8

// The ways to gather. One that a program has no kernel for is the nearest that it has.
const (
	ByCell    GatherWay = iota // chosen by the cell's rows and edges
	WarpSlice                  // a row a warp, slice by slice
	WarpWhole                  // a row a warp, whole rows
	FewSlice                   // a row a group of lanes, slice by slice
	FewWhole                   // a row a group of lanes, whole rows
	WarpLaid                   // WarpSlice over rows laid out anew (laid.go), where there is room for them
	FewLaid                    // FewSlice over such
)

// The bytes of shared memory that FarNear and FarTake take in blocks of 256 threads.
const (
	NearShared = 8 * 4 * 3 * 32
	FarShared  = 8 * 4 * (2*32 + 512/2)
)

// TurnShared is the bytes of shared memory of TurnPart and TurnSum, whose blocks have 1024 threads.
const TurnShared = 4 * 32

// TurnEach is how many rows each of those blocks has, a multiple of the 4096 that one takes at a time, and how many blocks there are, at most so many.
func TurnEach(rows, most int) (each, blocks int) {
	each = 4096 * max(1, (rows+4096*most-1)/(4096*most))
	return each, max(1, (rows+each-1)/each)
}

// The kernels of Renderer.Blocks. Lists of rows and ids are uint32; lengths of rows are in units of 16 bytes, words with padding and full
// without it.
const (
	BlockTake    = iota // to: n rows of table by ids
	BlockDegrees        // to: the lengths of the n rows of ptr; with inverse their inverses, of at least 1
	TurnCount           // ends, cleared before: how many edges each far end has
	TurnPart            // parts: the sum of each block's counts in ends; a block has each rows
	TurnSum             // ends: where the edges of each far end end, from the counts and parts
	TurnPut             // room: the edges by far end, and ends: where those of each begin
	TurnOrder           // other: the rows of ptr of the edges by far end, sorted within each (begins), and tables as in BlockPick
	BlockPick           // to0 to to2: the entries of table0 to table2 of edges by their number; 0 and 0: none
	FarMark             // bits, cleared before: the ids whose rows only the host has, and last: places by id with the batch's tag. slots are of hot rows (^0: none), then, first and third the places of the three batches before, whose tags are match, match2 and match3 (0: none), counts those of rows from the host, hot ones and of the batches before
	FarNear             // to: the rows that have no bit, from hot, before, earlier or eldest
	FarTake             // to: the rows that have a bit, from host; blocks take parts of all bits by next, cleared before
)
