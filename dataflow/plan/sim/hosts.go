package sim

import (
	"fmt"
	"slices"

	"sagann/dataflow/plan"
	topology "sagann/ring"
)

// Several hosts: the same host several times, connected by network adapters. A copy between devices of two hosts
// crosses the adapters of both, which all copies of a host share. It does not cross host memory.

// mostHosts is the largest number of hosts that can be simulated.
const mostHosts = 128

// OnHosts is a machine of n hosts, each like m. It is an error if n is not 1 to 128, or if m has no NICs and
// n is above 1.
func (m *Machine) OnHosts(n int) (*Machine, error) {
	switch {
	case n == 1:
		return m, nil
	case n < 1 || n > mostHosts:
		return nil, fmt.Errorf("machine %s: %d hosts; 1 to %d can be simulated", m.Name, n, mostHosts)
	case m.NICs == "":
		return nil, fmt.Errorf("machine %s says nothing of adapters between hosts (nics)", m.Name)
	}
	out := *m
	out.Name = fmt.Sprintf("%s:%d", m.Name, n)
	out.Links, out.Devices, out.Peers = nil, nil, nil
	for h := range n {
		name := func(s string) string {
			if s == "" {
				return s
			}
			return fmt.Sprintf("host%d/%s", h, s)
		}
		for _, l := range m.Links {
			out.Links = append(out.Links, Link{Name: name(l.Name), Kind: l.Kind, Parent: name(l.Parent)})
		}
		for _, d := range m.Devices {
			out.Devices = append(out.Devices, Device{Name: name(d.Name), Kind: d.Kind, Link: name(d.Link), host: h})
		}
		for _, g := range m.Peers {
			p := PeerGroup{Port: g.Port}
			for _, d := range g.Devices {
				p.Devices = append(p.Devices, name(d))
			}
			out.Peers = append(out.Peers, p)
		}
	}
	return &out, nil
}

// onHost is the name of a link that host h has: of several hosts it begins with the host's.
func (m *Machine) onHost(h int, name string) string {
	if m.Hosts() == 1 {
		return name
	}
	return fmt.Sprintf("host%d/%s", h, name)
}

// Hosts is how many hosts m has.
func (m *Machine) Hosts() int { return m.Devices[len(m.Devices)-1].host + 1 }

// adapters sets the routes between devices of different hosts.
func (n *network) adapters(m *Machine, add func(name, kind string) int) {
	if m.Hosts() == 1 {
		return
	}
	var of []int // by host
	for h := range m.Hosts() {
		of = append(of, add(m.onHost(h, "nics"), m.NICs))
	}
	for i, a := range m.Devices {
		for j, b := range m.Devices {
			if a.host != b.host {
				n.peers[i][j] = n.route(i, []int{of[a.host]}, []int{of[b.host]})
			}
		}
	}
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
