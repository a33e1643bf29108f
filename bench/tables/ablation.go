package tables

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/internal/cli"
	"sagann/internal/progress"
	"sagann/saga"
)

// Ablation is saga bench ablation.
type Ablation struct {
	benchOutput
	Models []string  `type:"lowercase" aliases:"model" default:"gcn,ggcn,gat,ggnn,mpgcn" placeholder:"NAME" help:"Models (${default})."`
	Shape  string    `default:"vertices=233000,edges=23.2e6,features=602,classes=41" placeholder:"SPEC" help:"Statistics of the graph (${default})."`
	Mem    memory    `placeholder:"SIZE" help:"Device memory, that which the machine keeps for itself included. Default: --part."`
	Part   float64   `default:"0.5" placeholder:"PART" help:"Without --mem: plans get this part of the memory that each model takes with all of it on the device (${default})."`
	Work   count     `default:"6.2M" placeholder:"N" help:"Tasks that each search simulates, about; that of training simulates 7 M (${default})."`
	SVG    string    `name:"svg" placeholder:"FILE" help:"Also draw the table of all models into this file."`
	Ladder ladderRun `embed:""`
}

// ablations are left out in turn. Commuting and factoring also hoist products, so
// hoisting cannot be left out without them.
var ablations = []string{"hoist,commute,factor", "fuse", "commute", "factor", "group", "invariant", "pack", "postpone", "recompute-on-load", "residency", "row-gather", "serpentine", "slice", "stream", "wide"}

// omission is a row of the tables: what is left out.
type omission struct {
	label string
	cfg   saga.Config
}

// omissions are the rows. The first leaves out nothing.
func omissions() []omission {
	list := []omission{{label: "nothing"}}
	for _, s := range ablations {
		passes := strings.Split(s, ",")
		if cfg := (saga.Config{Without: passes}); cfg.Validate() == nil { // else this engine does not have the pass
			list = append(list, omission{strings.Join(passes, ", "), cfg})
		}
	}
	return append(list, omission{"all newer than the paper", saga.Config{Save: cli.PaperSave, Without: cli.PaperWithout()}})
}

// Run prints how much slower every model is with every pass left out in turn, by simulation, then a table of
// each model. With --device it prints the ladder instead, by training.
func (c *Ablation) Run(a *app) error {
	shape, err := cli.ParseShape(c.Shape)
	if err != nil {
		return cli.Usage(err)
	}
	if _, err := c.machineOf(); err != nil {
		return err
	}
	if c.Ladder.Device != "" {
		a.Idle("runs with --device", "part", "work", "svg")
		if c.Ladder.Data != "" {
			a.Idle("the graph of --data", "shape")
		}
		return c.runLadder(a, shape)
	}
	a.Idle("what is simulated, without --device", "data", "chunks", "prefetch", "without", "warmup", "epochs")
	if c.Mem > 0 {
		a.Idle("plans of --mem", "part")
	}
	if c.Mem == 0 && !(c.Part > 0 && c.Part <= 1) {
		return cli.Usagef("--part %v: more than 0, at most 1", c.Part)
	}
	if c.SVG != "" {
		if err := cli.CanWrite(c.SVG); err != nil {
			return err
		}
	}
	rows := omissions()
	if c.Work < 1 {
		return cli.Usagef("--work %d: at least 1", c.Work)
	}
	c.planner = saga.NewPlanner(int(c.Work))          // rows of a model try many plans that are equal
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // plans are small and many
	found, err := c.leaveOut(a, shape, rows)
	if err != nil {
		return err
	}
	all := &sheet{key: "slower", title: fmt.Sprintf("Slower by so many percent without a pass: %s, %s, %s, simulated", shapeText(shape), c.Machine, c.budgetText()),
		head: table.Row{"without"}, notes: []string{fmt.Sprintf("A part that saves bytes which hide behind kernels shows 0. Below 0: the search finds a better plan without the part. "+
			"A part that changes none of a model's programs is not planned without. Each search simulates about %s tasks.", short(float64(c.Work)))}}
	for _, name := range c.Models {
		all.head = append(all.head, name)
	}
	for i, r := range rows {
		row, data := table.Row{r.label}, fields{{"without", r.label}}
		for m, name := range c.Models {
			text, value := "does not fit", any(nil)
			if f := found[m][i]; f != nil {
				slower := faster(f.seconds(), found[m][0].seconds())
				text, value = percent(slower), slower
			}
			row, data = append(row, text), append(data, field{name, value})
		}
		all.add(row, data)
	}
	if c.SVG != "" {
		if err := drawAblation(c.SVG, c.Models, rows, found); err != nil {
			return err
		}
	}
	sheets := []*sheet{all}
	for m, name := range c.Models {
		sheets = append(sheets, c.details(name, shape, rows, found[m]))
	}
	last := sheets[len(sheets)-1]
	last.notes = append(last.notes, processorTime())
	return c.print(a, sheets...)
}

// budgetText says in words how much memory plans get.
func (c *Ablation) budgetText() string {
	if c.Mem > 0 {
		return cli.SizeText(int64(c.Mem)) + " of device memory"
	}
	return fmt.Sprintf("%.3g of the memory of each model", c.Part)
}

// leaveOut simulates every model with every row's omission, several at a time: by model, then by row, nil where
// a plan does not fit.
func (c *Ablation) leaveOut(a *app, shape saga.Shape, rows []omission) ([][]*measured, error) {
	bar, done := progress.New(a.Stderr, len(c.Models)*len(rows), "plan"), atomic.Int64{}
	defer bar.Finish()
	mem, programs := make([]int64, len(c.Models)), make([]string, len(c.Models))
	if err := each(len(c.Models), func(m int) (err error) {
		if mem[m], err = c.budget(c.Models[m], shape); err == nil {
			programs[m], err = c.programs(c.Models[m], shape, saga.Config{})
		}
		return err
	}); err != nil {
		return nil, err
	}
	found, idle := make([][]*measured, len(c.Models)), make([][]bool, len(c.Models))
	for m := range found {
		found[m], idle[m] = make([]*measured, len(rows)), make([]bool, len(rows))
	}
	err := each(len(c.Models)*len(rows), func(k int) error {
		m, i := k/len(rows), k%len(rows)
		cfg := rows[i].cfg
		same, err := i > 0, error(nil)
		if same {
			same, err = c.idle(c.Models[m], shape, cfg, programs[m])
		}
		if err == nil && !same { // the others are filled in below
			cfg.Mem = mem[m]
			found[m][i], err = c.simulate(c.Models[m], shape, cfg)
		}
		if err != nil && (i == 0 || !small(err)) {
			return err
		}
		idle[m][i] = same
		bar.Set(int(done.Add(1)), c.Models[m]+" without "+rows[i].label)
		return nil
	})
	for m := range found {
		for i, same := range idle[m] {
			if same {
				found[m][i] = found[m][0]
			}
		}
	}
	return found, err
}

// budget is the device memory of a model's plans, that which the machine keeps for itself included.
func (c *Ablation) budget(name string, shape saga.Shape) (int64, error) {
	if c.Mem > 0 {
		return int64(c.Mem), nil
	}
	reserve, err := c.machineOf()
	if err != nil {
		return 0, err
	}
	all, err := c.simulate(name, shape, saga.Config{Chunks: 1})
	if err != nil {
		return 0, fmt.Errorf("all of it on the device: %w; give --mem", err)
	}
	return reserve + int64(c.Part*float64(all.plan.Peak)), nil
}

// details is the table of one model.
func (c *Ablation) details(name string, shape saga.Shape, rows []omission, found []*measured) *sheet {
	s := &sheet{key: name, title: fmt.Sprintf("%s: %s, %s, %s", name, shapeText(shape), c.Machine, c.budgetText()),
		head: table.Row{"without", "P", "peak MiB", "down GB", "up GB", "ms", "compute ms", "exposed transfer ms", "slower by"}}
	for i, r := range rows {
		m := found[i]
		if m == nil {
			s.add(table.Row{r.label, "does not fit"}, fields{{"without", r.label}, {"fits", false}})
			continue
		}
		slower := faster(m.seconds(), found[0].seconds())
		s.add(table.Row{r.label, m.plan.Cells.P, m.plan.Peak >> 20, gigabytes(m.plan.H2D), gigabytes(m.plan.D2H),
			ms(m.seconds()), ms(m.line.ComputeSeconds()), ms(m.line.ExposedSeconds()), percent(slower)},
			fields{{"without", r.label}, {"chunks", m.plan.Cells.P}, {"peak_device_bytes", m.plan.Peak}, {"h2d_bytes", m.plan.H2D}, {"d2h_bytes", m.plan.D2H},
				{"seconds", m.seconds()}, {"compute_seconds", m.line.ComputeSeconds()}, {"exposed_transfer_seconds", m.line.ExposedSeconds()}, {"slower_percent", slower}})
	}
	return s
}
