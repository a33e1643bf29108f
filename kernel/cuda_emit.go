package kernel

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// cudaText writes the body of one kernel: what a group of g lanes does for one row.
type cudaText struct {
	c      *CUDA
	b      *strings.Builder
	g, v   int      // lanes of a group, neighbouring columns of a lane
	slice  int      // columns of a slice; 0: whole rows
	ptr    []string // register -> pointer to its row in memory, "" without
	shared int      // floats of shared memory that a group needs
	heads  int      // columns of registers of a number a head, in the layout of cuda_heads.go; 0: none
	per    int      // columns of a head
	once   bool     // loads and stores are of what is used once: it need not stay in the cache
	few    bool     // pointers to whole rows of lanes begin at the lane's first column (cuda_few.go)
	round  bool     // registers stand for those of one edge of a round (cuda_few.go)
	held   []int    // which registers a round has
	nears  []*Leaf  // which leaves have a pointer of their own
	tab    string
}

// move is the name of the device function that loads or stores.
func (t *cudaText) move(what string) string {
	if t.once {
		return "saga_" + what + "_once"
	}
	return "saga_" + what
}

func (t *cudaText) line(format string, a ...any) {
	t.b.WriteString(t.tab)
	fmt.Fprintf(t.b, format, a...)
	t.b.WriteByte('\n')
}

// shape chooses lanes and columns for registers that are at most width wide.
func (t *cudaText) shape(width int) {
	t.v, t.g = 1, 1
	if width > 1 {
		t.v = 4
	}
	for t.g < 32 && t.g*t.v < width {
		t.g *= 2
	}
}

// elems is the length of the array of a register of w columns.
func (t *cudaText) elems(w int) int {
	if t.isWidth(w) {
		return t.elems(t.heads*t.per) / t.v
	}
	if t.slice > 0 {
		w = t.slice
	}
	each := t.g * t.v
	return (w + each - 1) / each * t.v
}

func (t *cudaText) args(w int, vec bool) string {
	return fmt.Sprintf("<G, V, %d, %d, %v>", t.elems(w), w, vec)
}

// declare makes room for register r.
func (t *cudaText) declare(r int) {
	if t.round {
		t.held = append(t.held, r)
		t.line("%s", t.alias(r))
	} else if w := t.c.p.Widths[r]; w == 1 {
		t.line("float r%d;", r)
	} else {
		t.line("float r%d[%d];", r, t.elems(w))
	}
}

// load reads register r from its row at ptr.
func (t *cudaText) load(r int, ptr string, vec bool) {
	t.declare(r)
	t.fetch(r, ptr, vec)
}

func (t *cudaText) fetch(r int, ptr string, vec bool) {
	if w := t.c.p.Widths[r]; w == 1 {
		t.line("r%d = (%s)[0];", r, ptr)
	} else if t.isWidth(w) {
		t.state(fmt.Sprintf("r%d", r), ptr, w, 0, false)
	} else {
		t.line("%s%s(%s, r%d);", t.move("load"), t.args(w, vec), t.place(ptr, w, ""), r)
	}
}

// store writes register r to its row at ptr. Lanes and slices that hold the same
// number leave it to the first.
func (t *cudaText) store(r int, ptr string, vec bool) {
	if w := t.c.p.Widths[r]; w == 1 {
		t.line("if (lane == 0 && base == 0) (%s)[0] = r%d;", ptr, r)
	} else if t.isWidth(w) {
		t.state(fmt.Sprintf("r%d", r), ptr, w, 0, true)
	} else {
		t.line("%s%s(%s, r%d);", t.move("store"), t.args(w, vec), t.place(ptr, w, ""), r)
	}
}

// each is the loop over a lane's elements of a register of w columns; col is the
// column at hand.
func (t *cudaText) each(w int, body string) {
	t.line("#pragma unroll")
	if t.isWidth(w) {
		t.line("for (int k = 0; k < %d; k++) { const int col = (base + (k * G + lane) * V) / %d; if (col < %d) { %s } }",
			t.elems(w), t.per, w, body)
		return
	}
	t.line("for (int k = 0; k < %d; k++) { const int col = base + (k / V * G + lane) * V + k %% V; if (col < %d) { %s } }",
		t.elems(w), w, body)
}

// instr writes one instruction.
func (t *cudaText) instr(in *Instr) error {
	p := t.c.p
	w := p.Widths[in.Dst]
	t.declare(in.Dst)
	switch in.Op {
	case "widen":
		t.widen(in, w)
		return nil
	case "group_sum":
		t.groupSum(in, w)
		return nil
	case "join":
		in = t.joinColumns(in)
	}
	if in.CUDA == "" {
		return fmt.Errorf("kernel %s: op %s has no CUDA code", p.Name, in.Op)
	}
	t.line("{ // %s", in.Op)
	spilled := t.spill(in)
	parts := strings.Split(in.CUDA, ";")
	for _, s := range parts[:len(parts)-1] {
		t.line("%s;", t.expand(strings.TrimSpace(s), in, spilled))
	}
	last := t.expand(strings.TrimSpace(parts[len(parts)-1]), in, spilled)
	if w == 1 {
		t.line("const int col = 0; (void)col; r%d = %s;", in.Dst, last)
	} else if len(spilled) == 0 && !strings.Contains(in.CUDA, "$C") {
		t.line("#pragma unroll")
		t.line("for (int k = 0; k < %d; k++) r%d[k] = %s;", t.elems(w), in.Dst, last)
	} else {
		t.line("saga_fill(r%d, 0.f);", in.Dst)
		t.each(w, fmt.Sprintf("r%d[k] = %s;", in.Dst, last))
	}
	t.unspill(spilled)
	t.line("}")
	return nil
}

// spill puts the operands that in reads at other columns than its own where every
// lane sees them: their row in memory, or shared memory. It returns the pointers.
func (t *cudaText) spill(in *Instr) map[int]string {
	var out map[int]string
	at := 0
	for k, r := range in.In {
		i := strconv.Itoa(k)
		if !strings.Contains(in.CUDA, "$"+i+"[") {
			continue
		}
		if out == nil {
			out = map[int]string{}
		}
		w := t.c.p.Widths[r]
		switch {
		case t.ptr[r] != "": // also a matrix of one column, which has no register
			out[k] = "(" + t.ptr[r] + ")"
		case w == 1:
			out[k] = fmt.Sprintf("(&r%d)", r)
		default:
			out[k] = fmt.Sprintf("(sm + %d)", at)
			t.spillTo(at, r, w)
			at += w
		}
	}
	if at > 0 {
		t.line("__syncwarp(mask);")
		t.shared = max(t.shared, at)
	}
	return out
}

func (t *cudaText) spillTo(at, r, w int) {
	t.each(w, fmt.Sprintf("sm[%d + col] = r%d[k];", at, r))
}

// unspill keeps later writes to shared memory behind the reads.
func (t *cudaText) unspill(spilled map[int]string) {
	for _, s := range spilled {
		if strings.HasPrefix(s, "(sm") {
			t.line("__syncwarp(mask);")
			return
		}
	}
}

// expand replaces the $ words of an op's text.
func (t *cudaText) expand(text string, in *Instr, ptr map[int]string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch ch := text[i]; {
		case ch == 'I':
			fmt.Fprintf(&b, "(%d)", in.I)
		case ch == 'J':
			fmt.Fprintf(&b, "(%d)", in.J)
		case ch == 'F':
			b.WriteString(cudaFloat(in.F))
		case ch == 'C':
			b.WriteString("col")
		case ch == 'O':
			fmt.Fprintf(&b, "%d", t.c.p.Widths[in.Dst])
		case ch == 'W' && i+1 < len(text):
			i++
			fmt.Fprintf(&b, "%d", t.c.p.Widths[in.In[text[i]-'0']])
		case ch >= '0' && ch <= '9':
			k := int(ch - '0')
			switch {
			case i+1 < len(text) && text[i+1] == '[':
				b.WriteString(ptr[k])
			case t.c.p.Widths[in.In[k]] == 1:
				fmt.Fprintf(&b, "r%d", in.In[k])
			default:
				fmt.Fprintf(&b, "r%d[k]", in.In[k])
			}
		}
	}
	return b.String()
}

func cudaFloat(f float32) string {
	if math.IsInf(float64(f), 0) || math.IsNaN(float64(f)) {
		return fmt.Sprintf("__int_as_float(0x%08x)", math.Float32bits(f))
	}
	return "(" + strconv.FormatFloat(float64(f), 'e', -1, 32) + "f)"
}

// widen repeats the columns of its operand.
func (t *cudaText) widen(in *Instr, w int) {
	r, h := in.In[0], t.c.p.Widths[in.In[0]]
	if h == 1 {
		if w == 1 {
			t.line("r%d = r%d;", in.Dst, r)
		} else {
			t.line("saga_fill(r%d, r%d);", in.Dst, r)
		}
		return
	}
	if t.isWidth(h) {
		t.line("#pragma unroll")
		t.line("for (int k = 0; k < %d; k++) r%d[k] = r%d[k / V];", t.elems(w), in.Dst, r)
		return
	}
	t.line("saga_fill(r%d, 0.f);", in.Dst)
	if t.ptr[r] != "" {
		t.each(w, fmt.Sprintf("r%d[k] = (%s)[col / %d];", in.Dst, t.ptr[r], w/h))
		return
	}
	t.spillTo(0, r, h)
	t.line("__syncwarp(mask);")
	t.each(w, fmt.Sprintf("r%d[k] = sm[col / %d];", in.Dst, w/h))
	t.line("__syncwarp(mask);")
	t.shared = max(t.shared, h)
}

// groupSum adds groups of neighbouring columns, in a fixed order.
func (t *cudaText) groupSum(in *Instr, h int) {
	r, w := in.In[0], t.c.p.Widths[in.In[0]]
	switch {
	case w == 1:
		t.line("r%d = r%d;", in.Dst, r)
	case t.isWidth(h):
		t.headSum(in.Dst, r, h)
	case h == 1:
		t.line("r%d = 0.f;", in.Dst)
		t.each(w, fmt.Sprintf("r%d += r%d[k];", in.Dst, r))
		t.line("#pragma unroll")
		t.line("for (int d = G / 2; d; d /= 2) r%d += __shfl_xor_sync(mask, r%d, d);", in.Dst, in.Dst)
	default:
		t.spillTo(0, r, w)
		t.line("__syncwarp(mask);")
		t.line("saga_fill(r%d, 0.f);", in.Dst)
		t.each(h, fmt.Sprintf("float s = 0.f; for (int j = 0; j < %d; j++) s += sm[col * %d + j]; r%d[k] = s;", w/h, w/h, in.Dst))
		t.line("__syncwarp(mask);")
		t.shared = max(t.shared, w)
	}
}

// number gives register r of one column its value.
func (t *cudaText) number(r int, value string) {
	if t.round {
		t.declare(r)
		t.line("r%d = %s;", r, value)
	} else {
		t.line("const float r%d = %s;", r, value)
	}
}

// leaf reads leaf l for the row (or edge) at hand.
func (t *cudaText) leaf(l *Leaf) {
	b := fmt.Sprintf("b%d", l.Operand)
	vec := t.vector(l.LD)
	switch l.From {
	case Cell:
		switch l.Array {
		case Rank:
			t.number(l.Reg, "rank[e]")
		case Weight:
			t.number(l.Reg, "weight[e]")
		case Type:
			t.number(l.Reg, "(float)type[e]")
		case Data:
			t.ptr[l.Reg] = fmt.Sprintf("data + e * %d", l.Cols)
			t.load(l.Reg, t.ptr[l.Reg], vec)
		}
		return
	case EdgeBuf:
		t.ptr[l.Reg] = fmt.Sprintf("%s + e * %d", b, l.LD)
	case Own:
		t.ptr[l.Reg] = fmt.Sprintf("%s + row * %d", b, l.LD)
	case Other:
		t.ptr[l.Reg] = fmt.Sprintf("%s + (size_t)far * %d", b, l.LD)
	}
	if t.near(l) {
		t.fetchNear(l)
		if l.Half {
			t.ptr[l.Reg] = "" // not of floats
		}
		return
	}
	if l.Half && l.Key == NoKey {
		t.declare(l.Reg)
		t.fetchHalf(l, t.ptr[l.Reg])
		t.ptr[l.Reg] = "" // not of floats
		return
	}
	if l.Key == NoKey {
		t.once = l.From == EdgeBuf || t.few && fewOnce && l.From == Own
		t.load(l.Reg, t.ptr[l.Reg], vec)
		t.once = false
		return
	}
	p := t.ptr[l.Reg]
	t.ptr[l.Reg] = ""
	t.declare(l.Reg)
	vec = vec && l.Cols%t.v == 0
	key := "type[e]"
	if l.Key == ByRank {
		key = "(unsigned)rank[e]"
	}
	t.line("if (%s < %du) {", key, l.Blocks)
	if p = l.keyedRow(p, key); l.Half {
		t.fetchHalf(l, p)
	} else {
		t.fetch(l.Reg, p, vec)
	}
	if l.Cols == 1 {
		t.line("} else r%d = 0.f;", l.Reg)
	} else {
		t.line("} else saga_fill(r%d, 0.f);", l.Reg)
	}
}

// globals reads the rows that are the same for every row; once a kernel.
func (t *cudaText) globals(regs []int) {
	for i := range t.c.p.Leaves {
		l := &t.c.p.Leaves[i]
		if l.From != Global || !slices.Contains(regs, l.Reg) {
			continue
		}
		t.ptr[l.Reg] = fmt.Sprintf("b%d", l.Operand)
		if l.Spread {
			t.load(l.Reg, t.ptr[l.Reg], t.v%4 == 0)
		}
	}
}
