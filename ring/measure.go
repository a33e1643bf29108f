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

// PeerProber is a Prober that knows the ways between its devices. Without it every
// copy between two devices is taken to have a link of its own.
type PeerProber interface {
	Prober
	Way(from, to int) PeerKind
}

// Measured holds the rates (B/s) that copies reached.
type Measured struct {
	Names    []string
	Down, Up []float64    // of each device alone: from the host, to the host
	Both     []float64    // the two at once, added up
	Pair     [][]float64  // two devices read host memory at once, added up; the diagonal is Down
	All      float64      // all devices read host memory at once, added up
	AllUp    float64      // all write it
	AllBoth  float64      // both at once, added up
	Peer     [][]float64  // from, to; alone. The diagonal is 0
	Ways     [][]PeerKind // of the copies in Peer; nil: Direct
}

// way is that from one device to another.
func (m *Measured) way(from, to int) PeerKind {
	if m.Ways == nil {
		return Direct
	}
	return m.Ways[from][to]
}

// Measure times all copies that a tree is made of: n devices take n² + 4n + 3 runs or
// fewer. Errors say which copies failed.
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
	if n > 2 { // of two, all is the pair: timed once, so that noise makes no root of it
		m.All = together(down...)
	}
	return m, failed
}

// shared is the part of the sum of two rates below which two devices are taken to
// share a link: midway between full sharing (half) and none.
const shared = 0.75

// Tree makes of m the simplest tree that explains it: two devices share an uplink when
// they read host memory together at less than three quarters of the sum of their rates
// alone (the uplink carries what the pair reached), and all share a root that carries
// what all reached together, when that is less than their uplinks do. Copies between
// devices that have links of their own run at the rates measured, the others over the tree.
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
	group := make([]int, n) // uplink of every device, 0: none
	for i := range n {
		if len(m.Pair[i]) != n || len(m.Peer[i]) != n || m.Ways != nil && len(m.Ways[i]) != n {
			return nil, fmt.Errorf("ring: row %d of a table has not %d numbers", i, n)
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
	// Noise aside, a root that is no narrower than what hangs on it is no limit.
	if m.All >= 0.95*sum {
		t.Links[0].Down, t.Links[0].Up, t.Links[0].Both = 0, 0, 0
	}
	return t, t.Validate()
}

// rootBound says that a pair ran at the rate of all devices together: then the root
// held it, not an uplink that the two share.
func (m *Measured) rootBound(pair float64) bool { return len(m.Names) > 2 && pair >= 0.9*m.All }

// PeerSet is devices, by number, of which each copies to each other one the same way.
type PeerSet struct {
	Devices []int
	Rate    float64 // B/s of the slowest pair with a link of its own; 0: over the tree
}

// PeerSets covers all pairs with peer access by as few sets as come easily, those over
// the tree first: a pair in several sets goes by the last. Rates of a set with links of
// their own are within a factor of two of each other.
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
