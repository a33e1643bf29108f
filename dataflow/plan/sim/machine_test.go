package sim

import (
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func BuiltIn(t testing.TB, name string) *Machine {
	t.Helper()
	m, err := LoadMachine(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMachines(t *testing.T) {
	if got := strings.Join(Machines(), " "); got != "a100 cpu h100 h200 h200x4 h200x8_ib p100x8" {
		t.Fatalf("built-in machines: %s", got)
	}
	for _, name := range Machines() {
		m := BuiltIn(t, name)
		if m.Name != name || m.About == "" {
			t.Errorf("%s: name %q, about %q", name, m.Name, m.About)
		}
		n := 0
		eachNumber(reflect.ValueOf(*m), name, func(at string, x Number) {
			if x == (Number{}) && strings.HasSuffix(at, ".Products") { // only measured machines have it
				return
			}
			n++
			if len(x.Source) < 10 {
				t.Errorf("%s: source %q says nothing", at, x.Source)
			}
		})
		if want := 16*len(m.DeviceKinds) + 4*len(m.LinkKinds); n != want {
			t.Errorf("%s: %d numbers, want %d", name, n, want)
		}
		for i := range m.Devices {
			if b := m.Budget(i); b <= 0 || b > int64(m.Kind(i).Memory.Value) {
				t.Errorf("%s: budget of device %d: %d bytes", name, i, b)
			}
		}
	}
}

func eachNumber(v reflect.Value, at string, f func(string, Number)) {
	if !v.CanInterface() { // no part of a file
		return
	}
	if n, ok := v.Interface().(Number); ok {
		f(at, n)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			eachNumber(v.Field(i), at+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			eachNumber(v.MapIndex(k), at+"."+k.String(), f)
		}
	}
}

// together returns the rates, in GB/s, of copies that run at the same time.
func together(n *network, routes ...*route) []float64 {
	rates := make([]float64, len(routes))
	n.share(routes, rates)
	return rates
}

func Near(a, b, rel float64) bool { return math.Abs(a-b) <= rel*math.Abs(b) }

// The measurements that the h200 files were made from come out again.
func TestH200Links(t *testing.T) {
	n := newNetwork(BuiltIn(t, "h200"))
	for kib, want := range map[float64]float64{256: 36, 1024: 48, 4096: 53, 16384: 55} {
		r := &n.hosts[0]
		bytes := kib * 1024
		if got := bytes / (r.latency + bytes/together(n, r)[0]); !Near(got, want, 0.015) {
			t.Errorf("a copy of %g KiB runs at %.1f GB/s, want %g", kib, got, want)
		}
	}
	if r := together(n, &n.hosts[0], &n.hostsUp[0]); !Near(r[0]+r[1], 92, 1e-9) || !Near(r[0], r[1], 1e-9) {
		t.Errorf("both directions: %.1f and %.1f GB/s, want 92 together", r[0], r[1])
	}
	n = newNetwork(BuiltIn(t, "h200x4"))
	r := together(n, &n.hosts[0], &n.hosts[1], &n.hosts[2], &n.hosts[3])
	for _, x := range r {
		if !Near(x, 39, 1e-9) {
			t.Errorf("four devices load at %.1f GB/s each, want 156/4", x)
		}
	}
	if x := together(n, &n.hosts[2])[0]; x != 55 {
		t.Errorf("one of four devices loads at %.1f GB/s alone", x)
	}
	if r := together(n, &n.peers[0][1], &n.peers[1][2], &n.hosts[0]); r[0] != 380 || r[1] != 380 || r[2] != 55 {
		t.Errorf("peers beside the host: %v", r)
	}
	if r := together(n, &n.peers[0][1], &n.peers[0][2]); r[0] != 190 || r[1] != 190 {
		t.Errorf("two copies out of one port: %v", r)
	}
}

// The paper's Figure 7: who shares what with whom.
func TestP100Links(t *testing.T) {
	n := newNetwork(BuiltIn(t, "p100x8"))
	const one = 11.6882
	for _, c := range []struct {
		devices []int
		want    float64
	}{
		{[]int{0}, one},
		{[]int{0, 1}, one / 2}, // one switch
		{[]int{0, 2}, one},     // two switches of a socket
		{[]int{0, 2, 4, 6}, one},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, one / 2},
	} {
		var routes []*route
		for _, d := range c.devices {
			routes = append(routes, &n.hosts[d])
		}
		for i, x := range together(n, routes...) {
			if !Near(x, c.want, 1e-9) {
				t.Errorf("devices %v load together: %d at %.2f GB/s, want %.2f", c.devices, c.devices[i], x, c.want)
			}
		}
	}
	bridge := int32(3 * slices.Index(n.names, "bridge"))
	for i := range 8 {
		for j := range 8 {
			if i == j {
				continue
			}
			// Through a switch; through the host bridge; through host memory and QPI.
			want := 2
			if i/2 != j/2 {
				want = 4
			}
			if i/4 != j/4 {
				want = 6 + 2 + 1 // the links, host memory on both sides in both directions, the bridge
			}
			r := &n.peers[i][j]
			if len(r.uses) != want || r.holds(bridge+up) != (i/4 != j/4) {
				t.Errorf("from %d to %d: %d resources, want %d", i, j, len(r.uses), want)
			}
		}
	}
	// A copy behind one switch leaves the uplink free; one between switches takes it.
	if r := together(n, &n.peers[0][1], &n.hosts[1]); r[1] != one/2 {
		t.Errorf("the slot of device 1 is shared: %v", r)
	}
	if r := together(n, &n.peers[0][1], &n.hosts[0]); r[0] != one || r[1] != one {
		t.Errorf("up and down of device 0 are different lanes: %v", r)
	}
	if r := together(n, &n.peers[0][2], &n.hosts[3]); !Near(r[0], one/2, 1e-9) || !Near(r[1], one/2, 1e-9) {
		t.Errorf("the uplink of devices 2 and 3 is shared: %v", r)
	}
}

// Max-min: what a narrow link keeps a copy from using goes to the others.
func TestShareMaxMin(t *testing.T) {
	n := &network{capacity: []float64{12, 3, 10, 10}, left: make([]float64, 4), users: make([]int32, 4)}
	a, b, c := &route{uses: []int32{0, 1}}, &route{uses: []int32{0, 2}}, &route{uses: []int32{0, 3}}
	alone := &route{uses: []int32{3}}
	if r := together(n, a, b, c); r[0] != 3 || r[1] != 4.5 || r[2] != 4.5 {
		t.Errorf("rates %v, want 3, 4.5, 4.5", r)
	}
	if r := together(n, a, b, c, alone); r[0] != 3 || r[1] != 4.5 || r[2] != 4.5 || r[3] != 5.5 {
		t.Errorf("rates %v, want 3, 4.5, 4.5, 5.5", r)
	}
}

func TestMachineRefused(t *testing.T) {
	good, err := machines.ReadFile("machines/h200x4.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"value": 55e9`, `"value": -1`, "link kind pcie5.down: -1 B/s is out of range"},
		{`"value": 55e9`, `"value": 1e300`, "out of range"},
		{`"unit": "FLOP/s"`, `"unit": "GFLOP/s"`, `device kind h200.fp32: unit "GFLOP/s", want "FLOP/s"`},
		{`"source": "measured on one H200 (driver 580, CUDA 13.0): both directions at once"`, `"source": ""`, "pcie5.both: no source"},
		{`"both": {"value": 92e9`, `"both": {"value": 40e9`, "link kind pcie5: both directions together"},
		{`"name": "pcie1"`, `"name": "pcie0"`, `name "pcie0" is empty or used twice`},
		{`{"name": "pcie1", "kind": "pcie5", "parent": "root"}`, `{"name": "pcie1", "kind": "pcie5", "parent": "pcie1"}`, "link pcie1 never reaches host memory"},
		{`{"name": "pcie1", "kind": "pcie5", "parent": "root"}`, `{"name": "pcie1", "kind": "pcie5"}`, "2 links end in host memory and no bridge joins them"},
		{`"link": "pcie3"`, `"link": "pcie9"`, `device gpu3: no link "pcie9"`},
		{`"kind": "h200", "link": "pcie2"`, `"kind": "h300", "link": "pcie2"`, `device gpu2: no device kind "h300"`},
		{`["gpu0", "gpu1", "gpu2", "gpu3"]`, `["gpu0", "gpu9"]`, `peers 0: no device "gpu9"`},
		{`"port": "nvlink"`, `"port": "nv"`, `peers 0: no link kind "nv"`},
		{`"value": 2.1e-06`, `"value": "soon"`, "line 17"},
		{`"slice"`, `"slize"`, `unknown field "slize"`},
		{`"devices": [`, `"devices": [[`, "line "},
		{"\n}\n", "\n}\n{}", "more after the end"},
		{string(good), "", "EOF"},
		{string(good), strings.Repeat(" ", 1<<20+1), "longer than"},
		{string(good), `{"name": "x"}`, "no devices"},
	} {
		text := strings.Replace(string(good), c.old, c.new, 1)
		if text == string(good) {
			t.Fatalf("%q is not in the file", c.old)
		}
		_, err := ParseMachine("test.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "test.json") {
			t.Errorf("%q -> %q: error %v, want %q", c.old[:min(40, len(c.old))], c.new[:min(40, len(c.new))], err, c.want)
		}
	}
	// All faults at once, not the first.
	two := strings.NewReplacer(`"link": "pcie3"`, `"link": "a"`, `"link": "pcie2"`, `"link": "b"`).Replace(string(good))
	if _, err := ParseMachine("x", []byte(two)); err == nil || strings.Count(err.Error(), "no link") != 2 {
		t.Errorf("two faults: %v", err)
	}
}

func TestLoadMachine(t *testing.T) {
	if _, err := LoadMachine("h10"); err == nil || !strings.Contains(err.Error(), "p100x8") {
		t.Errorf("unknown machine: %v", err)
	}
	file := t.TempDir() + "/m.json"
	data, err := machines.ReadFile("machines/cpu.json")
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if m := BuiltIn(t, file); m.Name != "cpu" {
		t.Errorf("read %q", m.Name)
	}
}

// Every host has a bridge between its own sockets, and memory that is touched first in its own first socket.
func TestBridgesOfHosts(t *testing.T) {
	one := BuiltIn(t, "p100x8")
	one.NICs = one.Bridge
	m, err := one.OnHosts(2)
	if err != nil {
		t.Fatal(err)
	}
	across := func(n *network, hosts int) (routes []*route) { // from the first socket to the second
		for d := range 8 * hosts {
			if d%8 < 4 {
				routes = append(routes, &n.peers[d][d+4])
			}
		}
		return routes
	}
	loads := func(n *network, hosts int) (routes []*route) { // of the second socket
		for d := range 8 * hosts {
			if d%8 >= 4 {
				routes = append(routes, &n.hosts[d])
			}
		}
		return routes
	}
	n, alone := newNetwork(m), newNetwork(one)
	compare := func(what string, routes func(n *network, hosts int) []*route) {
		want := together(alone, routes(alone, 1)...)
		if r := together(n, routes(n, 2)...); !slices.Equal(r, slices.Concat(want, want)) {
			t.Errorf("%s of two hosts run at %v bytes/ns, those of one at %v", what, r, want)
		}
	}
	compare("copies between sockets", across)
	n.atFirstRoot(m)
	alone.atFirstRoot(one)
	compare("loads from the first socket", loads)
}
