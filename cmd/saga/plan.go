package main

import (
	"fmt"
)

// planCmd is saga plan.
type planCmd struct {
	settings
	Shape   string `hidden:"" placeholder:"SPEC" help:"Plan from statistics."`
	Explain bool   `default:"true" negatable:"" group:"Output" help:"Print every buffer and what the compiler did, by line (on)."`
	JSON    bool   `name:"json" group:"Output" help:"Print one JSON object on the last line of standard output."`
}

// Help is what stands under the usage line.
func (planCmd) Help() string {
	return `Examples:

  saga plan
  saga plan --data cora/ --model gat --mem 64MiB
  saga plan --data synthetic:vertices=200e3,edges=5e6 --model ggcn --mem 256MiB --json --no-explain`
}

// Run plans.
func (c *planCmd) Run(a *app) error {
	if c.Shape != "" {
		return usagef("--shape: planning from statistics is not there yet; --data synthetic:%s generates such a graph and plans for it", c.Shape)
	}
	if err := c.absolute(); err != nil {
		return err
	}
	j, err := prepare(&c.settings, a.log)
	if err != nil {
		return err
	}
	text := a.stdout
	if c.JSON {
		text = a.stderr
	}
	s := j.prog.Summary()
	if c.Explain {
		err = explain(text, j)
	} else {
		_, err = fmt.Fprintf(text, "%d×%d edge chunks, %s: peak %s of %s; %s to the device, %s back, an epoch\n", s.Chunks, s.Chunks, s.Schedule,
			sizeText(s.Peak), sizeText(s.Budget), sizeText(s.H2D), sizeText(s.D2H))
	}
	if err != nil || !c.JSON {
		return err
	}
	return printJSON(a.stdout, fields{
		{"model", c.Model}, {"vertices", s.Vertices}, {"edges", s.Edges}, {"chunks", s.Chunks}, {"schedule", s.Schedule},
		{"budget_bytes", s.Budget}, {"peak_device_bytes", s.Peak}, {"h2d_bytes", s.H2D}, {"d2h_bytes", s.D2H}, {"d2d_bytes", s.D2D},
		// A machine model will fill these in.
		{"predicted_epoch_seconds", nil}, {"compute_seconds", nil}, {"exposed_transfer_seconds", nil},
	})
}
