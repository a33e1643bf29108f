package cuda

import (
	_ "embed"
	"fmt"
	"strings"

	"sagann/kernel"
)

// optimizerNames are the kernels of the optimisers, each with its moments.
var optimizerNames = map[kernel.Optimizer]struct {
	name    string
	moments int
}{kernel.SGD: {"sgd", 0}, kernel.Momentum: {"momentum", 1}, kernel.Adam: {"adam", 2}, kernel.AdamW: {"adamw", 2}}

// optimizerSource updates a parameter, one thread a number. A thread that writes a NaN or an infinity notes the parameter, of several
// of an update the first, and the epoch; the note of the first update stays. average_ moves running statistics towards those of the epoch,
// whatever the optimiser.
//
//go:embed optimizer.cu
var optimizerSource string

// optimizerText is the kernel of an optimiser and that of running statistics. A launch updates several parameters: blocks take theirs by
// blockIdx.y.
func optimizerText(kind kernel.Optimizer) kernel.GPUText {
	o := optimizerNames[kind]
	text := kernel.GPUText{Names: []string{o.name, "average"}}
	var b strings.Builder
	b.WriteString(optimizerSource)
	for i, name := range text.Names {
		var params, choose strings.Builder
		for k := range kernel.UpdatesTogether {
			m, v := "nullptr", "nullptr"
			fmt.Fprintf(&params, ", float *w%d, const float *g%d", k, k)
			if i == 0 && o.moments > 0 {
				m = fmt.Sprintf("m%d", k)
				fmt.Fprintf(&params, ", float *m%d", k)
			}
			if i == 0 && o.moments > 1 {
				v = fmt.Sprintf("v%d", k)
				fmt.Fprintf(&params, ", float *v%d", k)
			}
			fmt.Fprintf(&params, ", ll n%d, ll decay%d, ll number%d", k, k, k)
			fmt.Fprintf(&choose, "\tif (blockIdx.y == %d) x = {w%d, g%d, %s, %s, n%d, bits(decay%d), (unsigned)number%d};\n", k, k, k, m, v, k, k, k)
		}
		fmt.Fprintf(&b, "extern \"C\" __global__ void %s(const float *step, unsigned *note%s) {\n\tone x = {};\n%s\t%s_(step, note, x);\n}\n", name, params.String(), choose.String(), name)
	}
	text.Source = b.String()
	return text
}
