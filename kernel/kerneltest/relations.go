package kerneltest

import (
	"math"

	"sagann/kernel"
)

// Relations adds products of own rows h and of the rows of n relations, each times a number, and a bias; with op "shift" g is made of whole rows of that sum.
// The gradients of all operands follow, as if g were the gradient of the sum:
//
//	y = h·w₀ + (s₁∘c₁)·w₁ + b + (s₂∘c₂)·w₂ + …   g = y - y[0]/2   u₀ = g·w₀ᵀ   u_r = (g·w_rᵀ)∘c_r   dw_r = (s_r∘c_r)ᵀ·g   db = Σ g
//
// Operands are h, w₀, b, u₀, dw₀, db, and then by relation s, c, w, u, dw.
func Relations(n, in, out int) *kernel.Program {
	p := &kernel.Program{Name: "relations", Operands: 6 + 5*n}
	reg := func(cols int) int { p.Widths = append(p.Widths, cols); return len(p.Widths) - 1 }
	leaf := func(from kernel.From, operand, cols, rows int) int {
		r := reg(cols)
		p.Leaves = append(p.Leaves, kernel.Leaf{From: from, Operand: operand, Cols: cols, LD: cols, Rows: rows, Spread: rows == 1, Reg: r})
		return r
	}
	instr := func(role kernel.Role, op, text string, cols int, of ...int) int {
		r := reg(cols)
		p.Instrs = append(p.Instrs, kernel.Instr{Op: op, Role: role, CUDA: text, Dst: r, In: of, I: int32(cols)})
		return r
	}
	h, w0 := leaf(kernel.Own, 0, in, 0), leaf(kernel.Global, 1, out, in)
	y := instr(kernel.MatMul, "matmul", "", out, h, w0)
	var rows, numbers, weights []int
	for r := range n {
		s, c, w := leaf(kernel.Own, 6+5*r, in, 0), leaf(kernel.Own, 7+5*r, 1, 0), leaf(kernel.Global, 8+5*r, out, in)
		wide := instr(kernel.Widen, "widen", "", in, c)
		rows, numbers, weights = append(rows, instr(kernel.Mul, "mul", "$0 * $1", in, s, wide)), append(numbers, wide), append(weights, w)
		y = instr(kernel.Plus, "add", "$0 + $1", out, y, instr(kernel.MatMul, "matmul", "", out, rows[r], w))
		if r == 0 {
			y = instr(kernel.Plus, "add", "$0 + $1", out, y, leaf(kernel.Global, 2, out, 1))
		}
	}
	g := instr(kernel.Func, "shift", "$0 - 0.5f * $0[0]", out, y)
	store := func(r, operand int) {
		p.Outs = append(p.Outs, kernel.Out{Acc: kernel.Store, Reg: r, Operand: operand, Aux: -1, LD: in})
	}
	sum := func(x, operand int) {
		p.Outs = append(p.Outs, kernel.Out{Acc: kernel.SumTN, Reg: x, Reg2: g, Operand: operand, Aux: -1, LD: out, Carry: true})
	}
	store(instr(kernel.MatMulNT, "matmul_nt", "", in, g, w0), 3)
	sum(h, 4)
	for r := range n {
		u := instr(kernel.MatMulNT, "matmul_nt", "", in, g, weights[r])
		store(instr(kernel.Mul, "mul", "$0 * $1", in, u, numbers[r]), 9+5*r)
		sum(rows[r], 10+5*r)
	}
	p.Outs = append(p.Outs, kernel.Out{Acc: kernel.SumRows, Reg: g, Operand: 5, Aux: -1, LD: out, Carry: true})
	return p
}

// RelationSizes is the numbers of each operand of Relations, over so many rows. Sums carry.
func RelationSizes(n, in, out, rows int) []int {
	sizes := []int{rows * in, in * out, out, rows * in, 2 * in * out, 2 * out}
	for range n {
		sizes = append(sizes, rows*in, rows, in*out, rows*in, 2*in*out)
	}
	return sizes
}

// RelationErrors is by how much of the sum of absolute terms the results of Relations in bufs are off at most, by operand. Of large results every few are looked at.
func RelationErrors(n, in, out, rows int, bufs [][]float32) map[int]float64 {
	at := func(k, i int) float64 { return float64(bufs[k][i]) }
	g, size := make([]float64, rows*out), make([]float64, rows*out) // with the sizes of terms
	row := func(r, i, k int) float64 {
		if r < 0 {
			return at(0, i*in+k)
		}
		return at(6+5*r, i*in+k) * at(7+5*r, i)
	}
	weight := func(r int) int {
		if r < 0 {
			return 1
		}
		return 8 + 5*r
	}
	for i := range rows {
		for q := range out {
			y, s := at(2, q), math.Abs(at(2, q))
			for r := -1; r < n; r++ {
				for k := range in {
					x := row(r, i, k) * at(weight(r), k*out+q)
					y, s = y+x, s+math.Abs(x)
				}
			}
			g[i*out+q], size[i*out+q] = y, s
		}
		for q := out - 1; q >= 0; q-- {
			g[i*out+q], size[i*out+q] = g[i*out+q]-g[i*out]/2, size[i*out+q]+size[i*out]/2
		}
	}
	most := map[int]float64{}
	near := func(operand, i int, terms int, of func(k int) (x, size float64)) {
		want, size := 0.0, 0.0
		for k := range terms {
			x, s := of(k)
			want, size = want+x, size+s
		}
		if off := math.Abs(at(operand, i)-want) / size; !(off <= most[operand]) {
			most[operand] = off
		}
	}
	for r := -1; r < n; r++ {
		u, dw := 3, 4
		if r >= 0 {
			u, dw = 9+5*r, 10+5*r
		}
		for e := 0; e < rows*in; e += 1 + rows*in/5000 {
			i, c := e/in, 1.0
			if r >= 0 {
				c = at(7+5*r, i)
			}
			near(u, e, out, func(q int) (float64, float64) {
				w := c * at(weight(r), e%in*out+q)
				return g[i*out+q] * w, size[i*out+q] * math.Abs(w)
			})
		}
		for e := 0; e < in*out; e += 1 + in*out/200 {
			near(dw, e, rows, func(i int) (float64, float64) {
				x := row(r, i, e/out)
				return x * g[i*out+e%out], math.Abs(x) * size[i*out+e%out]
			})
		}
	}
	for q := range out {
		near(5, q, rows, func(i int) (float64, float64) { return g[i*out+q], size[i*out+q] })
	}
	return most
}
