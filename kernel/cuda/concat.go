package cuda

import (
	"fmt"
	"strings"

	"sagann/kernel"
)

// joinColumns returns in, an instruction that puts its operands side by side, with a CUDA expression for their widths.
func (c *Program) joinColumns(in *kernel.Instr) *kernel.Instr {
	var b strings.Builder
	at, last := 0, len(in.In)-1
	for k, r := range in.In {
		if w := c.p.Widths[r]; k < last {
			fmt.Fprintf(&b, "$C < %d ? $%d[$C - %d] : ", at+w, k, at)
			at += w
		} else {
			fmt.Fprintf(&b, "$%d[$C - %d]", k, at)
		}
	}
	out := *in
	out.CUDA = "(" + b.String() + ")"
	return &out
}
