package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// chain is a random row program of products, sums of two rows and activations, with
// gradients of weights.
func chain(r *rand.Rand) *Program {
	p := &Program{Name: "chain"}
	reg := func(cols int) int { p.Widths = append(p.Widths, cols); return len(p.Widths) - 1 }
	operand := func() int { p.Operands++; return p.Operands - 1 }
	var rows []int
	for range 1 + r.IntN(3) {
		n := 4 + 4*r.IntN(3)
		rows = append(rows, reg(n))
		p.Leaves = append(p.Leaves, Leaf{From: Own, Operand: operand(), Cols: n, LD: n, Reg: rows[len(rows)-1]})
	}
	for range 1 + r.IntN(20) {
		a := rows[r.IntN(len(rows))]
		n := p.Widths[a]
		same := slices.DeleteFunc(slices.Clone(rows), func(b int) bool { return p.Widths[b] != n })
		d := -1
		switch b := same[r.IntN(len(same))]; r.IntN(3) {
		case 0:
			m := 4 + 4*r.IntN(3)
			w := reg(m)
			p.Leaves = append(p.Leaves, Leaf{From: Global, Operand: operand(), Cols: m, LD: m, Rows: n, Reg: w})
			d = reg(m)
			p.Instrs = append(p.Instrs, Instr{Op: "matmul", Role: MatMul, Dst: d, In: []int{a, w}})
		case 1:
			d = reg(n)
			p.Instrs = append(p.Instrs, Instr{Op: "add", CUDA: "$0 + $1", Dst: d, In: []int{a, b}})
		default:
			d = reg(n)
			p.Instrs = append(p.Instrs, Instr{Op: "relu", CUDA: "fmaxf($0, 0.f)", Dst: d, In: []int{a}})
		}
		rows = append(rows, d)
	}
	for range 1 + r.IntN(4) {
		a, b := rows[r.IntN(len(rows))], rows[r.IntN(len(rows))]
		switch r.IntN(3) {
		case 0:
			p.Outs = append(p.Outs, Out{Acc: SumTN, Reg: a, Reg2: b, Operand: operand(), Aux: -1, LD: p.Widths[b]})
		case 1:
			p.Outs = append(p.Outs, Out{Acc: SumRows, Reg: a, Operand: operand(), Aux: -1, LD: p.Widths[a]})
		default:
			p.Outs = append(p.Outs, Out{Acc: Store, Reg: a, Operand: operand(), Aux: -1, LD: p.Widths[a]})
		}
	}
	return p
}

// What a kernel, a product or a sum reads of scratch memory is what was last written there.
func TestScratchPlaces(t *testing.T) {
	shared := 0
	for seed := range uint64(3000) {
		c := NewLayout(chain(rand.New(rand.NewPCG(seed, 1))), Chip{})
		holds := make([]int, len(c.Room))
		for i := range holds {
			holds[i] = -1
		}
		lies := func(r int) bool { return slices.Contains(c.Order, r) }
		read := func(what string, r int) {
			if lies(r) && holds[c.Slot[r]] != r {
				t.Fatalf("seed %d: %s reads register %d, where %d lies", seed, what, r, holds[c.Slot[r]])
			}
		}
		write := func(r int) {
			if lies(r) {
				if c.Room[c.Slot[r]] < c.Home[r].LD {
					t.Fatalf("seed %d: register %d has no room for a row", seed, r)
				}
				holds[c.Slot[r]] = r
			}
		}
		for level := range c.Levels {
			made := map[int]bool{}
			var used []int
			for _, in := range c.Program.Instrs {
				if !in.Role.Product() && c.Level[in.Dst] == level {
					for _, r := range in.In {
						leaf := slices.ContainsFunc(c.Program.Leaves, func(l Leaf) bool { return l.Reg == r })
						if !made[r] && !leaf {
							read(fmt.Sprint("level ", level), r)
							used = append(used, r)
						}
					}
					made[in.Dst] = true
				}
			}
			for _, o := range c.Program.Outs {
				if o.Acc == Store && c.Level[o.Reg] == level && !made[o.Reg] {
					read("a store", o.Reg)
				}
			}
			for _, r := range c.Order {
				leaf := slices.ContainsFunc(c.Program.Leaves, func(l Leaf) bool { return l.Reg == r })
				if made[r] || leaf && level == 0 {
					write(r)
				}
			}
			for _, r := range used { // other groups of lanes may still read their rows
				read(fmt.Sprint("level ", level, ", which writes,"), r)
			}
			for _, in := range c.Program.Instrs {
				if in.Role.Product() && c.Level[in.In[0]] == level {
					read("a product", in.In[0])
					write(in.Dst)
					read("a product that writes", in.In[0])
				}
			}
			for i := range c.Program.Outs {
				if o := &c.Program.Outs[i]; o.Acc.Global() && c.Ready(o) == level {
					read("a sum", o.Reg)
					if o.Acc.Pair() {
						read("a sum", o.Reg2)
					}
				}
			}
		}
		if len(c.Room) < len(c.Order) {
			shared++
		}
	}
	if shared < 300 {
		t.Errorf("registers share places in %d of 3000 programs: too few to say anything", shared)
	}
}
