package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sagann/dataflow/plan"
	"sagann/ring"
)

// topoCmd is saga topo.
type topoCmd struct {
	Machine string `placeholder:"NAME|FILE" help:"A machine model: one of ${machines}, or a file; without it the GPUs of this system."`
	Devices count  `default:"0" placeholder:"K" help:"Only the first K devices; 0: all. With --measure: that many CPU devices (1)."`
	Measure bool   `help:"Time copies on the CPU device and write a machine file with the links so found; what copies do not tell is that of --machine (cpu)."`
	Out     string `default:"measured.json" placeholder:"FILE" help:"The machine file that --measure writes (${default})."`
	Dot     bool   `help:"Print the tree and the ring for Graphviz."`
	JSON    bool   `name:"json" help:"Print one JSON object on the last line of standard output."`
}

// Help is what stands under the usage line.
func (topoCmd) Help() string {
	return `Prints what hangs where, which GPUs load chunks from host memory, the ring in
which they hand them on, and why.

Examples:

  saga topo
  saga topo --machine p100x8
  saga topo --machine h200x4 --devices 2 --json
  saga topo --measure --devices 2 --out this.json
  saga topo --machine p100x8 --dot | dot -Tsvg > p100x8.svg`
}

// Run prints.
func (c *topoCmd) Run(a *app) error {
	if c.Dot && c.JSON {
		return usagef("--dot and --json print different things on standard output: one of them at a time")
	}
	if a.given["out"] && !c.Measure {
		return usagef("--out %s: only --measure writes a machine file", c.Out)
	}
	t, err := c.tree(a)
	if err != nil {
		return err
	}
	r, err := ring.New(t)
	if err != nil {
		return err
	}
	if c.Dot {
		return r.Dot(a.stdout)
	}
	w := io.Writer(a.stdout)
	if c.JSON {
		w = a.stderr
	}
	if err := r.Text(w); err != nil || !c.JSON {
		return err
	}
	return printJSON(a.stdout, topoObject(r))
}

// tree is the topology asked for.
func (c *topoCmd) tree(a *app) (*ring.Tree, error) {
	var m *plan.Machine
	if c.Machine != "" {
		var err error
		if m, err = plan.LoadMachine(c.Machine); err != nil {
			return nil, usageError{err}
		}
	}
	if c.Measure {
		return c.measure(a, m)
	}
	if m == nil {
		t, err := ring.FromSystem(os.DirFS("/sys"), nil, nil)
		switch {
		case errors.Is(err, ring.ErrNoGPU) || errors.Is(err, os.ErrNotExist):
			a.log.Info("this system lists no GPU; the machine model of the CPU device instead", "machine", "cpu")
			if m, err = plan.LoadMachine("cpu"); err != nil {
				return nil, err
			}
		case err != nil:
			return nil, err
		case int(c.Devices) > len(t.GPUs):
			return nil, usagef("--devices %d: this system lists %d", c.Devices, len(t.GPUs))
		default:
			return first(t, int(c.Devices)), nil
		}
	}
	t, err := m.Tree(int(c.Devices))
	if err != nil {
		err = usageError{err}
	}
	return t, err
}

// first keeps the first n GPUs of t, all when n is 0.
func first(t *ring.Tree, n int) *ring.Tree {
	if n > 0 {
		t.GPUs, t.Peers = t.GPUs[:n], t.Peers[:n]
		for i := range t.Peers {
			t.Peers[i] = t.Peers[i][:n]
		}
	}
	return t
}

// measure times copies, writes the machine file and returns its tree.
func (c *topoCmd) measure(a *app, m *plan.Machine) (*ring.Tree, error) {
	if info, err := os.Stat(filepath.Dir(c.Out)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("--out %s: no folder %s", c.Out, filepath.Dir(c.Out))
	}
	if m == nil {
		var err error
		if m, err = plan.LoadMachine("cpu"); err != nil {
			return nil, err
		}
	}
	n := max(1, int(c.Devices))
	if n > maxCPUs {
		return nil, usagef("--devices %d: at most %d CPU devices are measured", n, maxCPUs)
	}
	a.log.Info("timing copies", "devices", n, "bytes", copyBytes)
	got, err := ring.Measure(newCPUCopies(n))
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(c.Out), filepath.Ext(c.Out))
	made, err := plan.MeasuredMachine(m, got, name, fmt.Sprintf("saga topo --measure: copies of %s between buffers of %d CPU devices", sizeText(copyBytes), n))
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeWhole(c.Out, func(w *bufio.Writer) { w.Write(append(text, '\n')) }); err != nil {
		return nil, err
	}
	a.log.Info("machine file written; read it with --machine", "file", c.Out)
	return made.Tree(0)
}

// topoObject is the topology as JSON; rates in B/s, null where nothing limits.
func topoObject(r *ring.Ring) fields {
	t := r.Tree
	links := []fields{}
	for _, l := range t.Links {
		parent := any(nil)
		if l.Parent >= 0 {
			parent = t.Links[l.Parent].Name
		}
		links = append(links, fields{{"name", l.Name}, {"parent", parent}, {"down", limit(l.Down)}, {"up", limit(l.Up)}})
	}
	gpus, loaders, order := []fields{}, []fields{}, []string{}
	for _, g := range t.GPUs {
		gpus = append(gpus, fields{{"name", g.Name}, {"link", t.Links[g.Link].Name}})
	}
	for i, g := range r.Loaders {
		loaders = append(loaders, fields{{"name", t.GPUs[g].Name}, {"takes", r.Takes[i]}})
	}
	for _, g := range r.Order {
		order = append(order, t.GPUs[g].Name)
	}
	return fields{{"machine", t.Name}, {"links", links}, {"devices", gpus}, {"loaders", loaders}, {"ring", order}, {"slowest", r.Slowest}, {"why", r.Why}}
}

func limit(rate float64) any {
	if rate == 0 {
		return nil
	}
	return rate
}
