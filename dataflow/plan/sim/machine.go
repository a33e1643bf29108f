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
	"os"
	"strconv"
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
	NICs        string                `json:"nics,omitempty"` // link kind of a host's adapters together, to other hosts; "": one host
	Disk        *Number               `json:"disk,omitempty"` // B/s of files that hold host memory, read plus written; absent: 1 GB/s
}

// DeviceKind holds the rates of a device.
type DeviceKind struct {
	Memory       Number `json:"memory"`        // B
	Reserve      Number `json:"reserve"`       // B taken before the first buffer: context, libraries
	FP32         Number `json:"fp32"`          // FLOP/s of dense products
	TF32         Number `json:"tf32"`          // FLOP/s of those whose operands are rounded to TF32, beside what they read and write; absent: as fp32
	Elementwise  Number `json:"elementwise"`   // op/s of element-wise programs, one operation a float
	Bandwidth    Number `json:"bandwidth"`     // B/s of device memory, read plus written
	GatherHit    Number `json:"gather_hit"`    // B/s gathered by row number, source rows in the cache
	GatherMiss   Number `json:"gather_miss"`   // B/s gathered, source rows not in the cache
	GatherRow    Number `json:"gather_row"`    // s that a gather takes beside its bytes, for a row and a slice; absent: 0
	GatherPacked Number `json:"gather_packed"` // s that it takes longer for an edge and a slice where far ends are packed; absent: 0
	Cache        Number `json:"cache"`         // B of the cache that GatherHit speaks of
	Slice        Number `json:"slice"`         // B of a row that one gather loop touches; 0: the whole row
	Launch       Number `json:"launch"`        // s from the end of a kernel to the work of the next
	Product      Number `json:"product"`       // s that a dense product takes beside its work; absent: 0
	CopySetup    Number `json:"copy_setup"`    // s before a copy's first byte; the queue is busy, the links are not
	Read         Number `json:"read"`          // B/s that kernels read of rows in host memory, over the link; absent: as copies

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

	host int // of several
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
// file; NAME:8 is eight such hosts. Errors name the file and the line, or all faults that Validate found.
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

// WithTF32 is the machine for programs whose products round to TF32.
func (m *Machine) WithTF32() *Machine {
	x := *m
	x.DeviceKinds = maps.Clone(m.DeviceKinds)
	for name, k := range x.DeviceKinds {
		if k.TF32.Value > 0 {
			k.FP32 = k.TF32
			x.DeviceKinds[name] = k
		}
	}
	return &x
}

// ReadRate is how many bytes a nanosecond kernels of the first device read of rows in host memory.
func (m *Machine) ReadRate() float64 {
	down, _, _ := m.Rates()
	if read := m.Kind(0).Read.Value; read > 0 {
		return min(down, read/1e9)
	}
	return down
}

// Kind returns the rates of device i.
func (m *Machine) Kind(i int) *DeviceKind {
	k := m.DeviceKinds[m.Devices[i].Kind]
	return &k
}

// Rates are those of copies of the first device with nothing beside them, in bytes a nanosecond: down,
// up, and both ways together.
func (m *Machine) Rates() (down, up, both float64) {
	n, rates := newNetwork(m), make([]float64, 2)
	n.share([]*route{&n.hosts[0], &n.hostsUp[0]}, rates)
	return n.hosts[0].alone, n.hostsUp[0].alone, rates[0] + rates[1]
}

// Budget returns the bytes that plans may use on device i: its memory less the reserve.
func (m *Machine) Budget(i int) int64 {
	k := m.Kind(i)
	return int64(k.Memory.Value) - int64(k.Reserve.Value)
}
