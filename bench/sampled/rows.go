package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/sample"
)

// rows is a table of runs, a row each.
type rows struct{ w *tabwriter.Writer }

func newRows() *rows {
	r := &rows{tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(r.w, "run\tbatches\tvertices of one\tepoch, ms\tspread\tdrawing, ms\tof the epoch\tby\tlink, GB\trows kept\tdevice, MB\tlosses of epochs\thash")
	return r
}

// run times a run and adds its row.
func (r *rows) run(e *epochs, d *dataset.Data, name string) (err error) {
	p, err := e.program(d)
	if err != nil {
		return err
	}
	var list, losses []float64
	var last turn
	err = e.turns(p, func(n int, t turn) {
		if losses, last = append(losses, t.loss), t; n > 0 {
			list = append(list, 1e3*t.wall.Seconds())
		}
	})
	peak := p.DevicePeak()
	if err = errors.Join(err, p.Close()); err != nil {
		return err
	}
	fresh()
	s := last.now
	drawing, by := 1e3*(s.Drawing-last.before.Drawing).Seconds(), "host, processor time"
	if s.Drawn {
		by = "card"
		if drawing, err = e.drawAlone(d); err != nil {
			return err
		}
	}
	far, kept := last.now.FarRows, ""
	for i := range far {
		far[i] -= last.before.FarRows[i]
	}
	if all := far[0] + far[1] + far[2]; all > 0 {
		kept = fmt.Sprintf("%.1f %% hot, %.1f %% matched", 100*float64(far[1])/float64(all), 100*float64(far[2])/float64(all))
	}
	ms := median(list)
	fmt.Fprintf(r.w, "%s\t%d\t%d\t%.1f\t%.1f–%.1f\t%.1f\t%.1f %%\t%s\t%.2f\t%s\t%.0f\t%.4f\t%x\n", name, s.Batches, s.Expected[len(s.Expected)-1], ms, slices.Min(list), slices.Max(list),
		drawing, 100*drawing/ms, by, float64(far[0])*float64(4*d.FeatureCols)/1e9, kept, float64(peak)/1e6, losses, last.bits)
	return nil
}

// drawAlone is the milliseconds in which a GPU draws and renumbers the batches of an epoch when it does nothing else.
func (e *epochs) drawAlone(d *dataset.Data) (ms float64, err error) {
	gpu, err := cli.OpenGPU(e.device, e.mem)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	how, _, err := e.sampling(d)
	if err != nil {
		return 0, err
	}
	g, err := sample.NewGraph(d.Edges)
	if err != nil {
		return 0, err
	}
	p, err := sample.Compile(g, how.Sampler)
	if err != nil {
		return 0, err
	}
	on, err := p.OnGPU(gpu)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	return fastest(on, d.Train, how.Batch)
}

// fastest is the least milliseconds of three epochs of draws.
func fastest(on *sample.GPU, seeds []uint32, size int) (least float64, err error) {
	for i := range 3 {
		start := time.Now()
		if _, _, err := on.Epoch(seeds, size, sample.Key{Seed: 1}); err != nil {
			return 0, err
		}
		if ms := 1e3 * time.Since(start).Seconds(); i == 0 || ms < least {
			least = ms
		}
	}
	return least, nil
}
