package sim

import (
	"math"
	"slices"
)

// A network is a machine's links as capacities that copies share.
//
// A link is three resources: each direction, and both together, as a link that is busy both ways
// may move less than the sum of its directions. A copy uses every resource on its route, at the
// same rate on all of them.
type network struct {
	names    []string
	capacity []float64         // bytes/ns by resource: 3*link + down, up or both
	latency  []float64         // ns by link
	hosts    []route           // by device: host memory of its root to the device
	hostsUp  []route           // by device: back to that memory
	disks    []route           // as hosts, from a file
	disksUp  []route           // as hostsUp, to a file
	disksFar map[[2]int]*route // see farDisk
	peers    [][]route         // from device, to device
	bridges  []int             // by host: the link between its roots; nil: one root
	setup    []float64         // ns by device
	routes   uint32            // number of routes so far

	known [256]shared // a cache of share, by hash: a schedule repeats its sets of copies

	// scratch of share
	left  []float64
	users []int32
	live  []int32
}

const (
	down = iota
	up
	both
)

// shared are the rates of copies that run at the same time.
type shared struct {
	copies []*route
	rates  []float64
}

// route is what one copy uses of a network.
type route struct {
	id      uint32  // its number in the network
	uses    []int32 // resources
	alone   float64 // bytes/ns of a copy that shares nothing with others
	latency float64 // ns from the start to the first byte, set-up included
}

// newNetwork is the network of a valid machine.
func newNetwork(m *Machine) *network {
	n := &network{}
	at := map[string]int{}
	add := func(name, kind string) int {
		k := m.LinkKinds[kind]
		n.names = append(n.names, name)
		n.capacity = append(n.capacity, k.Down.Value/1e9, k.Up.Value/1e9, k.Both.Value/1e9)
		n.latency = append(n.latency, k.Latency.Value*1e9)
		return len(n.names) - 1
	}
	for _, l := range m.Links {
		at[l.Name] = add(l.Name, l.Kind)
	}
	chain := make([][]int, len(m.Devices)) // from the root to the device
	device := map[string]int{}
	for i, d := range m.Devices {
		device[d.Name] = i
		n.setup = append(n.setup, m.Kind(i).CopySetup.Value*1e9)
		for l := d.Link; l != ""; l = m.Links[at[l]].Parent {
			chain[i] = append([]int{at[l]}, chain[i]...)
		}
		n.hosts = append(n.hosts, n.route(i, nil, chain[i]))
		n.hostsUp = append(n.hostsUp, n.route(i, chain[i], nil))
	}
	n.peers = make([][]route, len(m.Devices))
	for h := range m.Hosts() {
		if m.Bridge != "" {
			n.bridges = append(n.bridges, add(m.onHost(h, "bridge"), m.Bridge))
		}
	}
	for i := range n.peers {
		n.peers[i] = make([]route, len(m.Devices))
		for j := range n.peers[i] {
			n.peers[i][j] = n.staged(i, chain[i], chain[j], m.Devices[i].host)
		}
	}
	for _, g := range m.Peers {
		port := map[string]int{}
		if g.Port != "" {
			for _, d := range g.Devices {
				port[d] = add(d+" port", g.Port)
			}
		}
		for _, a := range g.Devices {
			for _, b := range g.Devices {
				i, j := device[a], device[b]
				switch {
				case i == j:
				case g.Port != "":
					n.peers[i][j] = n.route(i, []int{port[a]}, []int{port[b]})
				default:
					n.peers[i][j] = n.through(i, chain[i], chain[j])
				}
			}
		}
	}
	n.adapters(m, add)
	n.addDisks(m)
	n.left = make([]float64, len(n.capacity))
	n.users = make([]int32, len(n.capacity))
	return n
}

// addDisks adds the disk of each host, and the routes between it and the host's devices.
func (n *network) addDisks(m *Machine) {
	rate := defaultDisk / 1e9
	if m.Disk != nil {
		rate = m.Disk.Value / 1e9
	}
	first := len(n.names)
	for h := range m.Hosts() {
		n.names, n.latency = append(n.names, m.onHost(h, "disk")), append(n.latency, 0)
		n.capacity = append(n.capacity, rate, rate, rate)
	}
	for i, d := range m.Devices {
		disk := int32(3 * (first + d.host))
		n.disks = append(n.disks, n.over(&n.hosts[i], disk+down, disk+both, rate))
		n.disksUp = append(n.disksUp, n.over(&n.hostsUp[i], disk+up, disk+both, rate))
	}
	n.disksFar = map[[2]int]*route{}
}

// farDisk is the route to device j from a file on the host of device i, which is another one.
func (n *network) farDisk(i, j int) *route {
	r := n.disksFar[[2]int{i, j}]
	if r == nil {
		disk := n.disks[i].uses[len(n.disks[i].uses)-2:] // what over has added
		far := n.over(&n.peers[i][j], disk[0], disk[1], n.capacity[disk[0]])
		r = &far
		n.disksFar[[2]int{i, j}] = r
	}
	return r
}

// through is the route from device i through the tree: up to the link below which the two devices
// part, and down. from and to are their links from the root on. In a valid machine peers without
// ports share a root.
func (n *network) through(i int, from, to []int) route {
	k := 0
	for k < len(from) && k < len(to) && from[k] == to[k] {
		k++
	}
	return n.route(i, from[k:], to[k:])
}

// staged is the route without peer access: through host memory, up all links and down all links.
// The pieces of such a copy follow each other so closely that it counts as one copy.
func (n *network) staged(i int, from, to []int, host int) route {
	if len(from) > 0 && len(to) > 0 && from[0] != to[0] && n.bridges != nil {
		from = append([]int{n.bridges[host]}, from...)
	}
	return n.route(i, from, to)
}

// route is the route from a device up the links ups, last first, and down the links downs.
func (n *network) route(device int, ups, downs []int) route {
	n.routes++
	r := route{id: n.routes, latency: n.setup[device], alone: math.Inf(1)}
	add := func(l, way int) {
		r.latency += n.latency[l]
		r.uses = append(r.uses, int32(3*l+way))
		if n.capacity[3*l+both] < n.capacity[3*l+down]+n.capacity[3*l+up] {
			r.uses = append(r.uses, int32(3*l+both))
		}
	}
	for k := len(ups) - 1; k >= 0; k-- {
		add(ups[k], up)
	}
	for _, l := range downs {
		add(l, down)
	}
	for _, u := range r.uses {
		r.alone = min(r.alone, n.capacity[u])
	}
	return r
}

// over is route r extended by a disk of the given rate, which both directions share. way and both
// are the disk's resources.
func (n *network) over(r *route, way, both int32, rate float64) route {
	n.routes++
	return route{id: n.routes, uses: append(slices.Clone(r.uses), way, both), alone: min(r.alone, rate), latency: r.latency}
}

// share sets the rates (bytes/ns) of copies that run at the same time, by max-min fairness: all
// rates rise together; when a resource is full, the rates of the copies on it stay and the others
// rise on.
func (n *network) share(copies []*route, rates []float64) {
	if len(copies) == 1 {
		rates[0] = copies[0].alone
		return
	}
	hash := uint32(0)
	for _, c := range copies {
		hash = 31*hash + c.id
	}
	k := &n.known[hash%uint32(len(n.known))]
	if slices.Equal(copies, k.copies) {
		copy(rates, k.rates)
		return
	}
	n.live = n.live[:0]
	for i, c := range copies {
		rates[i] = -1
		for _, r := range c.uses {
			if n.users[r] == 0 {
				n.left[r] = n.capacity[r]
				n.live = append(n.live, r)
			}
			n.users[r]++
		}
	}
	for {
		full, rate := int32(-1), 0.0
		for _, r := range n.live {
			if n.users[r] == 0 {
				continue
			}
			if x := n.left[r] / float64(n.users[r]); full < 0 || x < rate {
				full, rate = r, x
			}
		}
		if full < 0 {
			break
		}
		for i, c := range copies {
			if rates[i] >= 0 || !c.holds(full) {
				continue
			}
			rates[i] = rate
			for _, r := range c.uses {
				n.left[r] = max(0, n.left[r]-rate)
				n.users[r]--
			}
		}
	}
	for _, r := range n.live {
		n.users[r] = 0
	}
	k.copies, k.rates = append(k.copies[:0], copies...), append(k.rates[:0], rates...)
}

func (c *route) holds(r int32) bool {
	for _, u := range c.uses {
		if u == r {
			return true
		}
	}
	return false
}

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

// Rates are the rates, in bytes/ns, of copies between host and first device with nothing else on the
// links: down, up, and the sum of both if both run.
func (m *Machine) Rates() (down, up, both float64) {
	n, rates := newNetwork(m), make([]float64, 2)
	n.share([]*route{&n.hosts[0], &n.hostsUp[0]}, rates)
	return n.hosts[0].alone, n.hostsUp[0].alone, rates[0] + rates[1]
}

// ReadRate is the rate, in bytes/ns, at which kernels of the first device read rows in host memory.
func (m *Machine) ReadRate() float64 {
	down, _, _ := m.Rates()
	if read := m.Kind(0).Read.Value; read > 0 {
		return min(down, read/1e9)
	}
	return down
}
