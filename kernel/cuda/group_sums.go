package cuda

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"sagann/kernel"
)

// Sums of products over rows by groups of warps; ranges of rows share the multiprocessors with tiles. In TF32 a tile has up to 128 columns of the first operand
// and 256 of the second. In float32 it has 128 of the first operands, in two parts of 64, and up to 128 of the second; operands are sums of two numbers of 11
// bits, as in products (halves.go).

const (
	sumsThreads = 3 * 128 // two groups and the warps that copy
	// sumsBlocks is how many blocks share rows and tiles of a sum: one on each of an H200's multiprocessors. It is a constant, for the bits
	// depend on it.
	sumsBlocks = 132
	// sumsRows is how many rows a block sums at most.
	sumsRows = 8192
)

// halvesSumsSource is what the kernels in float32 share. It follows groupsSource.
//
//go:embed halves_sums.cu
var halvesSumsSource string

// groupSumsColumns is how many columns of the first operand a tile has in TF32, of m, and how many times 64 of the second a group of warps has, of n.
func groupSumsColumns(m, n int) (x, w int) {
	tiles := (m + 127) / 128
	if n > 128 {
		return ((m+tiles-1)/tiles + 7) / 8 * 8, 2
	}
	return ((m+tiles-1)/tiles + 7) / 8 * 8, 1
}

// halvesSumsColumns is how many columns of the second operand a tile has in float32, of n.
func halvesSumsColumns(n int) int {
	tiles := (n + 127) / 128
	return ((n+tiles-1)/tiles + 7) / 8 * 8
}

// groupSumsShape is in how many ranges of at most each rows the rows are summed: of so many first operands of m columns and one of n.
func groupSumsShape(operands, m, n, rows int, tf32 bool) (tiles, parts, each int) {
	if tf32 {
		x, w := groupSumsColumns(m, n)
		tiles = operands * ((m + x - 1) / x) * ((n + w*128 - 1) / (w * 128))
	} else {
		y := halvesSumsColumns(n)
		tiles = (operands*((m+63)/64) + 1) / 2 * ((n + y - 1) / y)
	}
	parts = max(1, min(sumsBlocks/tiles, productRoom(m, n, rows)/operands))
	steps := max(1, (rows+31)/32)
	return tiles, parts, min((steps+parts-1)/parts*32, sumsRows)
}

// groupSumsKernel is the kernel of the sum of products o by groups of warps; "": it has none.
func groupSumsKernel(c *Program, o *kernel.Out, tf32 bool) string {
	least := c.Chip.LeastTiled()
	if tf32 {
		least = kernel.LeastTiled
	}
	if _, _, _, vec := c.productKernel(o); !c.Chip.Groups || !vec || c.p.Widths[o.Reg2] < least {
		return ""
	}
	if !tf32 {
		return fmt.Sprintf("saga_halves_sums_%d", halvesSumsColumns(c.p.Widths[o.Reg2]))
	}
	x, w := groupSumsColumns(c.p.Widths[o.Reg], c.p.Widths[o.Reg2])
	return fmt.Sprintf("saga_group_sums_%d_%d", x, w)
}

// groupSumsKernels renders the kernels of the program's sums of products that have one.
func groupSumsKernels(c *Program, b *strings.Builder) {
	for i := range c.p.Outs {
		if o := &c.p.Outs[i]; o.Acc == kernel.SumTN {
			groupSumsText(c, b, o, false)
			groupSumsText(c, b, o, true)
		}
	}
}

// groupSumsText renders the kernel of o, if it has one that is not there yet.
func groupSumsText(c *Program, b *strings.Builder, o *kernel.Out, tf32 bool) {
	name := groupSumsKernel(c, o, tf32)
	if name == "" || slices.Contains(c.Names, name) {
		return
	}
	if c.name(name); !tf32 {
		y := halvesSumsColumns(c.p.Widths[o.Reg2])
		groupsText(b, y)
		if !strings.Contains(b.String(), halvesSumsSource) {
			b.WriteString(halvesSumsSource)
		}
		fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d, 1) %s(const float *__restrict__ x, ll ldx, const float *__restrict__ x2, ll operands, const float *__restrict__ y, ll ldy, ll rows, ll m, ll n, ll each, float *part, float *columns) {\n"+
			"\tsaga_halves_sums<%d>(x, ldx, x2, operands, y, ldy, rows, m, n, each, part, columns);\n}\n", sumsThreads, name, y)
		return
	}
	x, w := groupSumsColumns(c.p.Widths[o.Reg], c.p.Widths[o.Reg2])
	groupsText(b, x)
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d, 1) %s(const float *__restrict__ x, ll ldx, const float *__restrict__ x2, const float *__restrict__ y, ll ldy, ll rows, ll m, ll n, ll each, float *part, float *columns) {\n"+
		"#ifdef SAGA_GROUPS\n\tsaga_group_sums<%d, %d>(x, ldx, x2, y, ldy, rows, m, n, each, part, columns);\n#endif\n}\n", sumsThreads, name, x, w)
}

// groupSums adds the products of n rows of the tile that begins at row lo to o, and to other, if that is there, which differs in its
// first operand.
func (s *launcher) groupSums(o, other *kernel.Out, lo, n int) {
	p := s.c.p
	list := []*kernel.Out{o}
	x, ldx := s.at(o.Reg, lo)
	y, ldy := s.at(o.Reg2, lo)
	x2 := x
	if other != nil {
		list = append(list, other)
		x2, _ = s.at(other.Reg, lo)
	}
	m, w := p.Widths[o.Reg], p.Widths[o.Reg2]
	i := slices.IndexFunc(p.Outs, func(x kernel.Out) bool { return s.besideGroups(&x) == o })
	for done := 0; done < n; {
		tiles, ranges, each := groupSumsShape(len(list), m, w, n-done, s.l.TF32)
		rows := min(n-done, ranges*each)
		ranges = (rows + each - 1) / each
		size := uint64(ranges) * uint64(m) * uint64(partialLD(w)) * 4
		columns := uint64(0)
		if i >= 0 {
			columns = s.partial + uint64(kernel.Align(int64(len(list))*int64(size)))
		}
		skip, skip2 := uint64(done)*uint64(ldx)*4, uint64(done)*uint64(ldy)*4
		args := kernel.GPUArgs{at("x", x+skip), num("ldx", ldx), at("x2", x2+skip)}
		if !s.l.TF32 {
			args = append(args, num("operands", len(list)))
		}
		s.call(s.c.lookup(groupSumsKernel(s.c, o, s.l.TF32)), tiles, sumsThreads, groupShared, ranges, append(args, at("y", y+skip2), num("ldy", ldy),
			num("rows", rows), num("m", m), num("n", w), num("each", each), at("part", s.partial), at("columns", columns)))
		last := &s.out[len(s.out)-1]
		last.Dense, last.Halves = s.l.TF32, !s.l.TF32
		s.count(gemmWork(&kernel.GPUGemm{M: len(list) * m, N: w, K: rows, Add: true}))
		var sums []parts
		for q, o := range list {
			sums = append(sums, parts{o, s.partial + uint64(q)*size, m, w, partialLD(w), ranges})
		}
		if i >= 0 {
			sums = append(sums, parts{&p.Outs[i], columns, 1, w, partialLD(w), ranges})
		}
		s.addParts(sums...)
		done += rows
	}
}

// byGroupSums tells whether groups of warps compute the sum of products o.
func (s *launcher) byGroupSums(o *kernel.Out) bool {
	return groupSumsKernel(s.c, o, s.l.TF32) != ""
}

// together is the sums of products that are computed with o: two that differ in their first operand, or o and nil.
func (s *launcher) together(o *kernel.Out) (first, second *kernel.Out) {
	p := s.c.p
	var list []*kernel.Out
	for i := range p.Outs {
		x := &p.Outs[i]
		if x.Acc != kernel.SumTN || x.Reg2 != o.Reg2 || p.Widths[x.Reg] != p.Widths[o.Reg] || s.c.Home[x.Reg].LD != s.c.Home[o.Reg].LD || s.c.Ready(x) != s.c.Ready(o) || !s.byGroupSums(x) {
			continue
		}
		list = append(list, x)
	}
	at := slices.Index(list, o) &^ 1
	if at+1 < len(list) {
		return list[at], list[at+1]
	}
	return list[at], nil
}

// besideGroups is the sum of products by groups of warps that sums the rows of o on its way, too; nil: there is none.
func (s *launcher) besideGroups(o *kernel.Out) *kernel.Out {
	p := s.c.p
	for i := range p.Outs {
		if x := &p.Outs[i]; o.Acc == kernel.SumRows && x.Acc == kernel.SumTN && x.Reg2 == o.Reg && s.byGroupSums(x) {
			first, _ := s.together(x)
			return first
		}
	}
	return nil
}
