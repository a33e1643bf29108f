package tables

import (
	"fmt"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/saga"
)

// schedules are the orders that are compared, by name and JSON key.
var schedules = []struct{ name, key string }{{plan.Sag, "sag"}, {plan.Stage, "stage"}, {plan.DestOrder, "dest_order"}}

// parts reads --budgets.
func (c *Schedules) parts() ([]float64, error) {
	var out []float64
	for _, text := range c.Budgets {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0 && x < 1e6) {
			return nil, cli.Usagef("--budgets %s: numbers above 0, such as 1,0.5", text)
		}
		out = append(out, x)
	}
	return out, nil
}

// run runs every schedule on a device, in the paper's system and with
// everything on. Budgets are parts of the memory that the paper's sag takes. It returns a table of the bytes of
// each system, and one of all times.
func (c *Schedules) run(a *app, without []string, parts []float64) ([]*sheet, error) {
	d, err := c.graph(redditMiddle, 1)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d vertices, %d edges; bytes of one epoch as the executor counted them, equal to the plan's", d.Edges.V, d.Edges.E())
	sheets := []*sheet{{key: "counted", title: fmt.Sprintf("Run on %s (--paper), P = %d: %s", c.Device, c.Chunks, what)}}
	for _, part := range parts {
		of := fmt.Sprintf("%g of the memory", part)
		if part == 1 {
			of = "the memory"
		}
		sheets = append(sheets, &sheet{key: "counted_ours", title: fmt.Sprintf("Run on %s, everything on, within %s that the paper's sag plan takes: %s", c.Device, of, what)})
	}
	for i, s := range sheets {
		s.head = table.Row{"model", "sag bytes", "stage bytes", "dest-order bytes", "stage ÷ sag", "dest-order ÷ sag"}
		if i > 1 {
			s.key = fmt.Sprintf("counted_ours_%g", parts[i-1])
		}
	}
	times := &sheet{key: "times", title: fmt.Sprintf("Epochs on %s: medians of %d after %d", c.Device, c.Epochs, c.Warmup),
		head:  table.Row{"model", "system", "schedule", "P", "slots", "epoch ms", "predicted ms", "off by", "sag faster by", "predicted", "H2D GB", "D2H GB", "device memory MiB", "loss apart"},
		notes: []string{"Device memory: plan and kernels. Loss apart: the largest relative difference of a loss from that of the paper's sag."}}
	sums := make([][3]int64, len(sheets))
	for _, name := range c.Models {
		var first *counted
		for k, s := range sheets {
			cfg := saga.Config{Device: c.Device}
			system := "paper"
			if k == 0 {
				cfg.Chunks, cfg.Prefetch, cfg.Without, cfg.Save = int(c.Chunks), int(c.Prefetch), without, cli.PaperSave
			} else if first == nil {
				continue // without sag there is no memory to take a part of
			} else {
				cfg.Mem = int64(parts[k-1] * float64(first.held))
				system = mib(cfg.Mem) + " MiB"
			}
			n, sag := c.three(a, times, name, system, d, cfg, first)
			if k == 0 {
				first = sag
			}
			s.count(name, n)
			for i := range n {
				sums[k][i] += n[i]
			}
		}
	}
	for k, s := range sheets {
		s.count("all", sums[k])
	}
	return append(sheets, times), nil
}

// three runs one system with every schedule and adds its times. It returns the bytes, 0
// if there was no run, and the run with sag.
func (c *Schedules) three(a *app, times *sheet, name, system string, d *dataset.Data, cfg saga.Config, first *counted) (n [3]int64, sag *counted) {
	for i, schedule := range schedules {
		a.Log.Info("running", "model", name, "system", system, "schedule", schedule.name)
		cfg.Schedule = schedule.name
		m, err := c.count(a, name, d, cfg, c.benchEpochs)
		if err != nil {
			a.Log.Warn("no numbers", "model", name, "system", system, "schedule", schedule.name, "error", err)
			times.add(table.Row{name, system, schedule.name, cannot(err)}, fields{{"model", name}, {"system", system}, {"schedule", schedule.name}, {"error", err.Error()}})
			continue
		}
		m.log(a.Log, "model", name, "system", system, "schedule", schedule.name)
		n[i] = m.moved()
		if i == 0 {
			sag = m
		}
		if first == nil {
			first = m
		}
		gain, predicted := "–", "–"
		if sag != nil && i > 0 {
			gain = percent(faster(m.seconds, sag.seconds))
			if sag.predicted > 0 {
				predicted = percent(faster(m.predicted, sag.predicted))
			}
		}
		forecast, off := m.forecast()
		times.add(table.Row{name, system, schedule.name, m.chunks, m.slots, ms(m.seconds), forecast, off, gain, predicted,
			fmt.Sprintf("%.3f", float64(m.h2d)/1e9), fmt.Sprintf("%.3f", float64(m.d2h)/1e9), mib(m.held), fmt.Sprintf("%.0e", lossApart(m, first))},
			append(fields{{"model", name}, {"system", system}}, m.data()...))
	}
	return n, sag
}

// count adds the bytes of the three schedules. They are 0 if nothing moves, or if nothing could run (the table of
// times then says why).
func (s *sheet) count(name string, n [3]int64) {
	row := table.Row{name, n[0], n[1], n[2], "–", "–"}
	if n[0] > 0 {
		row[4], row[5] = ratio(n[1], n[0]), ratio(n[2], n[0])
	}
	s.add(row, fields{{"model", name}, {"sag_bytes", n[0]}, {"stage_bytes", n[1]}, {"dest_order_bytes", n[2]}})
}
