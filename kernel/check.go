package kernel

import "fmt"

// Check reports the first broken rule of p: registers in range and written before
// they are read, operands in range. It guards against a wrong compiler, not users.
func (p *Program) Check() error {
	set := make([]bool, len(p.Widths))
	def := func(r int, what string) error {
		if r < 0 || r >= len(set) || set[r] {
			return fmt.Errorf("kernel %s: %s defines register %d out of turn", p.Name, what, r)
		}
		set[r] = true
		return nil
	}
	use := func(r int, what string) error {
		if r < 0 || r >= len(set) || !set[r] {
			return fmt.Errorf("kernel %s: %s reads register %d before it is set", p.Name, what, r)
		}
		return nil
	}
	for i, l := range p.Leaves {
		if l.From != Cell && (l.Operand < 0 || l.Operand >= p.Operands) {
			return fmt.Errorf("kernel %s: leaf %d: operand %d of %d", p.Name, i, l.Operand, p.Operands)
		}
		if !p.Edges && (l.From == Other || l.From == Cell || l.From == EdgeBuf) {
			return fmt.Errorf("kernel %s: leaf %d reads an edge in a row program", p.Name, i)
		}
		if err := def(l.Reg, fmt.Sprintf("leaf %d", i)); err != nil {
			return err
		}
	}
	for _, in := range p.Instrs {
		for _, r := range in.In {
			if err := use(r, in.Op); err != nil {
				return err
			}
		}
		if err := def(in.Dst, in.Op); err != nil {
			return err
		}
	}
	for i, o := range p.Outs {
		if err := use(o.Reg, fmt.Sprintf("result %d", i)); err != nil {
			return err
		}
		if o.Acc.Pair() {
			if err := use(o.Reg2, fmt.Sprintf("result %d", i)); err != nil {
				return err
			}
		}
		if o.Acc.KeyedRows() && (o.Blocks < 1 || p.Widths[o.Reg2] != 1 && o.Acc != SumSparse) {
			return fmt.Errorf("kernel %s: result %d: %d rows by a key of %d columns", p.Name, i, o.Blocks, p.Widths[o.Reg2])
		}
		if o.Operand < 0 || o.Operand >= p.Operands || o.Aux >= p.Operands {
			return fmt.Errorf("kernel %s: result %d: operand out of range", p.Name, i)
		}
	}
	return checkThen(p)
}

// checkThen checks what follows a gather.
func checkThen(p *Program) error {
	t := p.Then
	if t == nil {
		return nil
	}
	if !p.Edges || p.dense() || t.Edges || t.Then != nil || t.Operands != p.Operands || len(t.Outs) == 0 {
		return fmt.Errorf("kernel %s: rows after its edges that are not those of a gather", p.Name)
	}
	for _, o := range t.Outs {
		if o.Acc != Store || t.Widths[o.Reg] != t.Widths[t.Outs[0].Reg] {
			return fmt.Errorf("kernel %s: results after its edges that are not as wide as each other", p.Name)
		}
	}
	for i := range t.Instrs {
		if in := &t.Instrs[i]; !t.Columnwise(in, t.Widths[t.Outs[0].Reg]) {
			return fmt.Errorf("kernel %s: %s after its edges needs other columns", p.Name, in.Op)
		}
	}
	return t.Check()
}
