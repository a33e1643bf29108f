package sim

import (
	"fmt"
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
