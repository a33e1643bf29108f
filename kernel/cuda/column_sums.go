package cuda

import (
	_ "embed"
	"fmt"
	"slices"

	"sagann/kernel"
)

// Sums over rows on a GPU, in two steps of fixed order. First a block sums a range of rows for columnTile columns. 16
// lanes have four columns each, and 16 rows are summed side by side, with four reads in flight; of one column every lane has rows. In the largest tile a
// float32 chain adds 64 rows. Then a block adds the partial sums of 32 numbers of the m×n result in float64, eight ranges
// side by side, and adds them to a Global. The Global may carry its rounding error (kernel/cpu/long_sums.go). A launch adds those of
// up to addedTogether sums.
const (
	columnTile    = 64
	columnThreads = 256
	addedTogether = 3
)

//go:embed column_sums.cu
var columnsSource string

// parts are so many partial sums of o, which lie side by side in memory. Each has m rows of n numbers, ld floats apart.
type parts struct {
	o               *kernel.Out
	from            uint64
	m, n, ld, count int
}

// addParts adds partial sums to the Globals of their results, at most addedTogether. Those of the same Global follow each other.
func (s *launcher) addParts(list ...parts) {
	for k := range list {
		if slices.ContainsFunc(list[:k], func(x parts) bool { return x.o.Operand == list[k].o.Operand }) {
			s.addParts(list[:k]...)
			s.addParts(list[k:]...)
			return
		}
	}
	var args kernel.GPUArgs
	var sum work
	most := 0
	for k := range addedTogether {
		x, to, carry := parts{}, uint64(0), false
		if k < len(list) {
			x = list[k]
			to, carry = s.l.Bufs[x.o.Operand], x.o.Carry
		}
		for _, a := range []kernel.GPUArg{at("dst", to), at("part", x.from), num("m", x.m), num("n", x.n), num("ld", x.ld), num("blocks", x.count), kernel.GPUFlag("carry", carry)} {
			a.Name = fmt.Sprint(a.Name, k)
			args = append(args, a)
		}
		most = max(most, x.m*x.n)
		sum = sum.plus(work{bytes: 4, flops: 1}.times(x.count * x.m * x.n))
	}
	s.call(s.c.lookup("saga_columns_add"), (most+31)/32, columnThreads, 0, len(list), args)
	s.count(sum)
}
