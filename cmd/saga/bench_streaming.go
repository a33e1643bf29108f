package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/dataflow/plan"
	"sagann/saga"
)

// redditSmall is the shape of the paper's graph of that name.
var redditSmall = saga.Shape{Vertices: 46600, Edges: 1.4e6, Features: 602, Classes: 41}

// streamingCmd is saga bench streaming.
type streamingCmd struct {
	benchOutput
	Copies []string `default:"1,4,9,16" placeholder:"N" help:"Copies of the graph side by side (${default})."`
	benchRun
}

// streamingModels are those of the figure, with its means over the copies.
var streamingModels = []struct {
	name  string
	paper float64 // NG-stream over NG-base, percent
}{{"gcn", 33.2}, {"commnet", 29.3}, {"ggnn", 23.0}}

// streamingSteps are the systems of the figure, and this one: what each leaves out.
func streamingSteps() []struct {
	name, key string
	without   []string
} {
	paper := paperWithout()
	return []struct {
		name, key string
		without   []string
	}{
		{"NG-base", "base", append(slices.Clone(paper), "fuse", "hoist", "stream")},
		{"NG-stream", "stream", append(slices.Clone(paper), "fuse", "hoist")},
		{"NGra", "ngra", paper},
		{"everything", "everything", nil},
	}
}

// Run prints the tables.
func (c *streamingCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	if _, err := c.machineOf(); err != nil {
		return err
	}
	var copies []int
	for _, text := range c.Copies {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return usagef("--copies %s: whole numbers from 1 to 1000", text)
		}
		copies = append(copies, n)
	}
	s := &sheet{key: "streaming", title: fmt.Sprintf("Streaming: %s, copied, %s, one device", shapeText(redditSmall), c.Machine),
		head: table.Row{"model", "copies", "P", "NG-base ms", "NG-stream ms", "NGra ms", "everything ms", "NG-stream faster than NG-base by", "NGra faster than NG-base by", "GB moved, base", "NGra", "everything", "copies hidden"}}
	mean := &sheet{key: "means", title: "Means over the copies", head: table.Row{"model", "NG-stream over NG-base", "the paper's", "NGra over NG-base", "most that overlap can give"}}
	for _, model := range streamingModels {
		var stream, ngra, bound []float64
		for _, n := range copies {
			m, err := c.steps(model.name, n)
			if err != nil {
				return err
			}
			base := m[0]
			stream = append(stream, faster(base.seconds(), m[1].seconds()))
			ngra = append(ngra, faster(base.seconds(), m[2].seconds()))
			busy := base.line.Busy
			longest := max(busy[plan.Compute], busy[plan.H2D], busy[plan.D2H])
			bound = append(bound, faster(base.seconds(), float64(longest)/1e9))
			hidden := 100 * (1 - float64(m[1].line.Exposed)/float64(max(1, m[1].line.Transfer)))
			s.add(table.Row{model.name, n, base.plan.Cells.P, ms(base.seconds()), ms(m[1].seconds()), ms(m[2].seconds()), ms(m[3].seconds()),
				percent(stream[len(stream)-1]), percent(ngra[len(ngra)-1]), gb(base), gb(m[2]), gb(m[3]), percent(hidden)},
				c.data(model.name, n, m))
		}
		mean.add(table.Row{model.name, percent(average(stream)), percent(model.paper), percent(average(ngra)), percent(average(bound))},
			fields{{"model", model.name}, {"stream_over_base_percent", average(stream)}, {"paper_percent", model.paper},
				{"ngra_over_base_percent", average(ngra)}, {"bound_percent", average(bound)}})
	}
	mean.notes = []string{"NG-base: one chunk after the other, nothing overlaps, Scatter, ApplyEdge and Gather through a buffer of one row an edge, products on edges. NG-stream: the same with copies beside kernels. NGra: also operator motion and fusion (--paper). Everything: with what came after the paper, free to choose P. The first three load one chunk ahead (two buffers take turns); their P is the smallest from 4 on with which NG-base fits.",
		"The most that overlap can give is NG-base's time over that of its busiest queue: with perfect overlap all else hides behind it."}
	sheets := []*sheet{s, mean}
	if c.Device != "" {
		run, err := c.run(a, copies)
		if err != nil {
			return err
		}
		sheets = append(sheets, run)
	}
	return c.print(a, sheets...)
}

// steps simulates the systems on n copies of the graph.
func (c *streamingCmd) steps(model string, n int) ([]*measured, error) {
	shape := redditSmall
	shape.Vertices, shape.Edges = n*shape.Vertices, int64(n)*shape.Edges
	var out []*measured
	p := 4
	for i, step := range streamingSteps() {
		cfg := saga.Config{Chunks: p, Prefetch: 1, Without: step.without, Save: paperSave}
		if i == 3 {
			cfg.Chunks, cfg.Prefetch, cfg.Save = 0, 0, ""
		}
		m, err := c.simulate(model, shape, cfg)
		for i == 0 && small(err) && p < 64 {
			p *= 2
			cfg.Chunks = p
			m, err = c.simulate(model, shape, cfg)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, %d copies: %w", step.name, n, err)
		}
		out = append(out, m)
	}
	return out, nil
}

func small(err error) bool {
	var e *plan.BudgetError
	return errors.As(err, &e)
}

func (c *streamingCmd) data(model string, n int, m []*measured) fields {
	f := fields{{"model", model}, {"copies", n}}
	for i, step := range streamingSteps() {
		f = append(f, field{step.key, fields{{"chunks", m[i].plan.Cells.P}, {"seconds", m[i].seconds()}, {"compute_seconds", m[i].line.ComputeSeconds()},
			{"exposed_transfer_seconds", m[i].line.ExposedSeconds()}, {"h2d_bytes", m[i].plan.H2D}, {"d2h_bytes", m[i].plan.D2H}, {"peak_device_bytes", m[i].plan.Peak}}})
	}
	return f
}

func gb(m *measured) string { return fmt.Sprintf("%.2f", float64(m.moved())/1e9) }

func average(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(max(1, len(x)))
}

// streamingEpochs are run of every system; the first warms up.
const streamingEpochs = 4

// run runs the systems on the CPU device: what they moved, and the median epoch.
func (c *streamingCmd) run(a *app, copies []int) (*sheet, error) {
	s := &sheet{key: "run", title: fmt.Sprintf("Run on cpu: the graph of reddit_small's shape, 1/%d of it, copied; P = 4, two buffers a stream; epochs as measured, bytes as the executor counted them, equal to the plan's", c.Scale),
		head:  table.Row{"model", "copies", "NG-base ms", "NG-stream ms", "NGra ms", "everything ms", "NG-stream faster than NG-base by", "NGra faster than NG-base by", "everything faster than NG-base by", "bytes moved, base", "NG-stream", "NGra", "everything"},
		notes: []string{"Everything: P free, within the memory that NG-base's plan takes. The CPU device copies with the cores that compute, so that overlap gains less here than on a device with engines of its own for copies."}}
	for _, model := range streamingModels {
		for _, n := range copies {
			d, err := c.graph(redditSmall, n)
			if err != nil {
				return nil, err
			}
			row := table.Row{model.name, n}
			data := fields{{"model", model.name}, {"copies", n}, {"vertices", d.Edges.V}, {"edges", d.Edges.E()}}
			var m []*counted
			for i, step := range streamingSteps() {
				a.log.Info("running", "model", model.name, "copies", n, "system", step.name)
				cfg := saga.Config{Chunks: 4, Prefetch: 1, Without: step.without, Save: paperSave, Seed: 1}
				if i == 3 {
					cfg.Chunks, cfg.Prefetch, cfg.Save, cfg.Mem = 0, 0, "", m[0].peak
				}
				one, err := c.count(model.name, d, cfg, streamingEpochs)
				if err != nil {
					return nil, fmt.Errorf("%s, %d copies: %w", step.name, n, err)
				}
				m = append(m, one)
				row = append(row, ms(one.seconds))
				data = append(data, field{step.key, fields{{"chunks", one.chunks}, {"seconds", one.seconds}, {"h2d_bytes", one.h2d}, {"d2h_bytes", one.d2h}, {"peak_device_bytes", one.peak}}})
			}
			for _, other := range m[1:] {
				row = append(row, percent(faster(m[0].seconds, other.seconds)))
			}
			for _, one := range m {
				row = append(row, one.moved())
			}
			s.add(row, data)
		}
	}
	return s, nil
}
