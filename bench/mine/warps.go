package mine

import (
	"context"
	"fmt"

	"sagann/device"
	"sagann/mine/cuda"
	"sagann/mine/rows"
)

// fewer is a GPU that says it has fewer multiprocessors, for which grids have fewer blocks.
type fewer struct {
	device.GPU
	processors int
}

// Info describes the GPU.
func (f fewer) Info() device.Info {
	i := f.GPU.Info()
	i.Processors = f.processors
	return i
}

// warps counts cliques with grids for one multiprocessor, two, four and so on of the first GPU.
func (t *table) warps(scale int, r *rows.Rows) error {
	gpus := t.gpus
	defer func() { t.gpus = gpus }()
	one, most := 0.0, gpus[0].Info().Processors
	for n := 1; ; n = min(2*n, most) {
		t.gpus = []device.GPU{fewer{gpus[0], n}}
		err := t.with(r, cuda.Layout{Part: cuda.Above, Hot: -1}, func(g *cuda.Graph) {
			ms := t.line(scale, "clique4", fmt.Sprintf("for %d of %d", n, most), 0, 2, func() (string, error) { return text(g.Cliques(context.Background(), 4, nil)) })
			if n == 1 {
				one = ms
			}
			fmt.Printf("   %.1f times as fast\n", one/ms)
		})
		if err != nil || n == most {
			return err
		}
	}
}
