package tables

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
	"sagann/internal/cli"
	"sagann/saga"
)

// Auto is saga bench auto.
type Auto struct {
	Models   []string `type:"lowercase" default:"gcn,commnet,mpgcn,ggcn,ggnn" placeholder:"NAME" help:"Models (${default})."`
	Shapes   []string `default:"reddit_middle,reddit_full,enwiki,papers100M" placeholder:"NAME" help:"Shapes of graphs (${default})."`
	Machines []string `default:"h200,p100x8" placeholder:"NAME|FILE" help:"Machines of the simulator (${default})."`
	Budgets  count    `default:"4" placeholder:"N" help:"Budgets a case, from just above the smallest that works to below what holds everything (${default})."`
	Most     count    `default:"128" placeholder:"P" help:"Most intervals that the exhaustive search tries (${default})."`
	Step     count    `default:"15" placeholder:"N" help:"It tries every number of intervals up to twice N, then about every N-th part of the number further (${default})."`
	Save     string   `default:"auto" placeholder:"POLICY" help:"Save policy of both, or auto (${default})."`
	Hidden   count    `default:"128" placeholder:"N" help:"Columns between layers (${default})."`
	Layers   count    `default:"2" placeholder:"N" help:"Number of layers (${default})."`
	Markdown bool     `help:"Print Markdown."`
	JSON     bool     `name:"json" help:"Print one JSON object on the last line of standard output, the tables on standard error."`
}

// autoShapes are the graphs of the paper that do not fit into device memory, and the largest public graph.
var autoShapes = map[string]saga.Shape{
	"reddit_middle": redditMiddle, "reddit_full": measure.Plan("reddit_full"), "enwiki": measure.Plan("enwiki"), "papers100M": measure.Plan("papers100M"),
}

// autoGap is how much slower, in percent, the choice may be than the best plan.
const autoGap = 5

// autoCase is one model on one graph and machine.
type autoCase struct {
	model   saga.Model
	shape   saga.Shape
	machine string
	save    string // save policy; "": auto chooses it, too
}

// autoChoice is the choice of auto within a budget, and the best plan.
type autoChoice struct {
	mem        int64 // budget, including the memory that the machine reserves
	auto, best *measured
	took       time.Duration // time of planning
	tried      int           // how many numbers of intervals fit
}

func (c *autoChoice) gap() float64 { return faster(c.auto.seconds(), c.best.seconds()) }

// plan plans with chunks intervals, or with as many as auto chooses.
func (c *autoCase) plan(mem int64, chunks int) (*measured, error) {
	p, err := saga.Plan(c.model, c.shape, saga.Config{Machine: c.machine, Mem: mem, Chunks: chunks, Schedule: plan.Auto, Save: c.save})
	if err != nil {
		return nil, err
	}
	return &measured{p.TrainPlan(), p.Predicted()}, nil
}

// budgets makes n budgets in geometric progression. The first is a tenth above the smallest that
// works. The one after the last would hold everything, or is all memory of the machine.
func (c *autoCase) budgets(n int) ([]int64, error) {
	m, err := sim.LoadMachine(c.machine)
	if err != nil {
		return nil, cli.Usage(err)
	}
	reserve := int64(m.Kind(0).Memory.Value) - m.Budget(0)
	var small *plan.BudgetError
	_, err = saga.Plan(c.model, c.shape, saga.Config{Mem: 1})
	if !errors.As(err, &small) {
		return nil, fmt.Errorf("a budget of one byte gives %w", err)
	}
	all, err := saga.Plan(c.model, c.shape, saga.Config{Chunks: 1})
	if err != nil {
		return nil, err
	}
	least, most := 1.1*float64(small.Smallest), float64(min(all.PlannedPeak(), m.Budget(0)))
	if least >= most {
		return nil, nil // nothing fits, or the smallest budget holds everything
	}
	var out []int64
	for k := range n {
		out = append(out, reserve+int64(least*math.Pow(most/least, float64(k)/float64(n))))
	}
	return out, nil
}

// compare lets auto choose. Then it tries every number of intervals in ladder that
// fits, each with every schedule and number of slots.
func (c *autoCase) compare(mem int64, ladder []int) (*autoChoice, error) {
	start := time.Now()
	auto, err := c.plan(mem, 0)
	if err != nil {
		return nil, err
	}
	out := &autoChoice{mem: mem, auto: auto, best: auto, took: time.Since(start)}
	for _, p := range ladder {
		m, err := c.plan(mem, p)
		switch {
		case small(err):
			continue
		case err != nil:
			return nil, err
		}
		if out.tried++; m.line.Wall < out.best.line.Wall {
			out.best = m
		}
	}
	return out, nil
}

// autoLadder is every number of intervals up to twice step, and then numbers that grow by about 1/step each,
// up to most.
func autoLadder(most, step int) []int {
	var out []int
	for p := 1; p <= most; p += max(1, p/step) {
		out = append(out, p)
	}
	if out[len(out)-1] != most {
		out = append(out, most)
	}
	return out
}

// Run prints a table for each machine.
func (c *Auto) Run(a *app) error {
	if c.Most < 1 || c.Budgets < 1 || c.Step < 1 {
		return cli.Usagef("--most, --step and --budgets are at least 1")
	}
	o := &benchOutput{Machine: strings.Join(c.Machines, ","), Hidden: c.Hidden, Layers: c.Layers, Markdown: c.Markdown, JSON: c.JSON}
	ladder := autoLadder(int(c.Most), int(c.Step))
	var sheets []*sheet
	for _, machine := range c.Machines {
		s := &sheet{key: machine, title: fmt.Sprintf("auto on %s, against the best of %d numbers of intervals up to %d, each with every schedule", machine, len(ladder), c.Most),
			head: table.Row{"graph", "model", "device memory GiB", "auto: P", "schedule", "slots", "seconds", "best: P", "schedule", "slots", "seconds", "auto slower by", "planning s"}}
		var gaps []float64
		for _, graph := range c.Shapes {
			shape, ok := autoShapes[graph]
			if !ok {
				return cli.Usagef("unknown shape %q; there are reddit_middle, reddit_full, enwiki, papers100M", graph)
			}
			for _, name := range c.Models {
				m, err := o.model(name, shape)
				if err != nil {
					return err
				}
				some, err := c.rows(a, s, graph, &autoCase{m, shape, machine, c.Save})
				if err != nil {
					return fmt.Errorf("%s, %s: %w", graph, name, err)
				}
				gaps = append(gaps, some...)
			}
		}
		over := 0
		for _, g := range gaps {
			if g > autoGap {
				over++
			}
		}
		if len(gaps) > 0 {
			s.notes = []string{fmt.Sprintf("%d cases; auto is slower than the best by %s on average and %s at most, by more than %d %% in %d.", len(gaps), percent(average(gaps)), percent(slices.Max(gaps)), autoGap, over)}
		}
		sheets = append(sheets, s)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	sheets[len(sheets)-1].notes = append(sheets[len(sheets)-1].notes, fmt.Sprintf("The whole process, exhaustive searches included, took %s from the system.", cli.SizeText(int64(mem.Sys))))
	return o.print(a, sheets...)
}

// rows adds the rows of one case, one for each budget, and returns how much slower auto is in each.
func (c *Auto) rows(a *app, s *sheet, graph string, one *autoCase) (gaps []float64, err error) {
	budgets, err := one.budgets(int(c.Budgets))
	if err != nil {
		return nil, err
	}
	if len(budgets) == 0 {
		s.add(table.Row{graph, one.model.Name, "does not fit"}, fields{{"graph", graph}, {"model", one.model.Name}, {"fits", false}})
	}
	for _, mem := range budgets {
		m, err := one.compare(mem, autoLadder(int(c.Most), int(c.Step)))
		if err != nil {
			return nil, err
		}
		row := table.Row{graph, one.model.Name, fmt.Sprintf("%.2f", float64(mem)/(1<<30))}
		data := fields{{"graph", graph}, {"model", one.model.Name}, {"mem_bytes", mem}}
		for i, x := range []*measured{m.auto, m.best} {
			row = append(row, x.plan.Cells.P, x.plan.Schedule, x.plan.Slots, fmt.Sprintf("%.3f", x.seconds()))
			data = append(data, field{[]string{"auto", "best"}[i], fields{{"chunks", x.plan.Cells.P}, {"schedule", x.plan.Schedule}, {"slots", x.plan.Slots}, {"seconds", x.seconds()}}})
		}
		s.add(append(row, percent(m.gap()), fmt.Sprintf("%.2f", m.took.Seconds())),
			append(data, field{"slower_percent", m.gap()}, field{"planning_seconds", m.took.Seconds()}, field{"tried", m.tried}))
		gaps = append(gaps, m.gap())
		a.Log.Info("searched", "machine", one.machine, "graph", graph, "model", one.model.Name, "memory", cli.SizeText(mem),
			"auto", m.auto.seconds(), "best", m.best.seconds(), "slower", percent(m.gap()), "planning", m.took)
	}
	return gaps, nil
}
