package dataflow_test

import (
	"fmt"
	"regexp"
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/kernel"
)

var origin = regexp.MustCompile(`  # .*?(  -> .*)?\n`)

// dump is the program after a pass, without origins: here they are lines of tests.
func (p *program) dump(pass, storage string, without []string) (string, error) {
	var text string
	_, _, err := p.compile(without, storage, pass, func(s string) { text = s })
	return origin.ReplaceAllString(text, "$1\n"), err
}

// printer prints a lowered program by the names of its values.
type printer struct {
	*dataflow.Lowered
	strings.Builder
}

func (b *printer) printf(format string, args ...any) { fmt.Fprintf(&b.Builder, format, args...) }

func (b *printer) operand(o plan.Operand) string {
	switch o.Kind {
	case plan.GlobalRef:
		return b.Spec.Globals[o.ID].Name
	case plan.EdgeTemp:
		return fmt.Sprintf("edges%d", o.ID)
	case plan.OtherValue:
		return "@" + b.Spec.Values[o.ID].Name
	}
	return b.Spec.Values[o.ID].Name
}

// phases prints the steps of every phase: what each call reads and writes. @ marks rows
// of the streamed interval.
func (b *printer) phases() {
	for q, ph := range b.Spec.Phases {
		b.printf("phase %d\n", q)
		for _, st := range ph.Steps {
			for _, c := range st.Calls {
				var in, out []string
				for _, o := range c.Operands {
					if s := b.operand(o); o.Write {
						out = append(out, s)
					} else {
						in = append(in, s)
					}
				}
				what := [...]string{"rows", "stream", "globals"}[st.Kind]
				if st.Kind == plan.Stream {
					what = st.Dir.String()
				}
				b.printf("  %s, kernel %d: %s -> %s\n", what, c.Kernel, strings.Join(in, " "), strings.Join(out, " "))
			}
		}
	}
	for _, v := range b.Spec.Values {
		if v.Derive != nil {
			b.printf("%s is made on arrival by kernel %d\n", v.Name, v.Derive.Kernel)
		}
	}
}

// regions prints the fused edge programs: what they read at which end, what is computed
// on an edge, and what is gathered.
func (b *printer) regions() {
	for _, r := range b.Regions {
		b.printf("phase %d, %s\n", r.Phase, r.Dir)
		own := dataflow.ScatterDstOp
		if r.Dir == plan.CSR {
			own = dataflow.ScatterSrcOp
		}
		ends := map[string][]string{}
		for _, n := range r.Leaves {
			x, end := n, "edge"
			switch {
			case n.Shape().Set.Kind == dataflow.Global:
				end = "global"
			case n.NumIn() > 0:
				if x, end = n.In(0), "other"; n.Op() == own {
					end = "own"
				}
			}
			ends[end] = append(ends[end], fmt.Sprintf("%s%s%v", x.Op(), x.Attr(), x.Shape()))
		}
		for _, end := range []string{"own", "other", "edge", "global"} {
			if ends[end] != nil {
				b.printf("  %s: %s\n", end, strings.Join(ends[end], ", "))
			}
		}
		b.printf("  body: %s\n", nodeNames(r.Body))
		b.printf("  outs: %s\n", nodeNames(r.Gathers))
	}
}

func nodeNames(nodes []*node) string {
	var s []string
	for _, n := range nodes {
		s = append(s, fmt.Sprintf("%s%s%v", n.Op(), n.Attr(), n.Shape()))
	}
	return strings.Join(s, ", ")
}

// kernels prints the programs that the calls run: r0 and so on are registers.
func (b *printer) kernels() {
	calls := map[int]plan.Call{}
	for _, ph := range b.Spec.Phases {
		for _, st := range ph.Steps {
			for _, c := range st.Calls {
				calls[c.Kernel] = c
			}
		}
	}
	for _, v := range b.Spec.Values {
		if v.Derive != nil {
			calls[v.Derive.Kernel] = *v.Derive
		}
	}
	for k, p := range b.Kernels {
		name := func(i int) string { return b.operand(calls[k].Operands[i]) }
		b.printf("kernel %d, %s\n", k, p.Name)
		for _, l := range p.Leaves {
			b.printf("  r%d = %s", l.Reg, [...]string{"own", "other", "cell", "buffer", "global"}[l.From])
			if l.From == kernel.Cell {
				b.printf(" %s", [...]string{"rank", "type", "weight", "data"}[l.Array])
			} else {
				b.printf(" %s", name(l.Operand))
			}
			b.printf("[%d]%s\n", l.Cols, keyed(l.Key, l.Blocks))
		}
		for _, in := range p.Instrs {
			b.printf("  r%d = %s", in.Dst, in.Op)
			for _, r := range in.In {
				b.printf(" r%d", r)
			}
			b.printf("\n")
		}
		for _, o := range p.Outs {
			b.printf("  %s %s r%d", name(o.Operand), [...]string{"=", "+=", "max=", "exp=", "+= tn", "+= rows"}[o.Acc], o.Reg)
			if o.Acc == kernel.SumTN {
				b.printf(" r%d", o.Reg2)
			}
			if o.Aux >= 0 {
				b.printf(", %s", name(o.Aux))
			}
			b.printf("%s\n", keyed(o.Key, o.Blocks))
		}
	}
}

func keyed(k kernel.Key, blocks int) string {
	if k == kernel.NoKey {
		return ""
	}
	return fmt.Sprintf(" block by %s of %d", [...]string{"", "type", "rank"}[k], blocks)
}
