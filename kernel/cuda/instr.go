package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sagann/kernel"
)

// instr writes one instruction.
func (t *emitter) instr(in *kernel.Instr) error {
	p := t.c.p
	w := p.Widths[in.Dst]
	t.declare(in.Dst)
	switch in.Role {
	case kernel.Widen:
		t.widen(in, w)
		return nil
	case kernel.GroupSum:
		t.groupSum(in, w)
		return nil
	case kernel.Concat:
		in = t.c.joinColumns(in)
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

// spill makes operands of which in reads columns other than its own visible to every lane: by their row in memory, or by
// a copy in shared memory. It returns the pointers, by operand.
func (t *emitter) spill(in *kernel.Instr) map[int]string {
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

func (t *emitter) spillTo(at, r, w int) {
	t.each(w, fmt.Sprintf("sm[%d + col] = r%d[k];", at, r))
}

// unspill writes a barrier, so that later writes to shared memory come after the reads.
func (t *emitter) unspill(spilled map[int]string) {
	for _, s := range spilled {
		if strings.HasPrefix(s, "(sm") {
			t.line("__syncwarp(mask);")
			return
		}
	}
}

// expand replaces the words with $ in the CUDA expression of an op.
func (t *emitter) expand(text string, in *kernel.Instr, ptr map[int]string) string {
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
			b.WriteString(floatLiteral(in.F))
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

func floatLiteral(f float32) string {
	if math.IsInf(float64(f), 0) || math.IsNaN(float64(f)) {
		return fmt.Sprintf("__int_as_float(0x%08x)", math.Float32bits(f))
	}
	return "(" + strconv.FormatFloat(float64(f), 'e', -1, 32) + "f)"
}

// widen repeats the columns of its operand.
func (t *emitter) widen(in *kernel.Instr, w int) {
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
func (t *emitter) groupSum(in *kernel.Instr, h int) {
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
