package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sagann/backend"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/ring"
)

// gpus are GPUs of a system, by the driver's numbers.
type gpus struct {
	sys   device.System
	index []int
	ways  [][]device.PeerAccess
}

// driver is the topology of the GPUs that the driver of a kind lists, measured or from the system.
func (c *topoCmd) driver(a *app, kind *backend.Kind) (*ring.Tree, error) {
	sys, err := kind.System()
	if err != nil {
		return nil, err
	}
	g, err := c.gpus(sys)
	if err != nil {
		return nil, err
	}
	if !c.Measure {
		return g.tree(a, os.DirFS("/sys"))
	}
	if err := g.list(a); err != nil {
		return nil, err
	}
	if err := cli.CanWrite(c.Out); err != nil {
		return nil, err
	}
	var list []device.Card
	for _, i := range g.index {
		card, err := sys.Card(i)
		if err != nil {
			return nil, err
		}
		if len(card.Users) > 0 {
			a.Log.Warn("others use the card, and rates come out lower than they are", "card", card.String())
		}
		list = append(list, card)
	}
	base := c.Machine
	if base == "" {
		base = cli.NearestMachine(kind, list[0].Name, len(list))
	}
	a.Log.Info("measuring copies, gathers, products, launches and links", "devices", len(list))
	made, err := measureMachine(kind, g.index, list, base, false)
	if err != nil {
		return nil, err
	}
	if err := c.keep(a, made); err != nil {
		return nil, err
	}
	if cli.Machines() != "" { // what runs without --machine read
		if err := keepMachine(filepath.Join(cli.Machines(), cli.MachineFile(&list[0], len(list))), made); err != nil {
			a.Log.Warn("the machine is not kept for runs without --machine", "why", err)
		}
	}
	return made.Tree(0)
}

// gpus are those that --device and --devices name.
func (c *topoCmd) gpus(sys device.System) (*gpus, error) {
	g := &gpus{sys: sys}
	if _, some, listed := strings.Cut(c.Device, ":"); listed {
		var err error
		if _, g.index, err = device.Parse(c.Device); err != nil {
			return nil, cli.Usage(err)
		}
		for _, i := range g.index {
			if i >= sys.GPUs() {
				return nil, cli.Usagef("--device cuda:%s: the driver lists %d GPUs, from 0", some, sys.GPUs())
			}
		}
	} else {
		for i := range sys.GPUs() {
			g.index = append(g.index, i)
		}
	}
	if n := int(c.Devices); n > len(g.index) {
		return nil, cli.Usagef("--devices %d: --device %s names %d", n, c.Device, len(g.index))
	} else if n > 0 {
		g.index = g.index[:n]
	}
	return g, g.findWays()
}

// findWays asks the driver how copies go between the GPUs.
func (g *gpus) findWays() error {
	for _, i := range g.index {
		row := make([]device.PeerAccess, len(g.index))
		for k, j := range g.index {
			if i == j {
				continue
			}
			var err error
			if row[k], err = g.sys.Peer(i, j); err != nil {
				return err
			}
		}
		g.ways = append(g.ways, row)
	}
	return nil
}

// kinds are the ways between the GPUs, by place.
func (g *gpus) kinds() [][]ring.PeerKind {
	kind := map[device.PeerAccess]ring.PeerKind{device.PeerNone: ring.Staged, device.PeerBus: ring.Switched, device.PeerLink: ring.Direct}
	var out [][]ring.PeerKind
	for _, row := range g.ways {
		var kinds []ring.PeerKind
		for _, w := range row {
			kinds = append(kinds, kind[w])
		}
		out = append(out, kinds)
	}
	return out
}

// tree is what the driver and the PCI devices below sys tell. A GPU that sysfs does not
// list, as in many virtual machines, makes it a tree of one root.
func (g *gpus) tree(a *app, sys fs.FS) (*ring.Tree, error) {
	if err := g.list(a); err != nil {
		return nil, err
	}
	kinds := g.kinds()
	peers := func(from, to int) ring.Peer { return ring.Peer{Kind: kinds[from][to]} }
	var ids []string
	var unknown error
	for _, i := range g.index {
		id, err := g.sys.Bus(i)
		if err != nil {
			unknown = err
		}
		ids = append(ids, id)
	}
	var t *ring.Tree
	if unknown == nil {
		t, unknown = ring.FromSystem(sys, ids, peers)
	}
	if unknown != nil {
		a.Log.Warn("the system does not show where the GPUs hang: all on one root, at unknown rates; --measure finds them", "because", unknown)
		t = ring.OneRoot(len(g.index), peers)
	}
	for k, i := range g.index {
		t.GPUs[k].Name = fmt.Sprint("gpu", i)
	}
	return t, t.Validate()
}

// list logs what the driver says of every GPU.
func (g *gpus) list(a *app) error {
	for _, i := range g.index {
		name, err := g.sys.Name(i)
		if err != nil {
			return err
		}
		card, err := g.sys.Card(i)
		if err != nil {
			return err
		}
		bus, err := g.sys.Bus(i)
		if err != nil {
			bus = "unknown"
		}
		a.Log.Info(fmt.Sprint("gpu", i), "name", name, "bus", bus, "memory", cli.SizeText(card.Total), "free", cli.SizeText(card.Free))
	}
	return nil
}
