package cuda

import (
	_ "embed"
	"fmt"
	"strings"

	"sagann/kernel"
)

// Sums of products over rows whose second operand has few columns, as the gradients of attention's scores. A tile of 64 columns computes sixteen times
// what is wanted of four, and so is bound by arithmetic. Here a thread has four columns of the first operand and all of the second, in
// registers: as much is computed as is wanted, and rows are read from memory once, by four groups of threads in turn.

// thinColumns is how many columns the second operand has at most.
const thinColumns = 8

// thinSource is a sum over a range of rows. A group adds chains of 512 rows; the groups' sums are added in their order.
//
//go:embed thin_sums.cu
var thinSource string

const thinOfSource = `extern "C" __global__ void __launch_bounds__(%d, %d) %s(const float *__restrict__ a, ll lda, const float *__restrict__ b, ll ldb, ll rows, ll m, ll n, ll each, float *part) {
	saga_product_thin<%d, %d, %t>(a, lda, b, ldb, rows, m, n, each, part);
}
`

// thin is c's kernel of the sum of products o for tiles of tm columns of the first operand, and its text; "": it has none.
func thin(c *Program, o *kernel.Out, tm int) (name, text string) {
	n, x, y := c.p.Widths[o.Reg2], &c.Home[o.Reg], &c.Home[o.Reg2]
	if n > thinColumns || x.LD%4 != 0 || x.Kind == kernel.InCell {
		return "", ""
	}
	vec := y.LD%4 == 0 && y.Kind != kernel.InCell
	name = fmt.Sprintf("saga_product_thin_%d_%d", tm, (n+3)/4*4)
	if !vec {
		name += "_any"
	}
	return name, fmt.Sprintf(thinOfSource, tm, 512/tm, name, tm, (n+3)/4*4, vec)
}

// thinKernel renders c's kernel of o if it is for few columns.
func thinKernel(c *Program, b *strings.Builder, o *kernel.Out, tm int) bool {
	name, text := thin(c, o, tm)
	if name == "" {
		return false
	}
	if !strings.Contains(b.String(), thinSource) {
		b.WriteString(thinSource)
	}
	b.WriteString(text)
	c.name(name)
	return true
}
