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
	// Optimizer is a kernel that updates one parameter. Its arguments are the addresses of
	// the numbers of the step, of the note, of the parameter and its gradient, and of the moments
	// that the kind has; then the parameter's length, its weight decay (the bits of a float32)
	// and the number that it has in the note.
	Optimizer(kind Optimizer) GPUText
	// Join adds what two devices have summed: its first kernel adds float32, its second
	// takes the larger of Ordered numbers. Arguments are two addresses, of which the first takes
	// the result, and the length.
	Join() GPUText
	// Blocks are kernels that make parts of sampled blocks on the device (BlockTake and so on).
	Blocks() GPUText
}

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

// The optimisers. The numbers of a step are the learning rate and, in this order, momentum, or
// beta 1, beta 2, epsilon and the two corrections of the moments; number 6 is the epoch
// that a note names.
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
	Args   []uint64
	Beside bool // may run at the same time as the next step, which writes other rows
	Gemm   GPUGemm
	Bytes  int64 // that it reads and writes, a row that edges gather once an edge
	Flops  int64 // an operation a column of each instruction, two a multiply and add of products
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
	First, Last bool      // edge programs: start the accumulators; finish them
	Gather      GatherWay // edge programs: the kernels of the gather
	Scratch     uint64    // as many bytes as Renderer.Scratch says
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

// The kernels of Renderer.Blocks, with their arguments: addresses, then numbers. Row lists and ids are uint32.
const (
	BlockTake    = iota // to, table, ids; how many rows, and their length in units of 16 bytes: rows of a table by number
	BlockDegrees        // to, row list; how many rows, and 1 for inverses: the lengths of rows, at least 1 of inverses
	TurnCount           // row list of far ends, cleared, far ends; how many edges
	TurnPart            // that list; its rows, and how many each block has; room of a number a block
	TurnSum             // that list; its rows, how many each block has; what TurnPart left; edges
	TurnPut             // that list, far ends; edges; room of a number an edge
	TurnOrder           // that list, far ends; edges; that room, row list; its rows; the far ends' own edges; then as BlockPick from the numbers on
	BlockPick           // how many edges; their numbers; three times where to, and a table of uint32 by number, or 0 and 0
	FarMark             // places by vertex (uint64), bits, cleared, by vertex, ids; how many, the batch's tag, and 1 for bits by place in the batch; the slot of each row of the hot ones (uint32, ^0: none); places of the batch before, its tag, or 0; those of the one before that; three counts of uint64: of rows from the host, which have bits, of hot ones and of those of these batches
	FarNear             // to, ids; how many rows, their length, and what of it is not padding; hot rows, their slots; rows of the batch before, places, its tag, or 0; the same of the one before that: copies what FarMark sets no bit of
	FarTake             // to, host memory, ids; the length of rows, and what of it is not padding; places of the batch, bits, how many parts of them are taken, cleared; how many of these, and 1 for bits by place
)
