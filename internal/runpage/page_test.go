package runpage

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sagann/internal/runfolder"
)

// long is a run of n epochs, with all that a page can show.
func long(n, classes int) *Run {
	r := &Run{Name: "saga-run-</script>", Settings: []Fact{{"data", "a <b>graph</b>"}, {"lr", "0.01"}}}
	for i := 1; i <= n; i++ {
		x := float64(i)
		e := runfolder.Epoch{Epoch: i, Loss: 2.1 * math.Exp(-x/30), ValLoss: 0.3 + 1.8*math.Exp(-x/25), Train: 1 - 0.8*math.Exp(-x/20), Val: 0.9 - 0.75*math.Exp(-x/22), Test: 0.88 - 0.75*math.Exp(-x/24),
			Seconds: 0.1 + 0.01*math.Sin(x), H2D: 123456789, D2H: 98765432, Peak: 5 << 30}
		r.Epochs = append(r.Epochs, e)
	}
	truth, said := make([]int32, 1000), make([]int32, 1000)
	var ids []uint32
	for i := range truth {
		truth[i], said[i], ids = int32(i%classes), int32((i+i/500)%classes), append(ids, uint32(i))
	}
	c := CountClasses(classes, ids, truth, said)
	c.Split, c.Rows = "test", "vertices"
	r.Record = &Record{State: Finished, Model: "gcn", Parameters: 1234567, Data: "graph", Graph: "5 vertices", Metric: "accuracy", Epochs: n, BestEpoch: n, Kept: n, Classes: c,
		Memory: Memory{Budget: 6 << 30, Peak: 5 << 30}, Versions: []Fact{{"saga", "(devel)"}}, Links: []Link{{"host and devices", 1 << 30, 1 << 29}},
		Times: &Times{Epochs: 2, Wall: 0.1, Compute: 0.08, Exposed: 0.01, Idle: 0.005}}
	for i := range 40 {
		r.Record.Memory.Parts = append(r.Record.Memory.Parts, Part{fmt.Sprintf("own matmul.%d", i), 1 << 26, i%2 == 0})
		r.Record.Times.Work = append(r.Record.Times.Work, Work{fmt.Sprintf("layer%d: edges", i), 10, 0, 0.002})
	}
	return r
}

func write(t *testing.T, f func(w *strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// alone checks that a page asks for nothing else, that its policy says so, and that text stays text.
func alone(t *testing.T, text string) {
	t.Helper()
	if m := regexp.MustCompile(`(?i)https?:|<link|<img|<iframe|\bsrc\s*=|\bhref\s*=|@import|url\(`).FindString(text); m != "" {
		t.Errorf("the page refers to something: %s", m)
	}
	if !strings.Contains(text, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">`) {
		t.Error("the page has no policy")
	}
	if !strings.Contains(text, `<meta name="viewport" content="width=device-width`) {
		t.Error("the page has no viewport")
	}
	if n := strings.Count(text, "</script>"); n > 1 || strings.Contains(text, "<b>graph") || strings.Contains(text, "ZgotmplZ") {
		t.Errorf("text became markup: %d ends of scripts", n)
	}
}

// maxPage is what the page of 1,000 epochs may take.
const maxPage = 2_000_000

func TestPageAlone(t *testing.T) {
	for _, x := range []struct{ epochs, classes int }{{0, 2}, {1, 2}, {1000, 50}, {1000, 172}, {100_000, 10}} {
		r := long(x.epochs, x.classes)
		text := write(t, func(w *strings.Builder) error { return r.Write(w) })
		alone(t, text)
		if len(text) > maxPage {
			t.Errorf("%d epochs, %d classes: %d bytes, want at most %d", x.epochs, x.classes, len(text), maxPage)
		}
		t.Logf("%d epochs, %d classes: %d bytes", x.epochs, x.classes, len(text))
		if x.epochs == 1000 && strings.Count(text, "<tr><td class=\"n\">") != 1000 {
			t.Errorf("the table has %d epochs", strings.Count(text, "<tr><td class=\"n\">"))
		}
		r.Record, r.Epochs = nil, r.Epochs[:min(1, x.epochs)]
		alone(t, write(t, func(w *strings.Builder) error { return r.Write(w) }))
	}
}

// Counts by hand: three rows of class 0, one of them taken for 1; two rows of class 1; a row
// without a class and one of another split.
func TestCountClasses(t *testing.T) {
	c := CountClasses(3, []uint32{0, 1, 2, 3, 4, 5}, []int32{0, 0, 0, 1, 1, -1, 2}, []int32{0, 1, 0, 1, 1, 1, 0})
	if fmt.Sprint(c.Matrix, c.Hits, c.Said, c.Truth) != "[[2 1 0] [0 2 0] [0 0 0]] [2 2 0] [2 3 0] [3 2 0]" {
		t.Errorf("%+v", c)
	}
	list, mean := c.scores()
	want := []classScore{{"0", 1, 2.0 / 3, 0.8, 3}, {"1", 2.0 / 3, 1, 0.8, 2}, {"2", 0, 0, 0, 0}}
	for i, w := range want {
		if list[i] != w {
			t.Errorf("%+v, want %+v", list[i], w)
		}
	}
	if math.Abs(mean.Precision-5.0/6) > 1e-12 || math.Abs(mean.F1-0.8) > 1e-12 || mean.Truth != 5 {
		t.Errorf("mean %+v", mean)
	}
	// Many classes have a list instead of a matrix.
	var ids []uint32
	truth, said := make([]int32, 300), make([]int32, 300)
	for i := range truth {
		truth[i], said[i], ids = int32(i%100), int32(i%100), append(ids, uint32(i))
	}
	said[7], said[107], said[8] = 9, 9, 1
	if c = CountClasses(100, ids, truth, said); c.Matrix != nil || fmt.Sprint(c.Confused) != "[{7 9 2} {8 1 1}]" {
		t.Errorf("%v", c.Confused)
	}
	m := CountLabels(2, []uint32{0, 1}, []float32{1, 0, 1, 1, 0, 0}, []float32{2, 1, -1, 3, 9, 9})
	if fmt.Sprint(m.Hits, m.Said, m.Truth) != "[1 1] [1 2] [2 1]" {
		t.Errorf("%+v", m)
	}
}

// A folder is read back; what is missing is said, and what no run writes is an error.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), "not the folder of a run") {
		t.Errorf("an empty folder: %v", err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("config.json", `{"saga":"x","settings":{"data":"karate","lr":0.01,"without":["fuse","hoist"],"split":null,"mem":2097152,"chunks":0,"heads":0}}`)
	r, err := Read(dir)
	if err != nil || r.Record != nil || fmt.Sprint(r.Settings) != "[{data karate} {lr 0.01} {without fuse, hoist} {split –} {mem 2.00 MiB} {chunks auto} {heads 0}]" {
		t.Errorf("%+v, %v", r, err)
	}
	alone(t, write(t, func(w *strings.Builder) error { return r.Write(w) }))
	put("report.json", `{"state":"finished","metric":"micro-F1"}`)
	if r, err = Read(dir); err != nil || r.metric() != "micro-F1" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range []struct{ file, text string }{{"report.json", "{"}, {"report.json", `{"classes":{"hits":[1,2],"truth":[3]}}`},
		{"metrics.csv", "a,b\n"}, {"config.json", `{"settings":[1]}`}, {"config.json", `{`}} {
		put(bad.file, bad.text)
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), bad.file) {
			t.Errorf("%s %q: %v", bad.file, bad.text, err)
		}
		if bad.file != "config.json" {
			if err := os.Remove(filepath.Join(dir, bad.file)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Runs side by side: also those that know little, and more of them than there are colours.
func TestSeveral(t *testing.T) {
	a, b, c := long(1000, 3), long(500, 5), long(0, 2)
	b.Settings, c.Record, c.Settings = []Fact{{"data", "a <b>graph</b>"}, {"lr", "0.1"}}, nil, a.Settings
	text := write(t, func(w *strings.Builder) error { return WriteSeveral(w, []*Run{a, b, c}) })
	alone(t, text)
	differ, same := compare([]*Run{a, b, c})
	if fmt.Sprint(differ, same) != "[{lr [0.01 0.1 0.01]}] [{data a <b>graph</b>}]" {
		t.Errorf("%v, %v", differ, same)
	}
	if rows := classRows([]*Run{a, b, c}); len(rows) != 6 || rows[4].Values[0] != none || rows[4].Values[1] == none || rows[0].Values[2] != none {
		t.Errorf("%v", rows)
	}
	// Classes are compared by name.
	x, y := long(10, 2), long(10, 2)
	x.Name, y.Name = "first", "second"
	x.Record.Classes.Names, y.Record.Classes.Names = []string{"red", "blue"}, []string{"blue", "pink"}
	x.Columns, y.Columns = []string{"age", "pay"}, []string{"pay"}
	rows := classRows([]*Run{x, y})
	if len(rows) != 4 || rows[0].Name != "red" || rows[1].Name != "blue" || rows[2].Name != "pink" || rows[0].Values[1] != none || rows[2].Values[0] != none || rows[1].Values[0] == none || rows[1].Values[1] == none {
		t.Errorf("%v", rows)
	}
	if got, want := fmt.Sprint(notes([]*Run{x, y})), "[second has the classes pink, which first has not. second has not the classes red of first. second has not the columns of features age of first.]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if classRows([]*Run{c}) != nil {
		t.Error("classes of a run that has counted none")
	}
	var many []*Run
	for range 20 {
		many = append(many, long(5000, 3))
	}
	text = write(t, func(w *strings.Builder) error { return WriteSeveral(w, many) })
	alone(t, text)
	if len(text) > 2*maxPage {
		t.Errorf("20 runs of 5,000 epochs: %d bytes", len(text))
	}
}
