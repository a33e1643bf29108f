package tables

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/internal/cli"
	"sagann/saga"
)

// Ablation is saga bench ablation.
type Ablation struct {
	benchOutput
	Models []string `type:"lowercase" aliases:"model" default:"gcn,commnet,mpgcn,ggcn,ggnn" placeholder:"NAME" help:"Models (${default})."`
	Shape  string   `default:"vertices=233000,edges=23.2e6,features=602,classes=41" placeholder:"SPEC" help:"Statistics of the graph (${default})."`
	Mem    memory   `default:"2GiB" placeholder:"SIZE" help:"Device memory, that which the machine keeps for itself included (${default})."`
	ladderRun
}

// ablations are left out in turn. Commuting and factoring also hoist products, so
// hoisting cannot be left out without them.
var ablations = []string{"hoist,commute,factor", "fuse", "commute", "factor", "group", "invariant", "pack", "postpone", "recompute-on-load", "residency", "row-gather", "serpentine", "slice", "stream"}

// Run prints one table for each model, with every pass left out in turn, by simulation. With
// --device it prints the ladder instead, by training.
func (c *Ablation) Run(a *app) error {
	shape, err := cli.ParseShape(c.Shape)
	if err != nil {
		return cli.Usage(err)
	}
	if _, err := c.machineOf(); err != nil {
		return err
	}
	if c.Device != "" {
		return c.runLadder(a, shape)
	}
	var sheets []*sheet
	for _, name := range c.Models {
		s := &sheet{key: name, title: fmt.Sprintf("%s: %s, %s, %s of device memory", name, shapeText(shape), c.Machine, cli.SizeText(int64(c.Mem))),
			head: table.Row{"without", "P", "peak MiB", "down GB", "up GB", "ms", "compute ms", "exposed transfer ms", "slower by"}}
		var all *measured
		try := func(label, save string, without ...string) error {
			m, err := c.simulate(name, shape, saga.Config{Mem: int64(c.Mem), Save: save, Without: without})
			switch {
			case small(err):
				s.add(table.Row{label, "does not fit"}, fields{{"without", label}, {"fits", false}})
				return nil
			case err != nil:
				return err
			}
			if all == nil {
				all = m
			}
			slower := faster(m.seconds(), all.seconds())
			s.add(table.Row{label, m.plan.Cells.P, m.plan.Peak >> 20, fmt.Sprintf("%.2f", float64(m.plan.H2D)/1e9), fmt.Sprintf("%.2f", float64(m.plan.D2H)/1e9),
				ms(m.seconds()), ms(m.line.ComputeSeconds()), ms(m.line.ExposedSeconds()), percent(slower)},
				fields{{"without", label}, {"chunks", m.plan.Cells.P}, {"peak_device_bytes", m.plan.Peak}, {"h2d_bytes", m.plan.H2D}, {"d2h_bytes", m.plan.D2H},
					{"seconds", m.seconds()}, {"compute_seconds", m.line.ComputeSeconds()}, {"exposed_transfer_seconds", m.line.ExposedSeconds()}, {"slower_percent", slower}})
			return nil
		}
		if err := try("nothing", ""); err != nil {
			return err
		}
		for _, list := range ablations {
			passes := strings.Split(list, ",")
			if known := (&saga.Config{Without: passes}); known.Validate() != nil {
				continue // this engine does not have the pass
			}
			if err := try(strings.Join(passes, ", "), "", passes...); err != nil {
				return err
			}
		}
		if err := try("all newer than the paper", cli.PaperSave, cli.PaperWithout()...); err != nil {
			return err
		}
		sheets = append(sheets, s)
	}
	return c.print(a, sheets...)
}
