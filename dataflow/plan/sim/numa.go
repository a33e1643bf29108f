package sim

import (
	"slices"

	"sagann/dataflow/plan"
)

// Where host memory is. By default the simulator takes a chunk to lie in the memory of the socket
// whose device copies it: NUMA-aware allocation. Without that all chunks lie in the memory of the
// socket whose thread touched them first, here the first one, and devices of other sockets reach
// them across the bridge.

// SimulateFirstTouch is Simulate with all host memory in the first socket of each host, but
// without Timeline.Setup. It panics where Simulate does.
func SimulateFirstTouch(p *plan.Plan, m *Machine) *Timeline {
	s := newSimulation(p, m)
	s.net.atFirstRoot(m)
	s.run()
	s.critical()
	s.links()
	return s.t
}

// atFirstRoot moves all memory of a host to its first root: a copy to a device under another root
// crosses the first root, the bridge, and the links below the device's own root. Without a bridge
// nothing changes.
func (n *network) atFirstRoot(m *Machine) {
	if n.bridges == nil {
		return
	}
	at := map[string]int{}
	for i, l := range m.Links {
		at[l.Name] = i
	}
	per := len(m.Links) / m.Hosts()
	first := slices.IndexFunc(m.Links[:per], func(l Link) bool { return l.Parent == "" }) // of the first host
	for d := range m.Devices {
		var chain []int
		for l := m.Devices[d].Link; l != ""; l = m.Links[at[l]].Parent {
			chain = append([]int{at[l]}, chain...)
		}
		host := m.Devices[d].host
		root := host*per + first
		if chain[0] == root {
			continue
		}
		chain = append([]int{root, n.bridges[host]}, chain[1:]...)
		n.hosts[d] = n.route(d, nil, chain)
		n.hostsUp[d] = n.route(d, chain, nil)
	}
}
