package main

import (
	"bufio"
	"fmt"
	"strings"

	"sagann/backend"
	"sagann/internal/cli"
	"sagann/saga"
)

// kernelsCmd is saga kernels.
type kernelsCmd struct {
	settings
	Shape string `default:"vertices=233000,edges=23.2e6,features=602,classes=41" placeholder:"SPEC" group:"data" help:"Statistics of the graph; --data takes those of a graph (${default})."`
}

// Help is what stands under the usage line.
func (kernelsCmd) Help() string {
	return `Prints what the kernels of a model are as CUDA C++: one translation unit for every
different program of training and evaluation. It needs no GPU.

Examples:

  saga kernels --model ggcn
  saga kernels --model gat --hidden 8 --shape vertices=2708,edges=10556,features=1433,classes=7`
}

// notKernels are settings that no kernel depends on.
var notKernels = []string{"self-loops", "init", "embedding-init", "epochs", "lr", "lr-decay", "lr-decay-every", "weight-decay", "decay", "optimizer", "momentum", "clip-norm", "eval-every",
	"patience", "class-weights", "batch", "accumulate", "lr-schedule", "warm-up", "lr-min", "lr-factor", "lr-patience", "lr-epochs", "host-mem", "scratch", "ring",
	"chunks", "schedule", "prefetch", "from"}

// Run prints the sources.
func (c *kernelsCmd) Run(a *app) error {
	a.Idle("kernels", notKernels...)
	c.Training.From = ""
	kind := backend.Of(c.Memory.Device)
	if !kind.GPU() {
		// Kernels of a GPU are printed, so the program is compiled for none, and as many devices.
		_, devices, _ := strings.Cut(c.Memory.Device, ":")
		kind, c.Memory.Device = backend.Printed(), strings.TrimSuffix("null:"+devices, ":")
	}
	p, err := c.program(a)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(a.Stdout)
	seen := map[string]string{}
	for i, k := range p.Kernels() {
		rendered, err := kind.Renderer.Render(k, kind.Chip)
		if err != nil {
			return err
		}
		r := rendered.Text()
		if first, ok := seen[r.Source]; ok {
			fmt.Fprintf(w, "// Kernel %d, %s, is the same as %s.\n\n", i, k.Name, first)
			continue
		}
		seen[r.Source] = fmt.Sprintf("kernel %d", i)
		fmt.Fprintf(w, "// Kernel %d, %s: %s\n%s\n", i, k.Name, strings.Join(r.Names, ", "), r.Source)
	}
	return w.Flush()
}

// program is the model's, for the data or for the shape.
func (c *kernelsCmd) program(a *app) (*saga.Program, error) {
	if a.Given["data"] || c.Config != "" && !a.Given["shape"] {
		if a.Given["shape"] {
			return nil, cli.Usagef("--data and --shape exclude each other")
		}
		j, err := prepare(&c.settings, a.Log)
		if err != nil {
			return nil, err
		}
		return j.prog, nil
	}
	shape, cfg, err := c.shaped(a, c.Shape)
	if err != nil {
		return nil, err
	}
	tellIdle(a.Log, c.idle(saga.VertexTask))
	c.past.delta = 1 // kernels do not depend on degrees
	prep := prepared{Layers: c.layers(shape.Features, shape.Classes, 0, 0)}
	m, err := prep.made(&c.settings, nil)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return saga.Plan(m, shape, cfg)
}
