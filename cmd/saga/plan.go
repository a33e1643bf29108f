package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"sagann/dataflow/plan/sim"
	"sagann/dataflow/plan/view"
	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/saga"
)

// planCmd is saga plan.
type planCmd struct {
	settings
	Shape   string   `placeholder:"SPEC" group:"data" help:"Plan from statistics instead of data: vertices=..,edges=..,features=..,classes=..[,skew=..]."`
	Devices count    `default:"0" placeholder:"K" group:"memory" help:"Number of devices; 0: those of --device."`
	Hosts   count    `default:"1" placeholder:"N" group:"memory" help:"Plan for all devices of N hosts such as --machine, and say from where on more hosts make an epoch no faster (${default})."`
	Ask     askFlags `embed:""`
	Explain bool     `negatable:"" group:"output" help:"Print every buffer and what the compiler did, by line."`
	Dump    string   `placeholder:"PASS" group:"output" help:"Print the program as it is after a pass, instead of the plan."`
	Dot     bool     `group:"output" help:"Print the chunk dataflow graph for Graphviz, instead of the plan."`
	HTML    string   `name:"html" placeholder:"FILE" group:"output" help:"Write one page with the timeline of the simulated epoch; - for standard output."`
	JSON    bool     `name:"json" group:"output" help:"Print one JSON object on the last line of standard output."`
}

// askFlags ask how saga predict would answer for some vertices.
type askFlags struct {
	Vertices string   `placeholder:"FILE|LIST" group:"output" help:"Say how saga predict would answer for these vertices alone, by ids with commas between or in a file: by blocks of their in-edges or, where that is more than half the work, by a pass over all."`
	Add      []string `sep:"none" placeholder:"EDGES,VERTICES|NAME=FILE" group:"output" help:"Say how saga predict --add would answer for the vertices of these tables, or with --vertices for those."`
}

// Help is what stands under the usage line.
func (planCmd) Help() string {
	return `Examples:

  saga plan --explain
  saga plan --data cora/ --model gat --mem 64MiB
  saga plan --shape vertices=111e6,edges=1.6e9,features=128,classes=172 --model ggcn --hidden 128 --machine h200x4 --devices 4
  saga plan --shape vertices=233e3,edges=23.2e6,features=602,classes=41 --machine p100x8 --paper --chunks 4 --html plan.html
  saga plan --chunks 2 --dot | dot -Tsvg > plan.svg`
}

// Run plans.
func (c *planCmd) Run(a *app) error {
	outputs := 0
	for _, on := range []bool{c.Explain, c.Dump != "", c.Dot, c.HTML == "-"} {
		if on {
			outputs++
		}
	}
	if outputs > 1 || c.JSON && (c.Dot || c.Dump != "" || c.HTML == "-") {
		return cli.Usagef("--explain, --dump, --dot, --html - and --json print different things on standard output: one of them at a time (--explain goes with --json)")
	}
	if c.Devices > 0 {
		if a.Given["device"] {
			return cli.Usagef("--device %s and --devices %d: one of them is enough", c.Memory.Device, c.Devices)
		}
		c.Memory.Device = fmt.Sprintf("cpu:%d", c.Devices)
	}
	a.Idle("a plan", "epochs", "patience", "init", "class-weights", "scratch", "from")
	if int(c.Training.EvalEvery) < saga.Seldom {
		a.Idle(fmt.Sprintf("a plan if evaluations are fewer than %d epochs apart", saga.Seldom), "eval-every")
	}
	c.Training.From = ""
	if c.HTML != "" && c.HTML != "-" {
		if err := cli.CanWrite(c.HTML); err != nil {
			return err
		}
	}
	if c.Hosts > 1 {
		a.Idle("a plan for several hosts", "vertices", "add")
		return c.onHosts(a)
	}
	var m *sim.Machine
	if c.Planning.Machine != "" { // a wrong file is a mistake in the command line
		var err error
		if m, err = sim.LoadMachine(c.Planning.Machine); err != nil {
			return cli.Usage(err)
		}
	}
	j, err := c.job(a)
	if err != nil {
		return err
	}
	if m == nil {
		if m, err = sim.LoadMachine("cpu"); err != nil {
			return err
		}
	}
	if c.Ask.Vertices != "" || c.Ask.Add != nil {
		if err := c.answers(a, j); err != nil {
			return err
		}
	}
	return c.print(a, j, j.prog.Simulated(m))
}

// answers says how the vertices of --vertices and --add would be answered for.
func (c *planCmd) answers(a *app, j *job) error {
	if j.data == nil {
		return cli.Usagef("--vertices and --add are for a graph (--data PATH), and --shape has statistics alone")
	}
	tables, err := addedOf(c.Ask.Add, cmp.Or(j.prep.Layers.Task, saga.VertexTask))
	if err != nil {
		return err
	}
	d, list, predict := j.data, []uint32(nil), "saga predict --vertices would "
	if c.Ask.Add != nil {
		predict = "saga predict --add would "
		if d, list, err = j.prep.with(a, d, c.Data.Path, tables); err != nil {
			return err
		}
	}
	if c.Ask.Vertices != "" {
		if list, err = verticesOf(c.Ask.Vertices, d); err != nil {
			return err
		}
	}
	part, whole, err := saga.SomeWork(j.model, d, list)
	switch {
	case err != nil:
		a.Log.Info(predict+"predict all vertices", "why", err.Error())
	case 2*part > whole:
		a.Log.Info(predict+"predict all vertices", "why", manyEdges(part, whole).Error())
	default:
		a.Log.Info(predict + "answer " + byBlocks(len(list), part, whole))
	}
	return nil
}

// job is the planned program, from data or from statistics.
func (c *planCmd) job(a *app) (*job, error) {
	c.Planning.found = cli.PlannedMachine(c.Memory.Device)
	if c.Shape == "" {
		if err := c.absolute(); err != nil {
			return nil, err
		}
		c.Data.sizes = c.Ask.Vertices == "" && c.Ask.Add == nil && c.Training.Sampling.whole()
		return prepare(&c.settings, a.Log)
	}
	if a.Given["data"] {
		return nil, cli.Usagef("--data and --shape exclude each other")
	}
	shape, cfg, err := c.shaped(a, c.Shape)
	if err != nil {
		return nil, err
	}
	o := c.layers(shape.Features, shape.Classes, 0, 0)
	if c.Data.Task != "auto" {
		o.Task = saga.Task(c.Data.Task)
	}
	var prep prepared
	if err := prep.choose(c.Data.Features, c.Data.EmbeddingInit, &dataset.Data{FeatureCols: shape.Features}, o.Task); err != nil {
		return nil, err
	}
	if prep.Features != "" || prep.OneHot {
		return nil, cli.Usagef("--features %s: a plan for a shape knows features of its width and embedding:64", c.Data.Features)
	}
	if prep.Layers = o; prep.Embedding > 0 {
		prep.Layers.Features = prep.Embedding
	}
	c.past.delta = 1 // statistics tell no degrees, and a plan does not depend on them
	m, err := prep.made(&c.settings, nil)
	if err != nil {
		return nil, cli.Usage(err)
	}
	tellIdle(a.Log, c.idle(o.Task))
	p, err := saga.Plan(m, shape, cfg)
	if err != nil {
		return nil, err
	}
	tellIdle(a.Log, c.idlePlan(p))
	return &job{prog: p}, nil
}

func (c *planCmd) print(a *app, j *job, t *sim.Timeline) (err error) {
	switch {
	case c.Dump != "":
		if err = j.prog.Dump(a.Stdout, c.Dump); err != nil {
			err = cli.Usage(err)
		}
		return err
	case c.Dot:
		return view.Dot(j.prog.TrainPlan(), a.Stdout)
	case c.HTML == "-":
		return j.prog.WriteHTML(a.Stdout, t)
	case c.HTML != "":
		if err = cli.WriteWhole(c.HTML, func(w *bufio.Writer) error { return j.prog.WriteHTML(w, t) }); err != nil {
			return err
		}
	}
	text := io.Writer(a.Stdout)
	if c.JSON {
		text = a.Stderr
	}
	if err := c.summary(text, j, t); err != nil || !c.JSON {
		return err
	}
	return c.object(a.Stdout, j, t)
}

// summary prints the plan for people.
func (c *planCmd) summary(w io.Writer, j *job, t *sim.Timeline) error {
	if c.Explain {
		if err := explain(w, j); err != nil {
			return err
		}
	} else {
		if j.note != "" {
			fmt.Fprintln(w, j.note)
		}
		if err := j.prog.Overview(w); err != nil {
			return err
		}
	}
	if c.Planning.Machine == "" && t != nil {
		if _, err := fmt.Fprintf(w, "predicted %s\n", t); err != nil {
			return err
		}
	}
	if c.Shape == "" {
		if _, err := fmt.Fprintf(w, "digest    %s\n", j.prog.Digest()); err != nil {
			return err
		}
	}
	if c.HTML != "" {
		_, err := fmt.Fprintf(w, "page      %s\n", c.HTML)
		return err
	}
	return nil
}

// object prints the plan as JSON. Times are null when no machine predicts them.
func (c *planCmd) object(w io.Writer, j *job, t *sim.Timeline) error {
	vertices, edges := j.prog.Totals()
	pl := j.prog.TrainPlan()
	peak, s := j.prog.PlannedPeak(), j.prog.Summary()
	budget := pl.Budget
	if budget == 0 {
		budget = peak
	}
	f := fields{
		{"model", c.Model.Name}, {"vertices", vertices}, {"edges", edges}, {"chunks", pl.Cells.P}, {"schedule", pl.Schedule},
		{"budget_bytes", budget}, {"peak_device_bytes", peak}, {"h2d_bytes", pl.H2D}, {"d2h_bytes", pl.D2H}, {"d2d_bytes", pl.D2D},
		{"once_bytes", pl.Once}, {"host_bytes", s.Host}, {"disk_bytes", s.Disk}, {"devices", pl.Devices}, {"slots", pl.Slots}, {"tasks", len(pl.Tasks)}, {"slices", j.prog.Slices()}, {"packed", j.prog.Packed()},
	}
	if t == nil {
		return cli.PrintJSON(w, append(f, field{"predicted_epoch_seconds", nil}, field{"compute_seconds", nil}, field{"exposed_transfer_seconds", nil}))
	}
	links := fields{}
	for _, l := range t.Links {
		if l.Down+l.Up > 0 {
			links = append(links, field{l.Name, fields{{"down_bytes", l.Down}, {"up_bytes", l.Up}, {"load", l.Load}}})
		}
	}
	return cli.PrintJSON(w, append(f, field{"machine", t.Machine}, field{"predicted_epoch_seconds", t.Seconds()},
		field{"compute_seconds", t.ComputeSeconds()}, field{"exposed_transfer_seconds", t.ExposedSeconds()},
		field{"idle_seconds", float64(t.Idle) / 1e9}, field{"critical", t.Critical()}, field{"links", links}))
}
