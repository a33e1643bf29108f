package sim

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"strconv"
	"strings"

	"sagann/internal/regular"
)

//go:embed machines/*.json
var machines embed.FS

// Number is a quantity of a machine file with its unit and its source.
type Number struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`   // B, s, B/s, FLOP/s or op/s
	Source string  `json:"source"` // a measurement, a data sheet, or the assumption made
}

// Machine is what the simulator knows of a host and its devices. Device kinds and
// link kinds have the rates; devices and links form a tree.
//
// A link without a parent is a root: it ends in the memory of one socket of the host.
// Between two sockets a copy crosses the Bridge. Each device is connected to one link.
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
	NICs        string                `json:"nics,omitempty"` // link kind of a host's network adapters together; "": one host
	Disk        *Number               `json:"disk,omitempty"` // B/s of a host's files, reads plus writes; absent: 1 GB/s
}

// DeviceKind holds the rates of a device.
type DeviceKind struct {
	Memory       Number `json:"memory"`        // B
	Reserve      Number `json:"reserve"`       // B taken before the first buffer: context, libraries
	FP32         Number `json:"fp32"`          // FLOP/s of dense products
	Products     Number `json:"products"`      // FLOP/s of dense products where kernels of the engine multiply in fp32 faster than the library; absent: fp32
	TF32         Number `json:"tf32"`          // FLOP/s of products in TF32 without their memory traffic; absent: as fp32
	Elementwise  Number `json:"elementwise"`   // op/s of element-wise programs, one operation per float
	Bandwidth    Number `json:"bandwidth"`     // B/s of device memory, reads plus writes
	GatherHit    Number `json:"gather_hit"`    // B/s of gathered rows that are in the cache
	GatherMiss   Number `json:"gather_miss"`   // B/s of gathered rows that are not in the cache
	GatherRow    Number `json:"gather_row"`    // s per own row and slice of a gather, in addition to its bytes; absent: 0
	GatherPacked Number `json:"gather_packed"` // s per edge and slice in addition if far ends are packed; absent: 0
	Cache        Number `json:"cache"`         // B of the cache that GatherHit is about
	Slice        Number `json:"slice"`         // B of a row that one loop of a gather reads; 0: the whole row
	Launch       Number `json:"launch"`        // s from the end of a kernel to the start of the next
	Product      Number `json:"product"`       // s that a dense product takes in addition to its work; absent: 0
	CopySetup    Number `json:"copy_setup"`    // s before a copy's first byte; the queue is busy, the links are not
	Read         Number `json:"read"`          // B/s at which kernels read rows in host memory, over the link; absent: as copies

	// Serial says that arithmetic and memory traffic of a kernel do not overlap, as on a few
	// CPU cores. Otherwise the slower of the two hides the other.
	Serial bool `json:"serial,omitempty"`

	single float64 // with TF32: FP32 without it
}

// LinkKind holds the rates of a link. Down is from the host to the devices.
type LinkKind struct {
	Down    Number `json:"down"`    // B/s
	Up      Number `json:"up"`      // B/s
	Both    Number `json:"both"`    // B/s of both directions together if both are busy
	Latency Number `json:"latency"` // s
}

// Link is an edge of the tree of links, towards the host.
type Link struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Parent string `json:"parent,omitempty"` // "": ends in host memory
}

// Device is a device of the given kind, connected to a link.
type Device struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Link string `json:"link"`

	host int // number of its host (OnHosts)
}

// PeerGroup is a set of devices that copy to each other directly: if Port names a link kind, through
// a switch to which each has a port of that kind; without Port, through the tree of links.
type PeerGroup struct {
	Devices []string `json:"devices"`
	Port    string   `json:"port,omitempty"`
}

// defaultDisk is the rate of the disk, in bytes per second, if the machine file has none. It is an
// assumption: that of a plain server's SSD.
const defaultDisk = 1e9

// Bounds of a machine file: bytes, and number of devices and of links.
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

// LoadMachine returns the built-in machine of that name, or else reads the machine file of that
// name. NAME:8 is eight hosts of machine NAME. Errors name the file, and the line or all faults that
// Validate found.
func LoadMachine(name string) (*Machine, error) {
	if one, count, ok := strings.Cut(name, ":"); ok {
		if n, err := strconv.Atoi(count); err == nil && n > 0 {
			m, err := LoadMachine(one)
			if err != nil {
				return nil, err
			}
			return m.OnHosts(n)
		}
	}
	for _, m := range Machines() {
		if m == name {
			data, err := machines.ReadFile("machines/" + name + ".json")
			if err != nil {
				return nil, err
			}
			return ParseMachine(name, data)
		}
	}
	f, err := regular.Open(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("machine: %w", err)
	}
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

// ParseMachine reads and validates the text of a machine file: JSON, at most 1 MiB, without unknown
// fields. Errors begin with name.
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

// WithTF32 is the machine for programs whose dense products round to TF32.
func (m *Machine) WithTF32() *Machine {
	x := *m
	x.DeviceKinds = maps.Clone(m.DeviceKinds)
	for name, k := range x.DeviceKinds {
		if k.TF32.Value > 0 {
			k.single = k.FP32.Value
			k.FP32, k.Products = k.TF32, Number{}
			x.DeviceKinds[name] = k
		}
	}
	return &x
}

// Kind returns the rates of device i.
func (m *Machine) Kind(i int) *DeviceKind {
	k := m.DeviceKinds[m.Devices[i].Kind]
	return &k
}

// Budget returns the bytes that plans may use on device i: its memory minus the reserve.
func (m *Machine) Budget(i int) int64 {
	k := m.Kind(i)
	return int64(k.Memory.Value) - int64(k.Reserve.Value)
}
