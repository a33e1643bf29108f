package kernel

import (
	"cmp"
	"fmt"
	"strings"
)

// A launch works on so many rows (or edges, where products stand on edges) at a time as
// Program.Tile says: what lies between its kernels is a few such tiles, not whole tensors.
// Products waste least where their blocks of 256 rows fill the 132 multiprocessors of a
// large GPU a whole number of times.
const (
	tileWave    = 132 * 256
	defaultTile = 4 * tileWave
	largestTile = 1 << 18
	leastTile   = 1 << 12
)

// tile is the rows that the program's launches work on at a time.
func (c *CUDA) tile() int { return cmp.Or(c.p.Tile, defaultTile) }

// TileWithin is the Tile with which p takes about so many bytes of scratch memory on a
// GPU; 0 bytes is no bound.
func TileWithin(p *Program, bytes int64) (int, error) {
	c, err := RenderCUDA(p)
	if err != nil || bytes == 0 {
		return largestTile, err
	}
	row := int64(0)
	for _, n := range c.room {
		row += 4 * int64(n)
	}
	n := min(largestTile, bytes/max(1, row))
	if n >= tileWave && n < largestTile {
		n = n / tileWave * tileWave
	}
	return int(max(leastTile, n)), nil
}

// cudaBlocks is the number of partial sums of a sum over rows.
const cudaBlocks = 256

// CUDA is a program as text for a GPU: kernels in Source, and the steps that a launch
// takes. Element-wise and row-wise instructions are fused into kernels that give a
// group of lanes a row; products stand between them; an edge program without products
// is one gather kernel with a warp a row, or a group of lanes where rows have few edges.
type CUDA struct {
	Source string   // CUDA C++
	Names  []string // its kernels, in the order of CUDAStep.Func

	p      *Program
	level  []int        // register -> fragment that makes it available
	home   []cudaHome   // register -> where it lies in memory, if it does
	order  []int        // registers with scratch memory
	slot   []int        // register -> its place there
	room   []int        // place -> floats a row
	frags  []cudaKernel // by level; no name where there is nothing to do
	gather []cudaGather // edge programs: the accumulators; slice by slice and, last, whole rows
	start  bool         // accumulators are started and finished by kernels of their own
	dense  bool         // an edge program with products or sums over all edges: runs by tiles
}

// cudaKernel is a kernel and its shape.
type cudaKernel struct {
	fn     int // index in Names, -1 when empty
	groups int // rows (warps in gathers) a block
	block  int // threads of a block
	shared uint32
	slices int
	row    work // of a row (or an edge of a tile); of an entry of the row list in gathers
	edge   work // gathers: of an edge
}

// cudaGather is the kernels of one way to gather.
type cudaGather struct {
	rows   cudaKernel
	few    cudaKernel // for rows of few edges; no name without
	hub    cudaKernel // for rows of many edges; no name where one kernel does them all
	large  int        // edges that a row has at most which is not of many
	far    int64      // bytes of the cache that a row of the far end takes, of all operands
	slice  int64      // and a slice of it
	narrow bool       // two slices make the row
}

// cudaHome is the memory that holds a register: rows of ld floats, row i of the tile
// at i from the tile's start.
type cudaHome struct {
	kind    homeKind
	operand int // of homeBuf
	array   CellArray
	ld      int
}

type homeKind uint8

const (
	homeNone    homeKind = iota
	homeBuf              // an operand, from its first row on
	homeCell             // an array of the cell
	homeScratch          // scratch memory
)

// RenderCUDA checks p and renders it. It is an error when an instruction has no CUDA
// code.
func RenderCUDA(p *Program) (*CUDA, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	p = halves(p)
	c := &CUDA{p: p}
	if p.Edges {
		for i := range p.Instrs {
			c.dense = c.dense || p.Instrs[i].Role.Product()
		}
		for i := range p.Outs {
			c.dense = c.dense || p.Outs[i].Acc.Global()
		}
	}
	c.assign()
	var b strings.Builder
	b.WriteString(cudaPrelude)
	if p.Packed {
		b.WriteString(cudaFar)
	}
	for l := range c.frags {
		c.frags[l].fn = -1
		if err := c.fragment(&b, l); err != nil {
			return nil, err
		}
	}
	if p.Edges {
		b.WriteString(cudaFold)
		if err := c.gatherKernel(&b); err != nil {
			return nil, err
		}
	}
	for i := range p.Outs {
		if a := p.Outs[i].Acc; a == SumRows || a == SumTN {
			b.WriteString(cudaColumns)
			c.Names = append(c.Names, "saga_columns", "saga_columns_add")
			break
		}
	}
	c.byKernels(&b)
	c.Source = b.String()
	return c, nil
}

func (c *CUDA) name(s string) int {
	c.Names = append(c.Names, s)
	return len(c.Names) - 1
}

func (c *CUDA) lookup(s string) int {
	for i, n := range c.Names {
		if n == s {
			return i
		}
	}
	panic("kernel " + c.p.Name + ": no CUDA kernel " + s)
}

// assign finds the fragment of every register and where registers lie that pass from
// one kernel to another.
func (c *CUDA) assign() {
	p := c.p
	n := len(p.Widths)
	c.level, c.home = make([]int, n), make([]cudaHome, n)
	leaf := make([]int, n)
	need := make([]bool, n) // must lie in memory
	for i := range leaf {
		leaf[i] = -1
	}
	for i, l := range p.Leaves {
		leaf[l.Reg] = i
		switch {
		case l.Half: // products read floats
		case l.From == Own && !p.Edges && l.Key == NoKey, l.From == EdgeBuf:
			c.home[l.Reg] = cudaHome{kind: homeBuf, operand: l.Operand, ld: l.LD}
		case l.From == Cell && l.Array != Type:
			c.home[l.Reg] = cudaHome{kind: homeCell, array: l.Array, ld: l.Cols}
		}
	}
	for _, o := range p.Outs {
		if o.Acc == Store && leaf[o.Reg] < 0 && c.home[o.Reg].kind == homeNone {
			c.home[o.Reg] = cudaHome{kind: homeBuf, operand: o.Operand, ld: o.LD}
		}
	}
	levels := 1
	for _, in := range p.Instrs {
		for _, r := range in.In {
			c.level[in.Dst] = max(c.level[in.Dst], c.level[r])
		}
		if in.Role.Product() {
			need[in.In[0]], need[in.Dst] = true, true
			c.level[in.Dst] = c.level[in.In[0]] + 1
		}
		levels = max(levels, c.level[in.Dst]+1)
	}
	for _, in := range p.Instrs {
		for k, r := range in.In {
			if (!in.Role.Product() || k == 0) && leaf[r] < 0 && c.level[in.Dst] > c.level[r] {
				need[r] = true
			}
		}
	}
	for _, o := range p.Outs {
		switch {
		case o.Acc.Pair():
			need[o.Reg], need[o.Reg2] = true, true
		case o.Acc == SumRows, c.dense && o.Acc != Store && leaf[o.Reg] < 0:
			need[o.Reg] = true
		}
	}
	if p.Edges && !c.dense { // one kernel does it all
		clear(need)
		levels = 0
	}
	c.frags = make([]cudaKernel, levels)
	for r := range need {
		if need[r] && c.home[r].kind == homeNone {
			ld := p.Widths[r]
			if ld > 1 {
				ld = (ld + 3) &^ 3
			}
			c.home[r] = cudaHome{kind: homeScratch, ld: ld}
			c.order = append(c.order, r)
		}
	}
	c.place()
}

// Scratch is the device memory in bytes that launches over at most so many own rows
// and edges of a cell need beside their operands.
func (c *CUDA) Scratch(rows, edges int) int64 {
	n := int64(min(rows, c.tile()))
	if c.p.Edges {
		n = int64(min(edges, c.tile()))
	}
	var at int64
	for _, room := range c.room {
		at += align256(n * int64(room) * 4)
	}
	return at + c.partials(int(n))
}

// partials is the room of partial sums over tiles of at most n rows.
func (c *CUDA) partials(n int) int64 {
	var most int64
	for _, o := range c.p.Outs {
		if o.Acc == SumRows {
			most = max(most, align256(int64(c.p.Widths[o.Reg])*cudaBlocks*4))
		}
		if o.Acc == SumTN {
			size := c.p.Widths[o.Reg] * c.p.Widths[o.Reg2]
			most = max(most, align256(int64(size)*int64(productRoom(size, n))*4))
		}
		if o.Acc == SumBy {
			most = max(most, byBytes(c.p.Widths[o.Reg]*o.Blocks))
		}
	}
	return most
}

func align256(n int64) int64 { return (n + 255) &^ 255 }

// params is the parameter list that all kernels of the program share.
func (c *CUDA) params() string {
	var b strings.Builder
	write := make([]bool, c.p.Operands)
	for _, o := range c.p.Outs {
		write[o.Operand] = true
		if o.Aux >= 0 {
			write[o.Aux] = true
		}
	}
	for i := range c.p.Operands {
		if write[i] {
			fmt.Fprintf(&b, "float *b%d, ", i)
		} else {
			fmt.Fprintf(&b, "const float *__restrict__ b%d, ", i)
		}
	}
	for _, r := range c.order {
		fmt.Fprintf(&b, "float *s%d, ", r)
	}
	if c.p.Edges {
		b.WriteString("const unsigned *__restrict__ rowids, const unsigned *__restrict__ ptr, const unsigned *__restrict__ other, " +
			"const float *__restrict__ rank, const unsigned *__restrict__ type, const float *__restrict__ weight, " +
			"const float *__restrict__ data, ll bits, ll entries, ll from, ll to, ")
	}
	b.WriteString("ll first, ll n, ll begin, ll end")
	if c.p.Edges {
		b.WriteString(", ll large") // rows of more edges are the hub kernel's
	}
	return b.String()
}
