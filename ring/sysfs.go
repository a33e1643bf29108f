package ring

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrNoGPU says that the system lists no GPU.
var ErrNoGPU = errors.New("no GPU among the PCI devices")

var (
	busRoot = regexp.MustCompile(`^pci[0-9a-f]{4,}:[0-9a-f]{2}$`)
	address = regexp.MustCompile(`^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
)

// maxPCIDepth bounds the walk; PCI allows 256 buses, real trees are a few deep.
const maxPCIDepth = 32

// pciDevice is a folder of sysfs: a function of a PCI device. The devices behind it are folders in it.
type pciDevice struct {
	address string
	dir     string
	parents []string // folders of the ports above, the root port first
}

// FromSystem reads the tree of PCI devices from the folder "devices" of sys, which is /sys on
// Linux. ids are the PCI addresses of the GPUs in the order of their numbers
// (0000:17:00.0, in upper or lower case and with any number of leading zeros). Without ids, the GPUs are
// all NVIDIA display controllers, by address. peers says which way copies take
// between two GPUs, by number; nil assumes peer access inside a NUMA node.
//
// The rate of a link follows from its width, speed and encoding, and is the same in both directions.
// Packet headers, which take 10 to 20 % on all links alike, are not subtracted. The speed is the highest
// that both ends can do, as links of idle GPUs run slower. The memory of a socket and the
// bridge between sockets are assumed to be no limit: the system does not tell their rates.
func FromSystem(sys fs.FS, ids []string, peers func(from, to int) Peer) (*Tree, error) {
	all, err := listPCI(sys)
	if err != nil {
		return nil, err
	}
	var gpus []pciDevice
	for _, id := range ids {
		at := slices.IndexFunc(all, func(d pciDevice) bool { return sameAddress(d.address, id) })
		if at < 0 {
			return nil, fmt.Errorf("ring: no PCI device %s below devices/", id)
		}
		gpus = append(gpus, all[at])
	}
	if len(ids) == 0 {
		for _, d := range all {
			if read(sys, d.dir, "vendor") == "0x10de" && strings.HasPrefix(read(sys, d.dir, "class"), "0x03") {
				gpus = append(gpus, d)
			}
		}
	}
	if len(gpus) == 0 {
		return nil, ErrNoGPU
	}
	t := &Tree{Name: "system"}
	links := map[string]int{}
	add := func(name string, parent int, rate float64) int {
		if l, ok := links[name]; ok {
			return l
		}
		t.Links = append(t.Links, Link{Name: name, Parent: parent, Down: rate, Up: rate})
		links[name] = len(t.Links) - 1
		return links[name]
	}
	for i, g := range gpus {
		l := add("numa"+strconv.Itoa(numaNode(sys, g)), -1, 0)
		way := append(slices.Clone(g.parents), g.dir)
		for k, dir := range way {
			// Ports alternate: root port, then upstream and downstream port of every
			// switch. A link leads to each upstream port and to the GPU; between the
			// ports of one switch there is none.
			if k%2 == 0 && k < len(way)-1 {
				continue
			}
			rate := speed(sys, dir)
			if k > 0 {
				rate = slower(rate, speed(sys, way[k-1]))
			}
			l = add(path.Base(dir), l, rate)
		}
		t.GPUs = append(t.GPUs, GPU{"gpu" + strconv.Itoa(i), l})
	}
	for i := range gpus {
		row := make([]Peer, len(gpus))
		for j := range gpus {
			switch {
			case peers != nil:
				row[j] = peers(i, j)
			case t.root(i) == t.root(j):
				row[j] = Peer{Kind: Switched}
			}
		}
		t.Peers = append(t.Peers, row)
	}
	return t, t.Validate()
}

// OneRoot is the tree of GPUs if only the ways between them are known, as in
// virtual machines that show no PCI tree. All GPUs hang on one root, by links of unknown rate.
func OneRoot(gpus int, peers func(from, to int) Peer) *Tree {
	t := &Tree{Name: "system", Links: []Link{{Name: "root", Parent: -1}}}
	for i := range gpus {
		t.Links = append(t.Links, Link{Name: "link" + strconv.Itoa(i)})
		t.GPUs = append(t.GPUs, GPU{"gpu" + strconv.Itoa(i), i + 1})
		row := make([]Peer, gpus)
		for j := range row {
			if j != i && peers != nil {
				row[j] = peers(i, j)
			}
		}
		t.Peers = append(t.Peers, row)
	}
	return t
}

// listPCI lists all devices by address.
func listPCI(sys fs.FS) ([]pciDevice, error) {
	roots, err := fs.ReadDir(sys, "devices")
	if err != nil {
		return nil, fmt.Errorf("ring: PCI devices: %w", err)
	}
	var out []pciDevice
	var walk func(dir string, parents []string) error
	walk = func(dir string, parents []string) error {
		list, err := fs.ReadDir(sys, dir)
		if err != nil {
			return fmt.Errorf("ring: PCI devices: %w", err)
		}
		for _, e := range list {
			if !e.IsDir() || !address.MatchString(e.Name()) {
				continue
			}
			d := pciDevice{e.Name(), path.Join(dir, e.Name()), slices.Clone(parents)}
			out = append(out, d)
			if len(parents) < maxPCIDepth {
				if err := walk(d.dir, append(slices.Clone(parents), d.dir)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, r := range roots {
		if r.IsDir() && busRoot.MatchString(r.Name()) {
			if err := walk(path.Join("devices", r.Name()), nil); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(out, func(a, b pciDevice) int { return cmp.Compare(a.address, b.address) })
	return out, nil
}

// sameAddress compares PCI addresses. The CUDA driver writes the domain with four or
// eight digits, and letters in capitals.
func sameAddress(a, b string) bool {
	norm := func(s string) string { return strings.TrimLeft(strings.ToLower(strings.TrimSpace(s)), "0") }
	return norm(a) == norm(b)
}

// numaNode is the socket of a device, or of the nearest port above it that says one; 0 if none does.
func numaNode(sys fs.FS, d pciDevice) int {
	for _, dir := range append([]string{d.dir}, d.parents...) {
		if n, err := strconv.Atoi(read(sys, dir, "numa_node")); err == nil && n >= 0 && n < 1<<16 {
			return n
		}
	}
	return 0
}

// read is the text of a file of sysfs without its newline; "" if there is no such file.
func read(sys fs.FS, dir, name string) string {
	text, err := fs.ReadFile(sys, path.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// speed is the rate (B/s) of a device's link; 0 if sysfs does not say it.
func speed(sys fs.FS, dir string) float64 {
	var gts float64
	for _, name := range []string{"max_link_speed", "current_link_speed"} {
		word, _, _ := strings.Cut(read(sys, dir, name), " ")
		if x, err := strconv.ParseFloat(word, 64); err == nil && x > 0 && x < 1e4 {
			gts = x
			break
		}
	}
	// A x16 card in a x8 slot runs at the width it has now.
	width := 0
	for _, name := range []string{"current_link_width", "max_link_width"} {
		if n, err := strconv.Atoi(read(sys, dir, name)); err == nil && n > 0 && n <= 64 {
			width = n
			break
		}
	}
	coding := 128.0 / 130
	switch {
	case gts < 8: // PCIe 1 and 2
		coding = 8.0 / 10
	case gts >= 64: // PCIe 6: flits, of 256 bytes 236 for packets
		coding = 236.0 / 256
	}
	return gts * 1e9 / 8 * float64(width) * coding
}

// slower is the lower of two rates, where 0 is unknown.
func slower(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
