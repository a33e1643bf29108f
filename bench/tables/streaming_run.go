package tables

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/backend"
	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/saga"
)

// run runs the systems on a device, and returns a table of the bytes that they moved and of the median epochs. Every
// graph is generated once.
func (c *Streaming) run(a *app, copies []int) (*sheet, error) {
	s := &sheet{key: "run", title: fmt.Sprintf("Run on %s: the graph of reddit_small's shape, 1/%d of it, copied; medians of %d epochs after %d, bytes of an epoch as the executor counted them, equal to the plan's", c.Device, c.Scale, c.Epochs, c.Warmup),
		head:  table.Row{"model", "copies", "system", "P", "epoch ms", "predicted ms", "off by", "faster than NG-base by", "predicted", "H2D bytes", "D2H bytes", "device memory MiB", "loss apart"},
		notes: []string{"The first three systems have P = 4, or more where NG-base does not fit, and two buffers a stream. Everything: P free, within the memory that NG-base takes. Device memory: plan and kernels. Loss apart: the largest relative difference of a loss from NG-base's."}}
	if backend.Of(c.Device).Host {
		s.notes = append(s.notes, "The CPU device copies with the cores that compute, so that overlap gains less here than on a device with engines of its own for copies.")
	}
	graphs := map[int]*dataset.Data{}
	for _, model := range c.Models {
		for _, n := range copies {
			d := graphs[n]
			if d == nil {
				var err error
				if d, err = c.graph(redditSmall, n); err != nil {
					return nil, err
				}
				graphs[n] = d
			}
			if err := c.runSteps(a, s, model, n, d); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// runSteps adds the rows of one model on n copies.
func (c *Streaming) runSteps(a *app, s *sheet, model string, n int, d *dataset.Data) error {
	data := fields{{"model", model}, {"copies", n}, {"vertices", d.Edges.V}, {"edges", d.Edges.E()}}
	var base *counted
	p := 4
	for i, step := range streamingSteps() {
		a.Log.Info("running", "model", model, "copies", n, "system", step.name)
		cfg := saga.Config{Device: c.Device, Chunks: p, Prefetch: 1, Without: step.without, Save: cli.PaperSave}
		if i == 3 {
			cfg.Chunks, cfg.Prefetch, cfg.Save = 0, 0, ""
			if base != nil {
				cfg.Mem = base.held
			}
		}
		one, err := c.count(a, model, d, cfg, c.benchEpochs)
		for i == 0 && small(err) && p < 64 {
			p *= 2
			cfg.Chunks = p
			one, err = c.count(a, model, d, cfg, c.benchEpochs)
		}
		if err != nil {
			a.Log.Warn("no numbers", "model", model, "copies", n, "system", step.name, "error", err)
			s.rows = append(s.rows, table.Row{model, n, step.name, cannot(err)})
			data = append(data, field{step.key, fields{{"error", err.Error()}}})
			continue
		}
		one.log(a.Log, "model", model, "copies", n, "system", step.name)
		if i == 0 {
			base = one
		}
		gain, predicted, apart := "–", "–", "–"
		if base != nil {
			gain, apart = percent(faster(base.seconds, one.seconds)), fmt.Sprintf("%.0e", lossApart(one, base))
			if one.predicted > 0 {
				predicted = percent(faster(base.predicted, one.predicted))
			}
		}
		forecast, off := one.forecast()
		s.rows = append(s.rows, table.Row{model, n, step.name, one.chunks, ms(one.seconds), forecast, off, gain, predicted, one.h2d, one.d2h, mib(one.held), apart})
		data = append(data, field{step.key, one.data()})
	}
	s.data = append(s.data, data)
	return nil
}

func mib(n int64) string { return fmt.Sprintf("%.0f", float64(n)/(1<<20)) }
