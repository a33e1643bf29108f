package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"sagann/dataflow/plan"
	topology "sagann/ring"
)

// Tree is the tree of the first n devices of m, with the links that lead to them; n = 0
// means all. It is an error if m has fewer than n devices.
func (m *Machine) Tree(n int) (*topology.Tree, error) {
	n, err := m.ringSize(n)
	if err != nil {
		return nil, err
	}
	t := &topology.Tree{Name: m.Name}
	byName, at := map[string]*Link{}, map[string]int{}
	for i := range m.Links {
		byName[m.Links[i].Name] = &m.Links[i]
	}
	rates := func(name, kind string, parent int) topology.Link {
		k := m.LinkKinds[kind]
		l := topology.Link{Name: name, Parent: parent, Down: k.Down.Value, Up: k.Up.Value}
		if k.Both.Value < k.Down.Value+k.Up.Value {
			l.Both = k.Both.Value
		}
		return l
	}
	var add func(name string) int // parents first
	add = func(name string) int {
		if l, ok := at[name]; ok {
			return l
		}
		l, parent := byName[name], -1
		if l.Parent != "" {
			parent = add(l.Parent)
		}
		t.Links = append(t.Links, rates(name, l.Kind, parent))
		at[name] = len(t.Links) - 1
		return at[name]
	}
	device := map[string]int{}
	for i, d := range m.Devices[:n] {
		t.GPUs = append(t.GPUs, topology.GPU{Name: d.Name, Link: add(d.Link)})
		t.Peers = append(t.Peers, make([]topology.Peer, n))
		device[d.Name] = i
	}
	if m.Bridge != "" {
		t.Bridge = rates("bridge", m.Bridge, -1)
	}
	for _, g := range m.Peers {
		p := topology.Peer{Kind: topology.Switched}
		if g.Port != "" {
			k := m.LinkKinds[g.Port]
			p = topology.Peer{Kind: topology.Direct, Rate: min(k.Up.Value, k.Down.Value)}
		}
		for _, a := range g.Devices {
			for _, b := range g.Devices {
				i, known := device[a]
				j, both := device[b]
				if known && both && i != j {
					t.Peers[i][j] = p
				}
			}
		}
	}
	return t, nil
}

// ringSize is the number of devices of a ring of n, where 0 means all.
func (m *Machine) ringSize(n int) (int, error) {
	if n < 0 || n > len(m.Devices) {
		return 0, fmt.Errorf("plan: a ring of %d devices on machine %s, which has %d", n, m.Name, len(m.Devices))
	}
	return cmp.Or(n, len(m.Devices)), nil
}

// RingOf is the ring of the first n devices of m (see ring.New); n = 0 means all. It is an error if
// m has fewer than n devices, or if n devices are more than one host and not whole hosts.
func RingOf(m *Machine, n int) (*plan.Topology, error) {
	if m.Hosts() > 1 {
		return ringOfHosts(m, n)
	}
	t, err := m.Tree(n)
	if err != nil {
		return nil, err
	}
	return topology.New(t)
}

// MeasuredMachine is a machine with the measured links of got. Its devices are those that were
// measured; their kinds, which copies tell nothing of, are those of m's devices in turn. The disk and
// the network adapters, which were not measured, are those of m. about says what was measured and
// becomes the source of every measured number.
func MeasuredMachine(m *Machine, got *topology.Measured, name, about string) (*Machine, error) {
	t, err := got.Tree(name)
	if err != nil {
		return nil, err
	}
	out := &Machine{Name: name, About: about, DeviceKinds: m.DeviceKinds, LinkKinds: map[string]LinkKind{}, Disk: m.Disk}
	if m.NICs != "" {
		out.NICs = "nics"
		out.LinkKinds[out.NICs] = m.LinkKinds[m.NICs]
	}
	number := func(x float64) Number { return Number{x, "B/s", "measured: " + about} }
	noLatency := Number{0, "s", "contained in copy_setup"}
	kind := func(l topology.Link) string {
		both := min(l.Down+l.Up, max(l.Both, l.Down, l.Up)) // noise may put it below one direction or above the sum
		if l.Both == 0 {
			both = l.Down + l.Up
		}
		out.LinkKinds[l.Name] = LinkKind{number(l.Down), number(l.Up), number(both), noLatency}
		return l.Name
	}
	for _, l := range t.Links {
		if l.Parent < 0 && l.Down == 0 { // a root without a limit of its own: the sum of the links under it
			for _, under := range t.Links {
				if under.Parent == 0 {
					l.Down, l.Up, l.Both = l.Down+under.Down, l.Up+under.Up, l.Both+under.Both
				}
			}
		}
		x := Link{Name: l.Name, Kind: kind(l)}
		if l.Parent >= 0 {
			x.Parent = t.Links[l.Parent].Name
		}
		out.Links = append(out.Links, x)
	}
	for i, g := range t.GPUs {
		out.Devices = append(out.Devices, Device{Name: g.Name, Kind: m.Devices[i%len(m.Devices)].Kind, Link: t.Links[g.Link].Name})
	}
	ports := 0
	for _, set := range got.PeerSets() {
		var group PeerGroup
		for _, d := range set.Devices {
			group.Devices = append(group.Devices, out.Devices[d].Name)
		}
		if set.Rate > 0 { // all ports of a set have one rate, that of the slowest pair
			name := "peer"
			if ports++; ports > 1 {
				name += strconv.Itoa(ports)
			}
			group.Port = kind(topology.Link{Name: name, Down: set.Rate, Up: set.Rate})
		}
		out.Peers = append(out.Peers, group)
	}
	return out, out.Validate()
}

// ringOfHosts is the ring of n devices of several hosts: the ring of one host, repeated, so that the ring
// enters each host once.
func ringOfHosts(m *Machine, n int) (*plan.Topology, error) {
	n, err := m.ringSize(n)
	if err != nil {
		return nil, err
	}
	per := len(m.Devices) / m.Hosts()
	if n%per != 0 && n > per {
		return nil, fmt.Errorf("plan: %d devices on %s: whole hosts of %d, or fewer than one has", n, m.Name, per)
	}
	one := *m
	one.Links, one.Devices, one.Peers = m.Links[:len(m.Links)/m.Hosts()], m.Devices[:per], m.Peers[:len(m.Peers)/m.Hosts()]
	r, err := RingOf(&one, min(n, per))
	if err != nil || n <= per {
		return r, err
	}
	all := topology.Only(n)
	all.Order, all.Loaders, all.Takes = nil, nil, nil
	for h := range n / per {
		for _, d := range r.Order {
			all.Order = append(all.Order, h*per+d)
		}
		for _, d := range r.Loaders {
			all.Loaders = append(all.Loaders, h*per+d)
		}
		all.Takes = slices.Concat(all.Takes, r.Takes)
	}
	all.Slowest = min(r.Slowest, m.LinkKinds[m.NICs].Down.Value)
	all.Why = append(slices.Clone(r.Why), fmt.Sprintf("the ring of a host, %d times: it enters each host once", n/per))
	return all, nil
}
