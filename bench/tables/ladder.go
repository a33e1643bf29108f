package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/backend"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/saga"
)

// ladderRun is the flags of ablation for the ladder.
type ladderRun struct {
	Device   string   `placeholder:"NAME" help:"Instead of simulating: train on cpu or, in a build for GPUs, cuda or cuda:0,1, from the paper's baseline up, one thing added at a time."`
	Data     string   `placeholder:"PATH" help:"With --device: graph; default: one generated of --shape."`
	Chunks   auto     `default:"auto" placeholder:"P" help:"With --device: number of intervals of every line; auto: in each what fits and, by --machine where it describes the device, is fastest."`
	Prefetch count    `default:"1" placeholder:"N" help:"With --device: chunks loaded ahead, until the line that chooses it (${default}: two buffers take turns)."`
	Without  []string `placeholder:"PASS" help:"With --device: passes that no line adds, such as invariant."`
	benchEpochs
}

// rung is one line of the ladder: what it adds to the line before.
type rung struct {
	label string
	pass  string // the pass that is no longer left out; "": the step is not a pass
	set   func(c *saga.Config)
}

// ladder is the order in which optimisations are added to NG-base. Fusing comes after hoisting,
// so that NG-base with both is the paper's NGra.
func ladder() []rung {
	return []rung{
		{label: "+stream: copies beside kernels", pass: "stream"},
		{label: "+hoist: products leave the edges", pass: "hoist"},
		{label: "+fuse: no edge buffers (the paper's NGra)", pass: "fuse"},
		{label: "+commute", pass: "commute"},
		{label: "+factor", pass: "factor"},
		{label: "+residency: what fits stays", pass: "residency"},
		{label: "+row-gather: sorted rows instead of whole chunks", pass: "row-gather"},
		{label: "+pack: far ends of edges in as few bits as an interval needs", pass: "pack"},
		{label: "+degree-sort: vertices of like degree side by side", pass: "degree-sort"},
		{label: "+recompute-on-load (of products that hoisting made)", pass: "recompute-on-load"},
		{label: "+serpentine: every other visit backwards", pass: "serpentine"},
		{label: "+invariant: once instead of every epoch", pass: "invariant"},
		{label: "+postpone: sums wait for a sweep that reads what they need", pass: "postpone"},
		{label: "+choice of slots and what is saved; with a machine of schedule and intervals", set: func(c *saga.Config) { c.Prefetch, c.Save = 0, "" }},
		{label: "+group: several intervals meet each chunk that comes (with a machine)", pass: "group"},
		{label: "+slice: gathers of a half or a quarter of the columns", pass: "slice"},
		{label: "+wide: cells of all far ends (with a machine)", pass: "wide"},
		{label: "+ring: chunks handed from device to device", set: func(c *saga.Config) { c.NoRing = false }},
	}
}

// runLadder trains every model on every line and prints one table.
func (c *Ablation) runLadder(a *app, shape saga.Shape) error {
	if err := c.Ladder.runnable(c.Ladder.Device); err != nil {
		return err
	}
	if err := (&saga.Config{Without: c.Ladder.Without}).Validate(); err != nil {
		return cli.Usagef("--without: %w", err)
	}
	if c.Mem == 0 {
		return cli.Usagef("--mem: a size, such as 2GiB, is needed with --device, or everything stays and nothing streams")
	}
	reserve := int64(0)
	if c.modelled(c.Ladder.Device) {
		var err error
		if reserve, err = c.machineOf(); err != nil {
			return err
		}
		if int64(c.Mem) <= reserve {
			return cli.Usagef("--mem %d: machine %s keeps %d bytes for itself", c.Mem, c.Machine, reserve)
		}
	}
	d, err := c.ladderData(shape)
	if err != nil {
		return err
	}
	a.Log.Info("graph", "data", cli.Describe(d))
	s := &sheet{key: "ladder", title: fmt.Sprintf("From the paper's baseline up, on %s: %s, %d columns between %d layers, %s of device memory; medians of %d epochs after %d",
		c.Ladder.Device, cli.Describe(d), c.Hidden, c.Layers, cli.SizeText(int64(c.Mem)), c.Ladder.Epochs, c.Ladder.Warmup),
		head: table.Row{"model", "line", "epoch ms", "H2D GB", "D2H GB", "D2D GB", "P", "device memory MiB", "faster than the line before", "than NG-base", "predicted ms", "off by", "loss apart"}}
	for _, name := range c.Models {
		if _, err := c.model(name, saga.Shape{Features: d.FeatureCols, Classes: d.Classes}); err != nil {
			return err
		}
		c.climb(a, s, name, d, int64(c.Mem)-reserve)
	}
	s.notes = []string{
		"NG-base: chunk after chunk, nothing overlaps, Scatter, ApplyEdge and Gather unfused through a buffer of one row an edge, products on edges. Every line has all that stands above it. “Faster” is the old time over the new one. Bytes are those of an epoch, counted by the executor and equal to the plan's; device memory is plan and kernels, without context and libraries; loss apart is the largest relative difference of a loss from the first line's.",
		"What cannot be told apart: commuting and factoring count with the hoisting that they make room for; recompute-on-load needs products that hoisting has moved to vertices; with two buffers a stream serpentine saves one load a visit, and its rest comes with the slots of the last lines.",
	}
	if !c.modelled(c.Ladder.Device) {
		s.notes = append(s.notes, fmt.Sprintf("No predictions: machine %s is no model of %s; --machine cpu or h200 is.", c.Machine, c.Ladder.Device))
	}
	return c.print(a, s)
}

// ladderData is the graph of --data, or a generated one.
func (c *Ablation) ladderData(shape saga.Shape) (*dataset.Data, error) {
	if c.Ladder.Data != "" {
		return cli.OpenData(c.Ladder.Data, dataset.Options{})
	}
	return graphOf(shape, 1)
}

// climb adds the lines of one model. If a step cannot run, its line says so, and the next step is
// compared with the last one that ran.
func (c *Ablation) climb(a *app, s *sheet, name string, d *dataset.Data, mem int64) {
	cfg := saga.Config{Device: c.Ladder.Device, Mem: mem, Chunks: int(c.Ladder.Chunks), Prefetch: int(c.Ladder.Prefetch), Save: cli.PaperSave, NoRing: true,
		Without: union(append(cli.PaperWithout(), "fuse", "hoist", "stream"), c.Ladder.Without)}
	devices, _ := device.Count(c.Ladder.Device) // errors were checked before
	var base, last *counted
	try := func(label string) {
		a.Log.Info("running", "model", name, "line", label)
		one := cfg
		one.Without = slices.Clone(cfg.Without)
		m, err := c.count(a, name, d, one, c.Ladder.benchEpochs)
		if err != nil {
			a.Log.Warn("no numbers", "model", name, "line", label, "error", err)
			s.add(table.Row{name, label, cannot(err)}, fields{{"model", name}, {"line", label}, {"error", err.Error()}})
			return
		}
		m.log(a.Log, "model", name, "line", label)
		over := func(other *counted) string {
			if other == nil {
				return "–"
			}
			return fmt.Sprintf("%.2f×", other.seconds/m.seconds)
		}
		apart := "–"
		if base != nil {
			apart = fmt.Sprintf("%.0e", lossApart(m, base))
		}
		predicted, off := m.forecast()
		s.add(table.Row{name, label, ms(m.seconds), gigabytes(m.h2d), gigabytes(m.d2h), gigabytes(m.d2d), m.chunks, mib(m.held), over(last), over(base), predicted, off, apart},
			append(fields{{"model", name}, {"line", label}}, m.data()...))
		if last = m; base == nil && label == "NG-base" {
			base = m
		}
	}
	try("NG-base")
	for _, r := range ladder() {
		switch {
		case r.pass != "" && slices.Contains(c.Ladder.Without, r.pass):
			s.add(table.Row{name, r.label, "left out by --without"}, fields{{"model", name}, {"line", r.label}, {"error", "left out by --without"}})
			continue
		case r.pass != "" && !slices.Contains(cfg.Without, r.pass):
			continue // this engine does not have it
		case strings.HasPrefix(r.label, "+ring") && devices == 1:
			why := "one device: several are needed, such as --device " + backend.Of(c.Ladder.Device).Two
			s.add(table.Row{name, r.label, why}, fields{{"model", name}, {"line", r.label}, {"error", why}})
			continue
		case r.pass != "":
			cfg.Without = slices.DeleteFunc(slices.Clone(cfg.Without), func(p string) bool { return p == r.pass })
		default:
			r.set(&cfg)
			if c.modelled(c.Ladder.Device) && cfg.Save == "" {
				cfg.Schedule = "auto"
			}
		}
		try(r.label)
	}
}

// union is a followed by those of b that are not in a.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

func gigabytes(n int64) string { return fmt.Sprintf("%.3f", float64(n)/1e9) }
