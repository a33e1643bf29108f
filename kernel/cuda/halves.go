package cuda

import (
	_ "embed"
	"fmt"
	"strings"

	"sagann/kernel"
)

// Products in float32 by groups of warps, on chips that have them. Rows and matrix come through shared memory by 32 terms, so that a product may have any
// number of terms. What follows is as in products.go.

const halvesThreads = 3 * 128 // two groups and the warps that copy

// halvesColumns is how many columns a block has of w: up to 128, the same in each.
func halvesColumns(w int) int {
	across := (w + 127) / 128
	return ((w+across-1)/across + 31) / 32 * 32
}

// halvesSource is what the kernels share. It follows groupsSource.
//
//go:embed halves.cu
var halvesSource string

// halvesKernel renders the kernel of k in float32 by groups of warps.
func halvesKernel(c *Program, b *strings.Builder, k *tiled, x *tileCode, name string) {
	w := c.p.Widths[x.sum]
	columns := halvesColumns(w)
	groupsText(b, columns)
	if !strings.Contains(b.String(), halvesSource) {
		b.WriteString(halvesSource)
	}
	k.halves = c.name(name + "_halves")
	fmt.Fprintf(b, "extern \"C\" __global__ void __launch_bounds__(%d, 1) %s(%s) {\n", halvesThreads, c.Names[k.halves], c.params())
	fmt.Fprintf(b, "%s\tsaga_halves_product<%t, %t, %d, %s>(of, n, %d, ", x.factors(), k.of[0].Role == kernel.MatMulNT, c.Fours(k.of[0]), columns, x.terms(), w)
	x.ofRow(b, columns, w)
	b.WriteString(");\n}\n")
}

// halvesBlocks is in how many blocks n rows of w columns are computed.
func (s *launcher) halvesBlocks(w, n int) int {
	across := (w + halvesColumns(w) - 1) / halvesColumns(w)
	return across * max(1, min(s.c.Chip.Processors/across, (n+127)/128))
}
