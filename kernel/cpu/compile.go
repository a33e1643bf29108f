package cpu

import (
	"fmt"
	"slices"
	"sync"

	"sagann/kernel"
)

const (
	stripFloats = 2048    // floats of the widest register of a strip, so that a few registers fit into L1
	rowStrip    = 128     // rows of a strip in row programs and in edge tiles
	lanes       = 16      // number of partial sums of a Global; fixed, so that bits do not depend on the workers
	laneFloats  = 1 << 23 // most numbers in all lanes of a reduction by key: 64 MiB of sums
)

// direct is a sum that needs no strip: own row += other rows, perhaps times a scalar for each edge.
type direct struct {
	out, leaf int
	weight    int // register of one column, or -1
}

// sums are the results that are not computed from strips one by one.
type sums struct {
	directs []direct
	fours   []four
	chosen  []chosen
	paired  []paired // by result
}

// Program is a program compiled for the CPU.
type Program struct {
	sums    sums
	p       *kernel.Program
	strip   int   // rows of a strip
	place   []int // register -> offset in a worker's scratch, per strip row; -1: aliased or skipped
	floats  int   // scratch floats per strip row
	skip    []bool
	skipIn  []bool     // instructions that only feed a direct result
	inCols  [][]int    // by instruction: the columns of each operand
	inRows  [][]int    // by instruction: the rows of each operand that is a whole Global; 0 for others
	outs    []int      // results computed from strips, one by one
	starts  []int      // results whose rows begin before their edges are read: all but those of gathered fours
	needs   bool       // whether any strip work is left
	reduces []int      // results that sum into a Global
	lanes   []int      // by result: number of partial sums of a reduction
	chain   int        // number of neighbouring blocks that one worker does in order, as they share partial sums
	then    *Program   // of a gather: what follows it; nil: nothing
	stored  []int      // register -> Store result that it may be written to directly, or -1
	mu      sync.Mutex // guards spare
	spare   []*run     // buffers for the next runs: as many as ran at the same time, gone with the program
}

// Compile checks p and lays out its registers.
func Compile(p *kernel.Program) (*Program, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	for i := range p.Leaves {
		if p.Leaves[i].Half {
			return nil, fmt.Errorf("kernel %s: leaf %d: rows of bfloat16 are read on GPUs only", p.Name, i)
		}
	}
	c := &Program{p: p, skip: make([]bool, len(p.Widths)), skipIn: make([]bool, len(p.Instrs))}
	if p.Then != nil {
		var err error
		if c.then, err = Compile(p.Then); err != nil {
			return nil, err
		}
	}
	uses, by := readers(p)
	findChosen(c, uses, by)
	findPaired(c, uses, by)
	c.findDirect(uses, by)
	c.findFour()
	skipUnread(c)
	c.findOperands()
	dense, wide := !p.Edges, 1
	for _, w := range p.Widths {
		wide = max(wide, w)
	}
	for i := range p.Instrs {
		dense = dense || p.Instrs[i].Role.Product()
	}
	for i, o := range p.Outs {
		if o.Acc.Global() {
			c.reduces = append(c.reduces, i)
			dense = dense || o.Acc == kernel.SumTN
		}
		dense = dense || o.Acc.ByType()
	}
	c.countLanes()
	c.strip = max(8, min(512, stripFloats/wide))
	if dense {
		c.strip = rowStrip
	}
	c.allocate()
	for i := range p.Outs {
		if !slices.ContainsFunc(c.sums.fours, func(f four) bool { all := f.results(); return f.leaf >= 0 && slices.Contains(all[:], i) }) {
			c.starts = append(c.starts, i)
		}
	}
	c.needs = len(c.outs)+len(c.sums.chosen) > 0 || c.sums.stripFours()
	for _, d := range c.sums.directs {
		c.needs = c.needs || d.weight >= 0
	}
	return c, nil
}

// findDirect marks the sums of gathered rows that SIMD row kernels compute without a strip.
func (c *Program) findDirect(uses, by []int) {
	p := c.p
	leaf := slices.Repeat([]int{-1}, len(p.Widths))
	for i, l := range p.Leaves {
		if l.From == kernel.Other && l.Key == kernel.NoKey {
			leaf[l.Reg] = i
		}
	}
	for i, o := range p.Outs {
		if slices.ContainsFunc(c.sums.chosen, func(f chosen) bool { return f.out == i }) {
			continue
		}
		d := direct{out: i, leaf: -1, weight: -1}
		if p.Edges && o.Acc == kernel.Sum && o.Key == kernel.NoKey {
			if l := leaf[o.Reg]; l >= 0 {
				d.leaf = l
				uses[o.Reg]--
			} else if uses[o.Reg] == 1 {
				if d.leaf, d.weight = weighted(p, uses, by, o.Reg, func(reg int) int { return leaf[reg] }); d.leaf >= 0 {
					uses[p.Leaves[d.leaf].Reg]--
				}
			}
		}
		if d.leaf >= 0 {
			c.sums.directs = append(c.sums.directs, d)
		} else {
			c.outs = append(c.outs, i)
		}
	}
	// Rows that the strip has anyway are summed there: they are not gathered twice.
	c.sums.directs = slices.DeleteFunc(c.sums.directs, func(d direct) bool {
		held := d.weight < 0 && uses[p.Leaves[d.leaf].Reg] > 0
		if held {
			c.outs = append(c.outs, d.out)
		}
		return held
	})
	slices.Sort(c.outs)
}

// skipUnread marks the instructions and leaves that no result which needs the strip depends on.
func skipUnread(c *Program) {
	read := make([]bool, len(c.p.Widths))
	for _, i := range c.outs {
		o := &c.p.Outs[i]
		f := &c.sums.paired[c.sums.paired[i].with]
		read[o.Reg] = read[o.Reg] || f.row < 0
		if o.Acc.Pair() {
			read[o.Reg2] = read[o.Reg2] || c.sums.paired[i].own < 0
		}
		if f.weight >= 0 {
			read[f.weight] = true
		}
	}
	for _, f := range c.sums.fours {
		read[f.reg] = f.leaf < 0
	}
	for _, d := range c.sums.directs {
		if d.weight >= 0 {
			read[d.weight] = true
		}
	}
	for i, in := range slices.Backward(c.p.Instrs) {
		c.skipIn[i] = !read[in.Dst]
		for _, r := range in.In {
			read[r] = read[r] || read[in.Dst]
		}
	}
	for reg, is := range read {
		c.skip[reg] = !is
	}
}

// findOperands lists the shapes of the operands of instructions.
func (c *Program) findOperands() {
	p := c.p
	whole := make([]int, len(p.Widths))
	for i := range p.Leaves {
		if l := &p.Leaves[i]; l.From == kernel.Global && !l.Spread {
			whole[l.Reg] = l.Rows
		}
	}
	for _, in := range p.Instrs {
		cols, rows := make([]int, len(in.In)), make([]int, len(in.In))
		for k, x := range in.In {
			cols[k], rows[k] = p.Widths[x], whole[x]
		}
		c.inCols, c.inRows = append(c.inCols, cols), append(c.inRows, rows)
	}
}

// never is the last use of registers that live to the end of a strip or of a launch.
const never = 1 << 30

// allocate places registers in a worker's scratch. The room of a register is reused
// after its last use.
func (c *Program) allocate() {
	p := c.p
	c.place = make([]int, len(p.Widths))
	for i := range c.place {
		c.place[i] = -1
	}
	c.findStored()
	last := c.lastUses()
	free := rooms{}
	for _, l := range p.Leaves {
		if c.skip[l.Reg] || l.From == kernel.Global && !l.Spread {
			continue
		}
		c.place[l.Reg] = c.take(&free, l.Cols)
		if l.Spread {
			last[l.Reg] = never // it is filled once per launch
		}
	}
	for i, in := range p.Instrs {
		if c.skipIn[i] {
			continue
		}
		if c.stored[in.Dst] < 0 {
			c.place[in.Dst] = c.take(&free, p.Widths[in.Dst])
		}
		for k, r := range in.In {
			if last[r] == i && c.place[r] >= 0 && !repeated(in.In[:k], r) {
				free = append(free, room{c.place[r], p.Widths[r]})
			}
		}
	}
}

// room is n floats per strip row, from at on. rooms are the free ones.
type room struct{ at, n int }
type rooms []room

// take finds room for a register of n columns.
func (c *Program) take(free *rooms, n int) int {
	for i, r := range *free {
		if r.n == n {
			*free = append((*free)[:i], (*free)[i+1:]...)
			return r.at
		}
	}
	c.floats += n
	return c.floats - n
}

// lastUses finds for each register the last instruction that uses it.
func (c *Program) lastUses() []int {
	last := make([]int, len(c.p.Widths))
	for i, in := range c.p.Instrs {
		if c.skipIn[i] {
			continue
		}
		for _, r := range in.In {
			last[r] = i
		}
	}
	for _, i := range c.outs {
		o := &c.p.Outs[i]
		last[o.Reg] = never
		if o.Acc.Pair() {
			last[o.Reg2] = never
		}
		if f := &c.sums.paired[i]; f.weight >= 0 {
			last[f.weight] = never
		}
	}
	for _, f := range c.sums.fours {
		last[f.reg] = never
	}
	for _, d := range c.sums.directs {
		if d.weight >= 0 {
			last[d.weight] = never
		}
	}
	return last
}

// findStored finds the registers that instructions can write directly to the buffer where they are stored. A
// leaf is not one of them: it is copied.
func (c *Program) findStored() {
	c.stored = make([]int, len(c.p.Widths))
	for i := range c.stored {
		c.stored[i] = -1
	}
	for _, i := range c.outs {
		if o := c.p.Outs[i]; o.Acc == kernel.Store && o.LD == c.p.Widths[o.Reg] {
			c.stored[o.Reg] = i
		}
	}
	for _, l := range c.p.Leaves {
		c.stored[l.Reg] = -1
	}
}

func repeated(rs []int, r int) bool {
	for _, x := range rs {
		if x == r {
			return true
		}
	}
	return false
}
