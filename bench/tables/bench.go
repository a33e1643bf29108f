package tables

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/sync/errgroup"

	"sagann/bench/measure"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
)

// benchOutput says how tables are printed and what they are simulated on.
type benchOutput struct {
	Machine  string `default:"p100x8" placeholder:"NAME|FILE" help:"Machine of the simulator: one of ${machines}, or a file (${default})."`
	Hidden   count  `default:"128" placeholder:"N" help:"Columns between layers (${default})."`
	Layers   count  `default:"2" placeholder:"N" help:"Number of layers (${default})."`
	Markdown bool   `help:"Print Markdown."`
	JSON     bool   `name:"json" help:"Print one JSON object on the last line of standard output, the tables on standard error."`

	planner *saga.Planner // of simulate; nil: plans share nothing
}

// sheet is one table of a benchmark.
type sheet struct {
	title string
	key   string // name in JSON
	head  table.Row
	rows  []table.Row
	data  []fields // the rows as JSON
	notes []string
}

func (s *sheet) add(row table.Row, data fields) {
	s.rows, s.data = append(s.rows, row), append(s.data, data)
}

func (o *benchOutput) print(a *app, sheets ...*sheet) error {
	w := io.Writer(a.Stdout)
	if o.JSON {
		w = a.Stderr
	}
	object := fields{{"machine", o.Machine}}
	for _, s := range sheets {
		t := table.NewWriter()
		t.SetStyle(table.StyleLight)
		t.AppendHeader(s.head)
		t.AppendRows(s.rows)
		text, mark := t.Render(), ""
		if o.Markdown {
			text, mark = t.RenderMarkdown(), "**"
		}
		if _, err := fmt.Fprintf(w, "%s%s%s\n\n%s\n", mark, s.title, mark, text); err != nil {
			return err
		}
		for _, n := range s.notes {
			if _, err := fmt.Fprintf(w, "\n%s\n", n); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		object = append(object, field{s.key, s.data})
	}
	if o.JSON {
		if err := cli.PrintJSON(a.Stdout, object); err != nil {
			return err
		}
	}
	if a.Runs != nil { // a signal may have stopped the runs
		return a.Runs.Err()
	}
	return nil
}

// machineOf checks the machine and returns its reserve: the bytes that must be added to the memory of a
// plan.
func (o *benchOutput) machineOf() (reserve int64, err error) {
	m, err := sim.LoadMachine(o.Machine)
	if err != nil {
		return 0, cli.Usage(err)
	}
	return int64(m.Kind(0).Memory.Value) - m.Budget(0), nil
}

// model makes the model with a name for a shape.
func (o *benchOutput) model(name string, s saga.Shape) (saga.Model, error) {
	m, err := layers.New(name, layers.Options{Features: s.Features, Classes: s.Classes, Hidden: int(o.Hidden), Layers: int(o.Layers)})
	if err != nil {
		err = cli.Usage(err)
	}
	return m, err
}

// measured is a planned and simulated epoch.
type measured struct {
	plan *plan.Plan
	line *sim.Timeline
}

func (m *measured) moved() int64     { return m.plan.H2D + m.plan.D2H }
func (m *measured) seconds() float64 { return m.line.Seconds() }

// simulate plans an epoch of a model from statistics.
func (o *benchOutput) simulate(name string, s saga.Shape, c saga.Config) (*measured, error) {
	m, err := o.model(name, s)
	if err != nil {
		return nil, err
	}
	c.Machine = o.Machine
	plan := saga.Plan
	if o.planner != nil {
		plan = o.planner.Plan
	}
	p, err := plan(m, s, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &measured{p.TrainPlan(), p.Predicted()}, nil
}

// each calls do for 0 to n-1, as many at a time as there are processors.
func each(n int, do func(k int) error) error {
	g, ctx := errgroup.WithContext(context.Background())
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil // another has failed
			}
			return do(k)
		})
	}
	return g.Wait()
}

// processorTime says in a note what the process has taken so far.
func processorTime() string { return fmt.Sprintf("%.0f processor seconds.", measure.CPUSeconds()) }

// faster is by how many percent other takes longer than ours.
func faster(other, ours float64) float64 { return 100 * (other/ours - 1) }

func percent(x float64) string  { return fmt.Sprintf("%.1f %%", x) }
func ratio(a, b int64) string   { return fmt.Sprintf("%.2f", float64(a)/float64(b)) }
func ms(seconds float64) string { return fmt.Sprintf("%.1f", 1e3*seconds) }

// paperModels are the five of the paper's evaluation.
var paperModels = []string{"gcn", "commnet", "mpgcn", "ggcn", "ggnn"}
