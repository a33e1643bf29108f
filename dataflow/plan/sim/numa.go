package sim

import "sagann/dataflow/plan"

// Where host memory is. By default the simulator takes a chunk to lie in the memory of the socket
// whose device copies it: NUMA-aware allocation. Without that all chunks lie in the memory of the
// socket whose thread touched them first, here the first one, and devices of other sockets reach
// them across the bridge.

// SimulateFirstTouch is Simulate with all host memory in the first socket of m, but without
// Timeline.Setup. It panics where Simulate does.
func SimulateFirstTouch(p *plan.Plan, m *Machine) *Timeline {
	s := newSimulation(p, m)
	s.net.atFirstRoot(m)
	s.run()
	s.critical()
	s.links()
	return s.t
}

// atFirstRoot moves all host memory to the first root: a copy to a device under another root
// crosses the first root, the bridge, and the links below the device's own root. Without a bridge
// nothing changes.
func (n *network) atFirstRoot(m *Machine) {
	at := map[string]int{}
	first, bridge := -1, -1
	for i, l := range m.Links {
		at[l.Name] = i
		if l.Parent == "" && first < 0 {
			first = i
		}
	}
	for i, name := range n.names {
		if name == "bridge" && i >= len(m.Links) {
			bridge = i
			break
		}
	}
	if bridge < 0 {
		return
	}
	for d := range m.Devices {
		var chain []int
		for l := m.Devices[d].Link; l != ""; l = m.Links[at[l]].Parent {
			chain = append([]int{at[l]}, chain...)
		}
		if chain[0] == first {
			continue
		}
		chain = append([]int{first, bridge}, chain[1:]...)
		n.hosts[d] = n.route(d, nil, chain)
		n.hostsUp[d] = n.route(d, chain, nil)
	}
}
