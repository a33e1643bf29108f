package ring

import (
	"errors"
	"fmt"
	"math"
)

// Prober times copies of one machine. Devices implement it; see Measure.
type Prober interface {
	// Names lists the devices.
	Names() []string
	// Time runs the copies at the same time, each again and again until all have run
	// for long enough, and returns their rates in B/s.
	Time(copies []Copy) ([]float64, error)
}

// Measured holds the rates (B/s) that copies reached.
type Measured struct {
	Names    []string
	Down, Up []float64   // of each device alone: from the host, to the host
	Both     []float64   // the two at once, added up
	Pair     [][]float64 // two devices read host memory at once, added up; the diagonal is Down
	All      float64     // all devices read host memory at once, added up
	AllUp    float64     // all write it
	AllBoth  float64     // both at once, added up
	Peer     [][]float64 // from, to; alone. The diagonal is 0
}

// Measure times all copies that a tree is made of: n devices take n² + 4n + 3 runs or
// fewer. Errors say which copies failed.
func Measure(p Prober) (*Measured, error) {
	m := &Measured{Names: p.Names()}
	n := len(m.Names)
	if n == 0 {
		return nil, errors.New("ring: no devices to measure")
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
		m.All, m.AllUp, m.AllBoth = together(down...), together(up...), together(append(down, up...)...)
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
// devices have links of their own at the rates measured.
func (m *Measured) Tree(name string) (*Tree, error) {
	n := len(m.Names)
	for _, x := range [][]float64{m.Down, m.Up, m.Both} {
		if len(x) != n {
			return nil, fmt.Errorf("ring: %d rates for %d devices", len(x), n)
		}
	}
	if len(m.Pair) != n || len(m.Peer) != n {
		return nil, fmt.Errorf("ring: tables of %d and %d rows for %d devices", len(m.Pair), len(m.Peer), n)
	}
	root := Link{Name: "root", Parent: -1, Down: m.All, Up: m.AllUp, Both: m.AllBoth}
	t := &Tree{Name: name, Links: []Link{root}}
	group := make([]int, n) // uplink of every device, 0: none
	for i := range n {
		if len(m.Pair[i]) != n || len(m.Peer[i]) != n {
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
			if i != j {
				row[j] = Peer{Direct, r}
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
