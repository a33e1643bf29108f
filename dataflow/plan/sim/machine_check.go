package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Validate returns all faults of m, joined into one error: numbers out of range, without a source
// or in a wrong unit; names that are missing, unknown or used twice; links that do not lead to
// host memory.
func (m *Machine) Validate() error {
	v := &faults{}
	v.want(m.Name != "", "no name")
	v.want(len(m.Devices) > 0, "no devices")
	v.want(len(m.Devices) <= maxMachineParts && len(m.Links) <= maxMachineParts, "more than %d devices or links", maxMachineParts)
	m.checkKinds(v)
	links := m.checkLinks(v)
	m.checkPeers(v, m.checkDevices(v, links))
	return errors.Join(v.all...)
}

// checkKinds checks the rates of devices, links and the disk.
func (m *Machine) checkKinds(v *faults) {
	for _, name := range sortedKeys(m.DeviceKinds) {
		k := m.DeviceKinds[name]
		at := "device kind " + name
		for _, n := range k.numbers() {
			v.number(at+"."+n.name, n.Number, n.unit, n.zero)
		}
		v.want(k.Reserve.Value < k.Memory.Value, "%s: the reserve takes the whole memory", at)
		v.want(k.GatherMiss.Value <= k.GatherHit.Value, "%s: gathers miss faster than they hit", at)
	}
	for _, name := range sortedKeys(m.LinkKinds) {
		k := m.LinkKinds[name]
		at := "link kind " + name
		v.number(at+".down", k.Down, "B/s", false)
		v.number(at+".up", k.Up, "B/s", false)
		v.number(at+".both", k.Both, "B/s", false)
		v.number(at+".latency", k.Latency, "s", true)
		v.want(k.Both.Value >= max(k.Down.Value, k.Up.Value) && k.Both.Value <= k.Down.Value+k.Up.Value,
			"%s: both directions together move %g B/s, which is less than one alone or more than the sum", at, k.Both.Value)
	}
	if _, known := m.LinkKinds[m.NICs]; m.NICs != "" {
		v.want(known, "nics: no link kind %q", m.NICs)
	}
	if m.Disk != nil {
		v.number("disk", *m.Disk, "B/s", false)
	}
}

// checkLinks checks the tree of links, and returns their numbers by name.
func (m *Machine) checkLinks(v *faults) map[string]int {
	links := map[string]int{}
	for i, l := range m.Links {
		_, twice := links[l.Name]
		v.want(l.Name != "" && !twice, "link %d: name %q is empty or used twice", i, l.Name)
		_, known := m.LinkKinds[l.Kind]
		v.want(known, "link %s: no link kind %q", l.Name, l.Kind)
		links[l.Name] = i
	}
	roots := 0
	for _, l := range m.Links {
		if l.Parent == "" {
			roots++
			continue
		}
		_, known := links[l.Parent]
		v.want(known, "link %s: no link %q", l.Name, l.Parent)
		up := l
		for range m.Links {
			p, ok := links[up.Parent]
			if up.Parent == "" || !ok {
				break
			}
			up = m.Links[p]
		}
		v.want(up.Parent == "" || !known, "link %s never reaches host memory", l.Name)
	}
	v.want(m.Bridge != "" || roots <= 1, "%d links end in host memory and no bridge joins them", roots)
	if _, known := m.LinkKinds[m.Bridge]; m.Bridge != "" {
		v.want(known, "bridge: no link kind %q", m.Bridge)
	}
	return links
}

// checkDevices checks the devices. It returns, by device, the root link that it is under; "" if its
// link is unknown.
func (m *Machine) checkDevices(v *faults, links map[string]int) (root map[string]string) {
	root = map[string]string{}
	for i, d := range m.Devices {
		_, twice := root[d.Name]
		v.want(d.Name != "" && !twice, "device %d: name %q is empty or used twice", i, d.Name)
		_, known := m.DeviceKinds[d.Kind]
		v.want(known, "device %s: no device kind %q", d.Name, d.Kind)
		l, known := links[d.Link]
		v.want(known, "device %s: no link %q", d.Name, d.Link)
		for range m.Links {
			if p, ok := links[m.Links[l].Parent]; ok {
				l = p
			}
		}
		if root[d.Name] = ""; known {
			root[d.Name] = m.Links[l].Name
		}
	}
	return root
}

// checkPeers checks the groups of devices that copy to each other; root is what checkDevices returned.
func (m *Machine) checkPeers(v *faults, root map[string]string) {
	for i, g := range m.Peers {
		for _, d := range g.Devices {
			_, known := root[d]
			v.want(known, "peers %d: no device %q", i, d)
			v.want(g.Port != "" || root[d] == root[g.Devices[0]], "peers %d: devices %s and %s have no port and share no root", i, g.Devices[0], d)
		}
		if _, known := m.LinkKinds[g.Port]; g.Port != "" {
			v.want(known, "peers %d: no link kind %q", i, g.Port)
		}
	}
}

type rated struct {
	Number
	name, unit string
	zero       bool // may be zero
}

func (k *DeviceKind) numbers() []rated {
	list := []rated{
		{k.Memory, "memory", "B", false}, {k.Reserve, "reserve", "B", true},
		{k.FP32, "fp32", "FLOP/s", false}, {k.Elementwise, "elementwise", "op/s", false},
		{k.Bandwidth, "bandwidth", "B/s", false}, {k.GatherHit, "gather_hit", "B/s", false},
		{k.GatherMiss, "gather_miss", "B/s", false}, {k.Cache, "cache", "B", false}, {k.Slice, "slice", "B", true},
		{k.Launch, "launch", "s", true}, {k.CopySetup, "copy_setup", "s", true},
	}
	for _, n := range []rated{ // these may be absent
		{k.GatherRow, "gather_row", "s", true}, {k.Product, "product", "s", true}, {k.GatherPacked, "gather_packed", "s", true},
		{k.Products, "products", "FLOP/s", false}, {k.TF32, "tf32", "FLOP/s", false}, {k.Read, "read", "B/s", false},
	} {
		if n.Number != (Number{}) {
			list = append(list, n)
		}
	}
	return list
}

type faults struct{ all []error }

func (v *faults) want(ok bool, format string, args ...any) {
	if !ok {
		v.all = append(v.all, fmt.Errorf(format, args...))
	}
}

// number checks one quantity. The bounds keep bytes and nanoseconds far inside int64.
func (v *faults) number(at string, n Number, unit string, zero bool) {
	lo, hi := 1e6, 1e18 // rates
	switch unit {
	case "B":
		lo = 1
	case "s":
		lo, hi = 1e-12, 1
	}
	v.want(n.Value >= lo && n.Value <= hi || zero && n.Value == 0, "%s: %g %s is out of range", at, n.Value, unit)
	v.want(n.Unit == unit, "%s: unit %q, want %q", at, n.Unit, unit)
	v.want(n.Source != "", "%s: no source", at)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
