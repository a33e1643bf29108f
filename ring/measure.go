package ring

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Prober times copies of one machine. Devices implement it; see Measure.
type Prober interface {
	// Names lists the devices.
	Names() []string
	// Time runs the copies at the same time, each again and again until all have run
	// for long enough, and returns their rates in B/s.
	Time(copies []Copy) ([]float64, error)
}

// PeerProber is a Prober that knows the ways between its devices. For other Probers, Measure assumes
// that every pair of devices has a link of its own.
type PeerProber interface {
	Prober
	Way(from, to int) PeerKind
}

// Measured holds the rates (B/s) that copies reached.
type Measured struct {
	Names    []string
	Down, Up []float64    // by device, which copies alone: from the host, and to the host
	Both     []float64    // by device: the sum of both directions at the same time
	Pair     [][]float64  // by two devices: the sum when both read host memory; the diagonal is Down
	All      float64      // the sum when all devices read host memory
	AllUp    float64      // the sum when all write it
	AllBoth  float64      // the sum when all read and write it
	Peer     [][]float64  // [from][to]: a copy between two devices alone; the diagonal is 0
	Ways     [][]PeerKind // [from][to]: the way of these copies; nil: all are Direct
}

// way is the way of copies from one device to another.
func (m *Measured) way(from, to int) PeerKind {
	if m.Ways == nil {
		return Direct
	}
	return m.Ways[from][to]
}

// Measure times all copies from which Measured.Tree makes a tree. It takes at most n² + 4n + 3 runs for n
// devices. Errors say which copies failed.
func Measure(p Prober) (*Measured, error) {
	m := &Measured{Names: p.Names()}
	n := len(m.Names)
	if n == 0 {
		return nil, errors.New("ring: no devices to measure")
	}
	if pp, ok := p.(PeerProber); ok {
		for i := range n {
			m.Ways = append(m.Ways, make([]PeerKind, n))
			for j := range n {
				if i != j {
					m.Ways[i][j] = pp.Way(i, j)
				}
			}
		}
	}
	var failed error
	together := func(copies ...Copy) float64 {
		if failed != nil {
			return 0
		}
		rates, err := p.Time(copies)
		sum := 0.0
		for _, r := range rates {
			sum += r
		}
		if err == nil && (len(rates) != len(copies) || !(sum > 0) || math.IsInf(sum, 1)) {
			err = fmt.Errorf("rates %v", rates)
		}
		if err != nil {
			failed = fmt.Errorf("ring: copies %v (device numbers, %d is the host): %w", copies, Host, err)
		}
		return sum
	}
	var down, up []Copy
	for i := range n {
		d, u := Copy{Host, i}, Copy{i, Host}
		down, up = append(down, d), append(up, u)
		m.Down, m.Up, m.Both = append(m.Down, together(d)), append(m.Up, together(u)), append(m.Both, together(d, u))
		m.Pair, m.Peer = append(m.Pair, make([]float64, n)), append(m.Peer, make([]float64, n))
	}
	for i := range n {
		m.Pair[i][i] = m.Down[i]
		for j := range i {
			m.Pair[i][j] = together(down[i], down[j])
			m.Pair[j][i] = m.Pair[i][j]
			m.Peer[i][j], m.Peer[j][i] = together(Copy{i, j}), together(Copy{j, i})
		}
	}
	m.All, m.AllUp, m.AllBoth = m.Down[0], m.Up[0], m.Both[0]
	if n > 1 {
		m.All, m.AllUp, m.AllBoth = m.Pair[0][1], together(up...), together(append(down, up...)...)
	}
	if n > 2 { // for two devices, All is their Pair: another timing would only add noise, which looks like a root
		m.All = together(down...)
	}
	return m, failed
}

// shared is a threshold: two devices share a link if together they reach less than this part of the sum of
// their rates alone. It is midway between full sharing (0.5) and none (1).
const shared = 0.75

// Tree makes the simplest tree that explains the measurements. Two devices share an uplink if
// they read host memory together at less than three quarters of the sum of their rates
// alone; the rate of the uplink is what the pair reached. All devices share a root if all together
// reach less than their uplinks; its rate is what all reached. Copies between
// devices with a link of their own run at the measured rates, other copies go over the tree.
func (m *Measured) Tree(name string) (*Tree, error) {
	n := len(m.Names)
	for _, x := range [][]float64{m.Down, m.Up, m.Both} {
		if len(x) != n {
			return nil, fmt.Errorf("ring: %d rates for %d devices", len(x), n)
		}
	}
	if len(m.Pair) != n || len(m.Peer) != n || m.Ways != nil && len(m.Ways) != n {
		return nil, fmt.Errorf("ring: tables of %d, %d and %d rows for %d devices", len(m.Pair), len(m.Peer), len(m.Ways), n)
	}
	root := Link{Name: "root", Parent: -1, Down: m.All, Up: m.AllUp, Both: m.AllBoth}
	t := &Tree{Name: name, Links: []Link{root}}
	group := make([]int, n) // by device: its shared uplink; 0: none
	for i := range n {
		if len(m.Pair[i]) != n || len(m.Peer[i]) != n || m.Ways != nil && len(m.Ways[i]) != n {
			return nil, fmt.Errorf("ring: row %d of a table does not have %d numbers", i, n)
		}
		for j := range i {
			alone := m.Down[i] + m.Down[j]
			if group[i] != 0 || m.Pair[i][j] >= shared*alone || m.rootBound(m.Pair[i][j]) {
				continue
			}
			if group[j] == 0 {
				ratio := m.Pair[i][j] / alone
				t.Links = append(t.Links, Link{Name: fmt.Sprintf("uplink%d", len(t.Links)-1), Parent: 0, Down: m.Pair[i][j],
					Up: ratio * (m.Up[i] + m.Up[j]), Both: ratio * (m.Both[i] + m.Both[j])})
				group[j] = len(t.Links) - 1
			}
			group[i] = group[j]
		}
	}
	sum := 0.0
	seen := map[int]bool{}
	for i, g := range group {
		switch {
		case g == 0:
			sum += m.Down[i]
		case !seen[g]:
			sum += t.Links[g].Down
		}
		seen[g] = true
		t.Links = append(t.Links, Link{Name: "link" + fmt.Sprint(i), Parent: g, Down: m.Down[i], Up: m.Up[i], Both: m.Both[i]})
		t.GPUs = append(t.GPUs, GPU{m.Names[i], len(t.Links) - 1})
		row := make([]Peer, n)
		for j, r := range m.Peer[i] {
			switch way := m.way(i, j); {
			case i == j:
			case way == Direct:
				row[j] = Peer{Direct, r}
			default:
				row[j] = Peer{Kind: way}
			}
		}
		t.Peers = append(t.Peers, row)
	}
	// A root that is as wide as what hangs on it, up to noise, is no limit.
	if m.All >= 0.95*sum {
		t.Links[0].Down, t.Links[0].Up, t.Links[0].Both = 0, 0, 0
	}
	return t, t.Validate()
}

// rootBound reports whether a pair is about as fast as all devices together. Then the root limits the
// pair, and not a shared uplink.
func (m *Measured) rootBound(pair float64) bool { return len(m.Names) > 2 && pair >= 0.9*m.All }

// PeerSet is a set of devices, by number, between which all copies take the same kind of way.
type PeerSet struct {
	Devices []int
	Rate    float64 // B/s of the slowest pair, if pairs have links of their own; 0: copies go over the tree
}

// PeerSets covers all pairs with peer access by sets, greedily by few. Sets whose copies go over the tree
// come first; for a pair in several sets the last one counts. In a set with links of
// their own the rates of all pairs are within a factor of two.
func (m *Measured) PeerSets() []PeerSet {
	n := len(m.Names)
	rate := func(i, j int) float64 { return min(m.Peer[i][j], m.Peer[j][i]) }
	cover := func(kind PeerKind, fits func(first, pair [2]int) bool) (sets []PeerSet) {
		covered := map[[2]int]bool{}
		for i := range n {
			for j := i + 1; j < n; j++ {
				if covered[[2]int{i, j}] || m.way(i, j) != kind || m.way(j, i) != kind {
					continue
				}
				set := []int{i, j}
				for k := range n {
					ok := k != i && k != j
					for _, d := range set {
						ok = ok && fits([2]int{i, j}, [2]int{d, k})
					}
					if ok {
						set = append(set, k)
					}
				}
				slices.Sort(set)
				s := PeerSet{Devices: set}
				for a, x := range set {
					for _, y := range set[a+1:] {
						covered[[2]int{x, y}] = true
						if r := rate(x, y); kind == Direct && (s.Rate == 0 || r < s.Rate) {
							s.Rate = r
						}
					}
				}
				sets = append(sets, s)
			}
		}
		return sets
	}
	access := func(p [2]int, least PeerKind) bool { return m.way(p[0], p[1]) >= least && m.way(p[1], p[0]) >= least }
	tree := cover(Switched, func(_, p [2]int) bool { return access(p, Switched) })
	return append(tree, cover(Direct, func(first, p [2]int) bool {
		a, b := rate(first[0], first[1]), rate(p[0], p[1])
		return access(p, Direct) && a <= 2*b && b <= 2*a
	})...)
}
