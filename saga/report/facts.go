package report

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"

	"sagann/backend"
	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/device"
	"sagann/kernel"
)

// facts writes, as text, every fact that the bits of a training run depend on, apart from its data.
// Values, Globals, edge buffers and calls are numbered in the order in which the text first
// names them, and registers in the order in which results need them. So the text does not depend on
// how the compiler numbers, names and orders its records, and it leaves out costs, file lines,
// labels, addresses and what is chosen for speed alone. The words are literals here, not String
// methods, so that renaming something elsewhere does not change a digest.
type facts struct {
	w       io.Writer
	run     *Run
	low     *dataflow.Lowered
	extra   func(name string) []byte // Arithmetic.Extra
	values  map[int]int              // by index in the Spec: number in the text
	globals map[int]int              // likewise
	edges   map[int]int              // likewise
	calls   map[int]int              // by kernel: number of the call that runs it
}

// Arithmetic is facts that are not in the program and its plan.
type Arithmetic struct {
	Revision  int
	Device    string // Config.Device
	TF32      bool
	Seed      uint64
	Optimizer []string                   // kind and numbers of the optimiser, one per line
	Decay     func(param string) float32 // weight decay of a parameter
	Extra     func(name string) []byte   // values of an input that was computed before the first step; nil: it was not
	Sampling  string                     // sampler and batch; "": full graph
	Vertices  []byte                     // the order of vertices; nil: unknown
	Kinds     []string                   // vertex types and relations, one per line; nil: there is one of each
}

// WriteFacts writes the facts of r and a. saga.Program.Digest hashes this text: it must not change for
// runs that compute the same bits.
func (r *Run) WriteFacts(w io.Writer, a Arithmetic) {
	f := &facts{w: w, run: r, low: r.Low, extra: a.Extra, values: map[int]int{}, globals: map[int]int{}, edges: map[int]int{}, calls: map[int]int{}}
	f.line("arithmetic %d", a.Revision)
	f.device(a.Device, a.TF32)
	f.line("seed %d", a.Seed)
	f.program()
	for _, text := range a.Optimizer {
		f.line("%s", text)
	}
	f.updates(a.Decay)
	if a.Sampling != "" {
		f.line("sampled by %s", a.Sampling)
		if backend.Of(a.Device).GPU() {
			f.line("gpu blocks %d", gpuBlocks)
		}
	} else {
		f.visits()
	}
	for _, text := range a.Kinds {
		f.line("%s", text)
	}
	if a.Vertices != nil {
		f.line("vertices %x", sha256.Sum256(a.Vertices))
	}
}

func (f *facts) line(format string, a ...any) { fmt.Fprintf(f.w, format+"\n", a...) }

func number(x float32) string { return strconv.FormatFloat(float64(x), 'g', -1, 32) }

// device writes the kind of device, since each kind has its own order of sums. Only GPUs have TF32.
func (f *facts) device(name string, tf32 bool) {
	kind := backend.Of(name)
	f.line("device %s", kind.Name)
	if kind.GPU() {
		f.line("tf32 %t", tf32)
		f.line("gpu sums %d", gpuSums)
		if tf32 {
			f.line("tf32 sums %d", tf32Sums)
		}
	}
}

// gpuSums must be raised if the order of sums changes on GPUs only. 1: sums of products over rows have
// a kernel of their own. 2: wide products, too, on tensor cores; few rows are summed in more parts. 3: whether a cell is gathered by slices depends
// on its far rows; lanes have rows of few columns, and blocks rows of more than six times the mean. 4: products of 64 columns and more are
// computed by groups of warps where the chip has such. 5: tensor cores cut the second halves of their operands off. 6: sums of products over rows, too,
// are computed by groups of warps; up to four products are added in a kernel. 7: products of columns that are no multiple of four are computed so, too. 8: a warp has rows
// of up to 1,024 edges. 9: gathers multiply by numbers of the far end, come before products of gradients, and finish their sums themselves. 10: sums of products over
// rows with up to eight columns have a kernel of their own. 11: of skewed rows of few columns, warps have those of some edges.
const gpuSums = 11

// tf32Sums is the same for sums in TF32. 1: groups of warps compute them where the chip has such.
const tf32Sums = 1

// gpuBlocks is the same for sums over sampled blocks. 1: their kernels are chosen by counts alone. 2: also by that of the far ends.
const gpuBlocks = 2

// updates writes the updates in their order, in which the norm of all gradients is summed.
func (f *facts) updates(decay func(param string) float32) {
	for _, u := range f.low.Spec.Updates {
		f.line("update %s by %s decay %s", f.global(u.Param), f.global(u.Grad), number(decay(f.low.Spec.Globals[u.Param].Name)))
	}
}

// program writes the calls of a step, phase by phase.
func (f *facts) program() {
	for _, ph := range f.low.Spec.Phases {
		f.line("phase")
		for _, st := range ph.Steps {
			over := map[plan.StepKind]string{plan.Rows: "rows", plan.Stream: "edges", plan.Globals: "globals", plan.Tail: "tail"}[st.Kind]
			if st.Set > 0 {
				over += fmt.Sprintf(" of set %d", st.Set)
			}
			if st.Kind == plan.Tail {
				f.line("zeros %s behind %s of set %d", over, f.value(st.Value), st.From)
			}
			if st.Kind == plan.Stream {
				over += map[plan.Dir]string{plan.CSC: " in", plan.CSR: " out"}[st.Dir.Way()]
			}
			if r := st.Dir.Relation(); r > 0 {
				over += fmt.Sprintf(" of relation %d", r)
			}
			if st.Type > 0 {
				over += fmt.Sprintf(" of type %d", st.Type)
			}
			for i := range st.Calls {
				c := &st.Calls[i]
				if st.Kind == plan.Globals {
					over = fmt.Sprintf("globals %d", c.Rows)
				}
				f.calls[c.Kernel] = len(f.calls)
				f.call(c, fmt.Sprintf("call %d over %s", f.calls[c.Kernel], over))
			}
		}
	}
	for _, id := range f.low.Spec.Results {
		f.line("result %s", f.global(id))
	}
}

// visits writes for each device the order in which it runs calls, over which intervals, and adds sums of
// other devices. Calls that derive values on arrival are left out: they sum nothing over intervals, and how
// often they run depends on memory.
func (f *facts) visits() {
	pl := f.run.Plan
	f.line("intervals %d", pl.Cells.P)
	if w := pl.Cells.Wide; w > 0 {
		f.line("wide cells of intervals of %d", pl.Cells.Width)
		if w < pl.Cells.P {
			f.line("over %d", w)
		}
	}
	summed := map[int64]int{} // Globals that are summed into, by their offset
	for id, offset := range pl.Globals {
		if f.low.Spec.Globals[id].Kind == plan.Sum {
			summed[offset] = id
		}
	}
	for d := range pl.Devices {
		f.line("on %d", d)
		for i := range pl.Tasks {
			t := &pl.Tasks[i]
			switch {
			case int(t.Device) != d:
			case t.Kind == plan.Run && t.Step >= 0:
				f.line("run %d own %d other %d first %t last %t", f.calls[int(t.Kernel)], t.Own, t.Other, t.Is.First, t.Is.Last)
			case t.Kind == plan.Add:
				f.line("add %s of %d max %t", f.global(summed[t.Addr]), t.From, t.Is.Max)
			}
		}
	}
}

// value names a vertex tensor. Its first mention says what it is.
func (f *facts) value(id int) string {
	n, ok := f.values[id]
	if !ok {
		n = len(f.values)
		f.values[id] = n
		v := &f.low.Spec.Values[id]
		switch {
		case v.Derive != nil:
			f.call(v.Derive, fmt.Sprintf("v%d columns %d is made on arrival", n, v.Cols))
		case v.Kind != plan.Input:
			f.line("v%d columns %d", n, v.Cols)
		case f.extra(v.Name) != nil: // its numbers count, and not its name
			f.line("v%d columns %d is precomputed %x", n, v.Cols, sum(f.extra(v.Name)))
		default:
			f.line("v%d columns %d is input %q", n, v.Cols, v.Name)
		}
	}
	return fmt.Sprintf("v%d", n)
}

// sum is the SHA-256 of the values of a precomputed input.
func sum(x []byte) []byte {
	h := sha256.New()
	for part := range slices.Chunk(x, partBytes) { // may lie in a file
		h.Write(part) // a hash takes every write
		device.Drop(part)
	}
	return h.Sum(nil)
}

// partBytes is how many bytes of a file are hashed before their pages are dropped from the process.
const partBytes = 8 << 20

// global names a matrix that does not depend on rows.
func (f *facts) global(id int) string {
	n, ok := f.globals[id]
	if !ok {
		n = len(f.globals)
		f.globals[id] = n
		g := &f.low.Spec.Globals[id]
		what := "made"
		x, constant := f.low.Consts[id]
		switch {
		case constant:
			what = "number " + number(x)
		case g.Kind == plan.Param:
			what = fmt.Sprintf("parameter %q", g.Name)
		case g.Kind == plan.Const:
			what = fmt.Sprintf("input %q", g.Name)
		case g.Kind == plan.Sum:
			what = "sum"
		}
		f.line("g%d rows %d columns %d is %s", n, g.Rows, g.Cols, what)
	}
	return fmt.Sprintf("g%d", n)
}

// operand names what operand i of call c is bound to.
func (f *facts) operand(c *plan.Call, i int) string {
	o := c.Operands[i]
	switch o.Kind {
	case plan.GlobalRef:
		return f.global(o.ID)
	case plan.EdgeTemp:
		if _, ok := f.edges[o.ID]; !ok {
			f.edges[o.ID] = len(f.edges)
		}
		return fmt.Sprintf("e%d", f.edges[o.ID])
	case plan.OtherValue:
		return "far " + f.value(o.ID)
	}
	return f.value(o.ID)
}

// call writes one kernel call: the values that it is the first to name, the registers that its results
// need, and its results.
func (f *facts) call(c *plan.Call, title string) {
	k := f.low.Kernels[c.Kernel]
	if k.Tile > 0 { // a GPU sums tile by tile
		title += fmt.Sprintf(" tile %d", k.Tile)
	}
	f.results(c, k, title)
	if k.Then != nil {
		f.results(c, k.Then, "then over its rows")
	}
}

// results writes what program k of call c computes, below a title.
func (f *facts) results(c *plan.Call, k *kernel.Program, title string) {
	r := &registers{facts: f, call: c, kernel: k, numbers: map[int]int{}, body: []string{title}}
	for i := range k.Outs {
		o := &k.Outs[i]
		word, ok := accWords[o.Acc]
		if !ok {
			panic(fmt.Sprintf("report: accumulator %d has no word in accWords", o.Acc))
		}
		text := fmt.Sprintf("%s %s = %s", word, f.operand(c, o.Operand), r.of(o.Reg))
		if o.Acc.Pair() {
			text += " by " + r.of(o.Reg2)
		}
		if o.Trans {
			text += " transposed"
		}
		if o.Aux >= 0 && (o.Acc == kernel.Max || o.Acc == kernel.SumExp) {
			text += " state " + f.operand(c, o.Aux)
		}
		r.body = append(r.body, text+keyed(o.Key, o.Blocks))
	}
	for _, text := range r.body {
		f.line("%s", text)
	}
}

var accWords = map[kernel.Acc]string{kernel.Store: "store", kernel.Sum: "sum", kernel.Max: "max", kernel.SumExp: "sum of exponentials",
	kernel.SumTN: "product", kernel.SumRows: "sum rows", kernel.SumBy: "sum by key", kernel.SumByType: "sum of products by type", kernel.SumTNByType: "product by type", kernel.MaxBy: "max by key", kernel.SumSparse: "sparse product"}

func keyed(k kernel.Key, blocks int) string {
	switch {
	case k == kernel.ByType:
		return fmt.Sprintf(" type of %d", blocks)
	case k == kernel.ByRank:
		return fmt.Sprintf(" rank of %d", blocks)
	case blocks > 0:
		return fmt.Sprintf(" blocks %d", blocks)
	}
	return ""
}

// registers writes the registers of one call, each before those that read it.
type registers struct {
	*facts
	call    *plan.Call
	kernel  *kernel.Program
	numbers map[int]int // by register
	body    []string
}

func (r *registers) of(reg int) string {
	n, ok := r.numbers[reg]
	if !ok {
		var text string
		if i := slices.IndexFunc(r.kernel.Leaves, func(l kernel.Leaf) bool { return l.Reg == reg }); i >= 0 {
			text = r.leaf(&r.kernel.Leaves[i])
		} else {
			i := slices.IndexFunc(r.kernel.Instrs, func(in kernel.Instr) bool { return in.Dst == reg })
			text = r.instr(&r.kernel.Instrs[i])
		}
		n = len(r.numbers)
		r.numbers[reg] = n
		r.body = append(r.body, fmt.Sprintf("r%d columns %d = %s", n, r.kernel.Widths[reg], text))
	}
	return fmt.Sprintf("r%d", n)
}

func (r *registers) leaf(l *kernel.Leaf) string {
	if l.From == kernel.Cell {
		return map[kernel.CellArray]string{kernel.Rank: "rank", kernel.Type: "type", kernel.Weight: "weight", kernel.Data: "data"}[l.Array] + " of the edge"
	}
	text := r.operand(r.call, l.Operand) + keyed(l.Key, l.Blocks)
	if l.Spread {
		text += " for every row"
	}
	return text
}

// instr is an operation with its attributes. Its name is the one that ops/ gives it: an op that is
// renamed there keeps its old name here.
func (r *registers) instr(in *kernel.Instr) string {
	name := in.Op
	switch in.Role {
	case kernel.MatMul:
		name = "matmul"
	case kernel.MatMulNT:
		name = "matmul nt"
	}
	text := fmt.Sprintf("%s(%d %d %s)", name, in.I, in.J, number(in.F))
	for _, x := range in.In {
		text += " " + r.of(x)
	}
	return text
}
