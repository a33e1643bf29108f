package quality

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func committed(t *testing.T) []*problem {
	t.Helper()
	list, err := readProblems("cases.csv", strings.NewReader(frozen))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestCases: the committed cases can be read, are written as they were read, and there are
// as many of each group as there should be.
func TestCases(t *testing.T) {
	list := committed(t)
	var out bytes.Buffer
	rows := [][]string{strings.Split(problemHead, ",")}
	groups := map[string]int{}
	for _, p := range list {
		rows = append(rows, row(p.fields()))
		group, _, _ := strings.Cut(p.name, "/")
		groups[group]++
		if p.mem <= 0 || p.vertices <= 0 || p.devices < 1 {
			t.Errorf("%s: budget of %d bytes, %d vertices, %d devices", p.name, p.mem, p.vertices, p.devices)
		}
	}
	if err := writeRows(&out, rows...); err != nil {
		t.Fatal(err)
	}
	if out.String() != frozen {
		t.Error("cases.csv is not written as it was read")
	}
	for group, want := range map[string]int{"auto": 160, "offload": 24, "enwiki": 38, "papers100M": 4, "time": 7} {
		if groups[group] != want {
			t.Errorf("%d cases of %s, want %d", groups[group], group, want)
		}
	}
}

// TestRecorded: the committed table has a result of every committed case, and no other.
func TestRecorded(t *testing.T) {
	have, err := load("table.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range committed(t) {
		if r := have[p.name]; r == nil {
			t.Errorf("%s is not recorded", p.name)
		} else if r.seconds <= 0 || r.cpu <= 0 || r.peak <= 0 {
			t.Errorf("recorded %+v", *r)
		}
		delete(have, p.name)
	}
	for name := range have {
		t.Errorf("%s is recorded and no case", name)
	}
}

// TestVerdict: the mean, one case and a case that stops fitting each fail.
func TestVerdict(t *testing.T) {
	p := []*problem{{name: "a"}, {name: "b"}}
	for _, c := range []struct {
		old, now [2]float64
		want     string
	}{
		{[2]float64{1, 2}, [2]float64{1, 2}, ""},
		{[2]float64{1, 2}, [2]float64{1.02, 1.9}, ""},
		{[2]float64{1, 2}, [2]float64{1.02, 2}, "geometric mean"},
		{[2]float64{1, 2}, [2]float64{1.04, 1}, "a is 1.0400 times as slow"},
		{[2]float64{1, 2}, [2]float64{1, 0}, "b does not fit any more"},
		{[2]float64{1, 0}, [2]float64{1, 2}, ""},
		{[2]float64{1, 0}, [2]float64{1, 0}, ""},
	} {
		old := map[string]*result{"a": {name: "a", seconds: c.old[0]}, "b": {name: "b", seconds: c.old[1]}}
		x := newComparison(io.Discard, old)
		for i := range p {
			x.add(p[i], &result{name: p[i].name, seconds: c.now[i]})
		}
		err := x.verdict(1, 1.03)
		if got := errorText(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%v to %v: %q, want %q", c.old, c.now, got, c.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestDrawn: a seed draws the same cases every time, another seed others, and they come
// through a file as they are.
func TestDrawn(t *testing.T) {
	texts := make([]string, 3)
	for i, seed := range []uint64{7, 7, 8} {
		var out bytes.Buffer
		if err := printDrawn(&out, 20, seed); err != nil {
			t.Fatal(err)
		}
		texts[i] = out.String()
	}
	if texts[0] != texts[1] || texts[0] == texts[2] {
		t.Error("draws do not follow their seed")
	}
	list, err := readProblems("drawn", strings.NewReader(texts[0]))
	if err != nil || len(list) != 20 {
		t.Fatal(len(list), err)
	}
	drawn, err := draw(20, 7)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if !slices.Equal(row(list[i].fields()), row(drawn[i].fields())) {
			t.Errorf("%v came back as %v", *drawn[i], *list[i])
		}
	}
}

// TestPlanOne: a case is planned within its budget, and one whose budget is too small does
// not fit.
func TestPlanOne(t *testing.T) {
	p := &problem{name: "small", model: "gcn", vertices: 20000, edges: 400000, features: 64, classes: 8, hidden: 32, layers: 2, machine: "h200", devices: 1, without: "invariant"}
	for mem, fits := range map[int64]bool{690e6 + 8e6: true, 690e6 + 1000: false} {
		p.mem = mem
		var in, out bytes.Buffer
		if err := writeRows(&in, strings.Split(problemHead, ","), row(p.fields())); err != nil {
			t.Fatal(err)
		}
		if err := planOne(&in, &out, 0); err != nil {
			t.Fatal(err)
		}
		r := &result{}
		err := readTable("out", "seconds", strings.NewReader("seconds\n"+out.String()), func() []any { return []any{&r.seconds} })
		if err != nil || math.IsNaN(r.seconds) || r.seconds > 0 != fits {
			t.Errorf("%d bytes: %q, %v; want that it fits: %v", mem, out.String(), err, fits)
		}
	}
}

// TestRefused: a table of something else, and a case that stands twice, are refused.
func TestRefused(t *testing.T) {
	head := problemHead + "\n"
	one := strings.Split(frozen, "\n")[1] + "\n"
	for name, text := range map[string]string{"empty": "", "other": "a,b\n1,2\n", "twice": head + one + one, "number": head + strings.Replace(one, "233000", "many", 1), "unit": head + strings.Replace(one, "233000", "233000x", 1), "short": head + "a,b\n"} {
		if _, err := readProblems(name, strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
