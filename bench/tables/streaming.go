package tables

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/dataflow/plan"
	"sagann/internal/cli"
	"sagann/saga"
)

// redditSmall is the shape of the paper's graph of that name.
var redditSmall = measure.Plan("reddit_small")

// Streaming is saga bench streaming.
type Streaming struct {
	benchOutput
	Models []string `type:"lowercase" default:"gcn,commnet,ggnn" placeholder:"NAME" help:"Models (${default}, those of the figure)."`
	Copies []string `default:"1,4,9,16" placeholder:"N" help:"Copies of the graph side by side (${default})."`
	benchRun
}

// streamingPaper is the speed-up of NG-stream over NG-base in the figure, in percent, averaged over the copies.
var streamingPaper = map[string]float64{"gcn": 33.2, "commnet": 29.3, "ggnn": 23.0}

// streamingSteps are the systems of the figure and this engine, with the passes that each leaves out.
func streamingSteps() []struct {
	name, key string
	without   []string
} {
	paper := cli.PaperWithout()
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
func (c *Streaming) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	if _, err := c.machineOf(); err != nil {
		return err
	}
	c.unused(a)
	var copies []int
	for _, text := range c.Copies {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return cli.Usagef("--copies %s: whole numbers from 1 to 1000", text)
		}
		copies = append(copies, n)
	}
	s := &sheet{key: "streaming", title: fmt.Sprintf("Streaming: %s, copied, %s, one device", shapeText(redditSmall), c.Machine),
		head: table.Row{"model", "copies", "P", "NG-base ms", "NG-stream ms", "NGra ms", "everything ms", "NG-stream faster than NG-base by", "NGra faster than NG-base by", "GB moved, base", "NGra", "everything", "copies hidden"}}
	mean := &sheet{key: "means", title: "Means over the copies", head: table.Row{"model", "NG-stream over NG-base", "the paper's", "NGra over NG-base", "most that overlap can give"}}
	for _, model := range c.Models {
		var stream, ngra, bound []float64
		for _, n := range copies {
			m, err := c.steps(model, n)
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
			s.add(table.Row{model, n, base.plan.Cells.P, ms(base.seconds()), ms(m[1].seconds()), ms(m[2].seconds()), ms(m[3].seconds()),
				percent(stream[len(stream)-1]), percent(ngra[len(ngra)-1]), gb(base), gb(m[2]), gb(m[3]), percent(hidden)},
				c.data(model, n, m))
		}
		paper, known := streamingPaper[model]
		text := percent(paper)
		if !known {
			text = "–"
		}
		mean.add(table.Row{model, percent(average(stream)), text, percent(average(ngra)), percent(average(bound))},
			fields{{"model", model}, {"stream_over_base_percent", average(stream)}, {"paper_percent", paper},
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
func (c *Streaming) steps(model string, n int) ([]*measured, error) {
	shape := redditSmall
	shape.Vertices, shape.Edges = n*shape.Vertices, int64(n)*shape.Edges
	var out []*measured
	p := 4
	for i, step := range streamingSteps() {
		cfg := saga.Config{Chunks: p, Prefetch: 1, Without: step.without, Save: cli.PaperSave}
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

func (c *Streaming) data(model string, n int, m []*measured) fields {
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
