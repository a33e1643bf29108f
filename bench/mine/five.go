package mine

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// five counts cycles of five vertices by their formula on the GPU, and with --cpu also on 16 threads of the CPU.
func (t *table) five(scale int, r *rows.Rows) error {
	ctx := context.Background()
	f, _ := pattern.Must("cycle5").Formula()
	t.work.Five = run.FiveWork(r)
	count := func(sums map[pattern.Quantity]run.Total, err error) (string, error) {
		n := new(big.Int)
		for _, x := range f {
			n.Add(n, new(big.Int).Mul(big.NewInt(x.Times), sums[x.Of].Big()))
		}
		return n.String(), err
	}
	onGPU, ms := "", 0.0
	err := t.with(r, cuda.Layout{Part: cuda.Whole, Hot: -1}, func(g *cuda.Graph) {
		ms = t.line(scale, "cycle5", "", plan.H200.Formula(f, t.work), 3, func() (n string, err error) {
			onGPU, err = count(g.Sums(ctx, f, 1<<40, nil))
			return onGPU, err
		})
	})
	if err != nil || !t.c.CPU {
		return err
	}
	start := time.Now()
	n, err := count((&run.Run{Rows: r, Workers: 16}).Sums(ctx, f))
	cpu := float64(time.Since(start)) / 1e6
	fmt.Printf("   CPU, 16 threads: %.0f ms, %s; %.3f of the bar of 3/10\n", cpu, n, ms/(0.3*cpu))
	t.wrong = t.wrong || n != onGPU
	return err
}
