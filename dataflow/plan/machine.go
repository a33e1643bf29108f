package plan

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
)

//go:embed machines/*.json
var machines embed.FS

// Number is a quantity of a machine file: what it is and who says so.
type Number struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`   // B, s, B/s, FLOP/s or op/s
	Source string  `json:"source"` // a measurement, a data sheet, or the assumption made
}

// Machine is what the simulator knows of a host and its devices. Device kinds and
// link kinds hold the numbers; devices and links say what hangs where.
//
// The links without a parent end in host memory, one memory a root (a socket of the
// host); between two of them a copy crosses the Bridge. A device hangs on one link.
// Names are unique among the devices and among the links.
type Machine struct {
	Name        string                `json:"name"`
	About       string                `json:"about"`
	DeviceKinds map[string]DeviceKind `json:"device_kinds"`
	LinkKinds   map[string]LinkKind   `json:"link_kinds"`
	Links       []Link                `json:"links"`
	Devices     []Device              `json:"devices"`
	Bridge      string                `json:"bridge,omitempty"` // link kind between the roots; "": one root
	Peers       []PeerGroup           `json:"peers,omitempty"`
	Disk        *Number               `json:"disk,omitempty"` // B/s of files that hold host memory, read plus written; absent: 1 GB/s
}

// DeviceKind holds the rates of a device.
type DeviceKind struct {
	Memory       Number `json:"memory"`        // B
	Reserve      Number `json:"reserve"`       // B taken before the first buffer: context, libraries
	FP32         Number `json:"fp32"`          // FLOP/s of dense products
	Elementwise  Number `json:"elementwise"`   // op/s of element-wise programs, one operation a float
	Bandwidth    Number `json:"bandwidth"`     // B/s of device memory, read plus written
	GatherHit    Number `json:"gather_hit"`    // B/s gathered by row number, source rows in the cache
	GatherMiss   Number `json:"gather_miss"`   // B/s gathered, source rows not in the cache
	GatherRow    Number `json:"gather_row"`    // s that a gather takes beside its bytes, for a row and a slice; absent: 0
	GatherPacked Number `json:"gather_packed"` // s that it takes longer for an edge and a slice where far ends are packed; absent: 0
	Cache        Number `json:"cache"`         // B of the cache that GatherHit speaks of
	Slice        Number `json:"slice"`         // B of a row that one gather loop touches; 0: the whole row
	Launch       Number `json:"launch"`        // s from the end of a kernel to the work of the next
	CopySetup    Number `json:"copy_setup"`    // s before a copy's first byte; the queue is busy, the links are not

	// Serial says that a kernel's arithmetic and its memory traffic take turns, as
	// on a few processors; otherwise many threads hide one behind the other.
	Serial bool `json:"serial,omitempty"`
}

// LinkKind holds the rates of a link. Down is from the host to the devices.
type LinkKind struct {
	Down    Number `json:"down"`    // B/s
	Up      Number `json:"up"`      // B/s
	Both    Number `json:"both"`    // B/s of the two directions together when both are busy
	Latency Number `json:"latency"` // s
}

// Link is an edge of the tree, toward the host from whatever hangs on it.
type Link struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Parent string `json:"parent,omitempty"` // "": ends in host memory
}

// Device hangs on a link.
type Device struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Link string `json:"link"`
}

// PeerGroup is a set of devices that copy to each other directly: through a switch
// that each reaches over a port of its own of the given kind, or, without a kind,
// through the tree.
type PeerGroup struct {
	Devices []string `json:"devices"`
	Port    string   `json:"port,omitempty"`
}

// defaultDisk is the rate of a disk that a machine file says nothing of, in bytes a second:
// an assumption, that of a plain server's SSD.
const defaultDisk = 1e9

// maxMachine bounds a machine file: bytes, and devices or links in it.
const (
	maxMachineBytes = 1 << 20
	maxMachineParts = 256
)

// Machines lists the built-in machines by name.
func Machines() []string {
	files, err := fs.Glob(machines, "machines/*.json")
	if err != nil {
		panic(err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "machines/"), ".json")
	}
	return files
}

// LoadMachine returns the built-in machine of that name, or else reads a machine
// file. Errors name the file and the line, or all faults that Validate found.
func LoadMachine(name string) (*Machine, error) {
	for _, m := range Machines() {
		if m == name {
			data, err := machines.ReadFile("machines/" + name + ".json")
			if err != nil {
				return nil, err
			}
			return ParseMachine(name, data)
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("machine %s: neither a file nor one of %s", name, strings.Join(Machines(), ", "))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMachineBytes+1))
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", name, err)
	}
	return ParseMachine(name, data)
}

// ParseMachine reads a machine file (JSON, at most 1 MiB; unknown fields are
// refused) and validates it. name stands in errors.
func ParseMachine(name string, data []byte) (*Machine, error) {
	if len(data) > maxMachineBytes {
		return nil, fmt.Errorf("machine %s: longer than %d bytes", name, maxMachineBytes)
	}
	m := &Machine{}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		at := d.InputOffset()
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			at = syntax.Offset
		case errors.As(err, &kind):
			at = kind.Offset
		}
		at = min(max(at, 0), int64(len(data)))
		return nil, fmt.Errorf("machine %s: line %d: %w", name, 1+bytes.Count(data[:at], []byte("\n")), err)
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return nil, fmt.Errorf("machine %s: line %d: more after the end", name,
			1+bytes.Count(data[:len(data)-len(rest)], []byte("\n")))
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("machine %s: %w", name, err)
	}
	return m, nil
}

// Kind returns the rates of device i.
func (m *Machine) Kind(i int) *DeviceKind {
	k := m.DeviceKinds[m.Devices[i].Kind]
	return &k
}

// Budget returns the bytes that plans may use on device i: its memory less the reserve.
func (m *Machine) Budget(i int) int64 {
	k := m.Kind(i)
	return int64(k.Memory.Value) - int64(k.Reserve.Value)
}

// Validate lists every fault of m: numbers out of range, without source or in a
// unit of another kind, names that are missing, unknown or used twice, links that
// do not end in host memory.
func (m *Machine) Validate() error {
	v := &faults{}
	v.want(m.Name != "", "no name")
	v.want(len(m.Devices) > 0, "no devices")
	v.want(len(m.Devices) <= maxMachineParts && len(m.Links) <= maxMachineParts, "more than %d devices or links", maxMachineParts)
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
	if m.Disk != nil {
		v.number("disk", *m.Disk, "B/s", false)
	}
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
	devices, root := map[string]bool{}, map[string]string{}
	for i, d := range m.Devices {
		v.want(d.Name != "" && !devices[d.Name], "device %d: name %q is empty or used twice", i, d.Name)
		devices[d.Name] = true
		_, known := m.DeviceKinds[d.Kind]
		v.want(known, "device %s: no device kind %q", d.Name, d.Kind)
		l, known := links[d.Link]
		v.want(known, "device %s: no link %q", d.Name, d.Link)
		for range m.Links {
			if p, ok := links[m.Links[l].Parent]; ok {
				l = p
			}
		}
		if known {
			root[d.Name] = m.Links[l].Name
		}
	}
	for i, g := range m.Peers {
		for _, d := range g.Devices {
			v.want(devices[d], "peers %d: no device %q", i, d)
			v.want(g.Port != "" || root[d] == root[g.Devices[0]], "peers %d: devices %s and %s have no port and share no root", i, g.Devices[0], d)
		}
		if _, known := m.LinkKinds[g.Port]; g.Port != "" {
			v.want(known, "peers %d: no link kind %q", i, g.Port)
		}
	}
	return errors.Join(v.all...)
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
	if k.GatherRow != (Number{}) {
		list = append(list, rated{k.GatherRow, "gather_row", "s", true})
	}
	if k.GatherPacked != (Number{}) {
		list = append(list, rated{k.GatherPacked, "gather_packed", "s", true})
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
