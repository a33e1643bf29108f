package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sagann/backend"
	"sagann/dataflow/plan/sim"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/ring"
)

// topoCmd is saga topo.
type topoCmd struct {
	Machine string `placeholder:"NAME|FILE" help:"A machine model: one of ${machines}, or a file; without it the GPUs of this system."`
	Device  string `placeholder:"NAME" help:"The GPUs that the driver lists (cuda, or cuda:0,1 for some of them), with their links from the system; with --measure also cpu or cpu:4, the default there."`
	Devices count  `default:"0" placeholder:"K" help:"Only the first K devices; 0: all. With --measure on the CPU: that many CPU devices (1)."`
	Measure bool   `help:"Time copies on --device and write a machine file with the links and the disk found; of GPUs also the rates of their memory, gathers, products and launches. All else in it is that of --machine (cpu; for GPUs the nearest of h200, h100 and a100)."`
	Out     string `default:"measured.json" placeholder:"FILE" help:"The machine file that --measure writes (${default})."`
	Dot     bool   `help:"Print the tree and the ring for Graphviz."`
	JSON    bool   `name:"json" help:"Print one JSON object on the last line of standard output."`
}

// Help is what stands under the usage line.
func (topoCmd) Help() string {
	return `Prints how the GPUs of a machine are connected, which of them load chunks from host memory,
and in which ring they pass the chunks on, with the reasons.

The system knows the width and speed of its links, and virtual machines often hide even
that. --measure times copies instead: of each device alone, of pairs, of all at once, and
in both directions. Of GPUs it also measures how fast they copy, gather and multiply, in a few
seconds, and keeps that for later runs on such a card.

Examples:

  saga topo
  saga topo --machine p100x8
  saga topo --machine h200x4 --devices 2 --json
  saga topo --device cuda
  saga topo --device cuda:0,1 --measure --out this.json
  saga train --device cuda:0,1 --machine this.json --mem 8GiB
  saga topo --machine p100x8 --dot | dot -Tsvg > p100x8.svg`
}

// Run prints.
func (c *topoCmd) Run(a *app) error {
	if c.Dot && c.JSON {
		return cli.Usagef("--dot and --json print different things on standard output: one of them at a time")
	}
	if a.Given["out"] && !c.Measure {
		return cli.Usagef("--out %s: only --measure writes a machine file", c.Out)
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
		return r.Dot(a.Stdout)
	}
	w := io.Writer(a.Stdout)
	if c.JSON {
		w = a.Stderr
	}
	if err := r.Text(w); err != nil || !c.JSON {
		return err
	}
	return cli.PrintJSON(a.Stdout, topoObject(r))
}

// tree is the topology asked for.
func (c *topoCmd) tree(a *app) (*ring.Tree, error) {
	var m *sim.Machine
	if c.Machine != "" {
		var err error
		if m, err = sim.LoadMachine(c.Machine); err != nil {
			return nil, cli.Usage(err)
		}
		if c.Device != "" && !c.Measure {
			return nil, cli.Usagef("--machine %s and --device %s: the links of one of the two, or --measure", c.Machine, c.Device)
		}
	}
	kind, index, err := c.device()
	switch {
	case err != nil:
		return nil, cli.Usage(err)
	case backend.Of(kind).System != nil:
		return c.driver(a, backend.Of(kind))
	case c.Measure:
		if m == nil {
			if m, err = sim.LoadMachine("cpu"); err != nil {
				return nil, err
			}
		}
		devices, err := device.Open(fmt.Sprint("cpu:", len(index)), 2*copyBytes)
		if err != nil {
			return nil, err
		}
		return c.measure(a, m, devices, &copies{bytes: copyBytes, inFlight: 2, runs: 3})
	}
	if m == nil && kind == "" {
		t, err := ring.FromSystem(os.DirFS("/sys"), nil, nil)
		switch {
		case errors.Is(err, ring.ErrNoGPU) || errors.Is(err, os.ErrNotExist):
			a.Log.Info("this system lists no GPU; the machine model of the CPU device instead", "machine", "cpu")
		case err != nil:
			return nil, err
		case int(c.Devices) > len(t.GPUs):
			return nil, cli.Usagef("--devices %d: this system lists %d", c.Devices, len(t.GPUs))
		default:
			return first(t, int(c.Devices)), nil
		}
	}
	if m == nil {
		if m, err = sim.LoadMachine("cpu"); err != nil {
			return nil, err
		}
	}
	t, err := m.Tree(int(c.Devices))
	if err != nil {
		err = cli.Usage(err)
	}
	return t, err
}

// maxCPUs is how many CPU devices are measured at most.
const maxCPUs = 8

// device reads --device. For the CPU index has a number a device, --devices in count.
func (c *topoCmd) device() (kind string, index []int, err error) {
	spec := c.Device
	if spec == "" && !c.Measure {
		return "", nil, nil
	}
	if spec == "" {
		spec = "cpu"
	}
	if kind, index, err = device.Parse(spec); err != nil {
		return "", nil, err
	}
	switch k := backend.Of(kind); {
	case k.System != nil:
		err = device.Shared(spec)
	case c.Devices > 0 && strings.Contains(spec, ":"):
		err = fmt.Errorf("--device %s and --devices %d: one of them", spec, c.Devices)
	default:
		index = make([]int, max(len(index), int(c.Devices)))
		if c.Measure && len(index) > maxCPUs {
			err = fmt.Errorf("%d CPU devices: at most %d are measured", len(index), maxCPUs)
		}
	}
	return kind, index, err
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

// measure times copies with p on the devices, which it closes, writes the machine file
// and returns its tree.
func (c *topoCmd) measure(a *app, m *sim.Machine, devices []device.Device, p *copies) (*ring.Tree, error) {
	if err := cli.CanWrite(c.Out); err != nil {
		for _, d := range devices {
			err = errors.Join(err, d.Close())
		}
		return nil, err
	}
	a.Log.Info("timing copies", "devices", len(devices), "bytes", p.bytes)
	made, err := measureLinks(m, devices, p, strings.TrimSuffix(filepath.Base(c.Out), filepath.Ext(c.Out)))
	if err != nil {
		return nil, err
	}
	if err := c.keep(a, made); err != nil {
		return nil, err
	}
	return made.Tree(0)
}

// keep measures the disk below --out and writes the machine file.
func (c *topoCmd) keep(a *app, made *sim.Machine) error {
	disk, err := diskRate(filepath.Dir(c.Out))
	if err != nil {
		a.Log.Warn("the disk is not measured", "why", err)
	} else {
		made.Disk = disk
	}
	text, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return err
	}
	if err := cli.WriteWhole(c.Out, func(w *bufio.Writer) error { _, err := w.Write(append(text, '\n')); return err }); err != nil {
		return err
	}
	a.Log.Info("machine file written; read it with --machine", "file", c.Out)
	return nil
}

// diskBytes is what diskRate writes.
const diskBytes = 256 << 20

// diskRate is the rate at which a file in folder is written until the disk has it.
func diskRate(folder string) (*sim.Number, error) {
	f, err := os.CreateTemp(folder, ".saga-disk-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_ = os.Remove(f.Name()) // where a file can be written without a name, it ends with the process
	block := make([]byte, 4<<20)
	for i := range block {
		block[i] = byte(i * 7 >> 3)
	}
	begun := time.Now()
	for range diskBytes / len(block) {
		if _, err := f.Write(block); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	rate := diskBytes / time.Since(begun).Seconds()
	return &sim.Number{Value: rate, Unit: "B/s", Source: fmt.Sprintf("measured %s: %d MiB written and synced in the folder of --out; reads are taken to be as fast", time.Now().Format(time.DateOnly), diskBytes>>20)}, nil
}

// measureLinks is m with the links that p finds between the devices and host memory. It closes the devices.
func measureLinks(m *sim.Machine, devices []device.Device, p *copies, name string) (made *sim.Machine, err error) {
	p.devices = devices
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(); err != nil {
		return nil, err
	}
	got, err := ring.Measure(p)
	if err != nil {
		return nil, err
	}
	return sim.MeasuredMachine(m, got, name, p.about()+", "+time.Now().Format(time.DateOnly))
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
	return fields{{"machine", t.Name}, {"links", links}, {"devices", gpus}, {"loaders", loaders}, {"ring", order}, {"slowest", limit(r.Slowest)}, {"why", r.Why}}
}

func limit(rate float64) any {
	if rate == 0 || math.IsInf(rate, 1) {
		return nil
	}
	return rate
}
