package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sagann/dataset/npy"
	"sagann/internal/runfolder"
	"sagann/internal/runpage"
)

// trainKarate is the folder of a run on karate, with validation at every second epoch.
func trainKarate(t *testing.T, more ...string) (dir string, epochs []runfolder.Epoch) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	args := append([]string{"train", "--data", "karate", "--model", "gcn", "--epochs", "21", "--eval-every", "2", "--chunks", "2", "--out", dir}, more...)
	if status, text := sagaCommand(t, args...); status != exitOK {
		t.Fatalf("status %d\n%s", status, text)
	}
	epochs, err := runfolder.ReadMetrics(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, epochs
}

// pageRows are the cells of the rows of a table, by its place in the text of a page; what a
// browser writes and what the page's own text is are read alike.
func pageRows(text, id string) (list [][]string) {
	_, text, _ = strings.Cut(text, fmt.Sprintf("id=%q", id))
	text, _, _ = strings.Cut(text, "</section>")
	for _, row := range strings.Split(text, "<tr")[1:] {
		var cells []string
		for _, m := range regexp.MustCompile(`<td[^>]*>([^<]*)`).FindAllStringSubmatch(row, -1) {
			cells = append(cells, strings.TrimSpace(m[1]))
		}
		if len(cells) > 0 {
			list = append(list, cells)
		}
	}
	return list
}

// near says whether text is x to the digits that it has.
func near(text string, x float64, tolerance float64) bool {
	if x != x {
		return text == "–"
	}
	y, err := strconv.ParseFloat(text, 64)
	return err == nil && max(y-x, x-y) <= tolerance*max(1, x)
}

// samePage holds the tables of a page against metrics.csv.
func samePage(t *testing.T, text string, epochs []runfolder.Epoch) {
	t.Helper()
	table := pageRows(text, "epochs")
	if len(table) != len(epochs) || len(epochs) != 21 {
		t.Fatalf("the page lists %d epochs, metrics.csv %d", len(table), len(epochs))
	}
	for i, e := range epochs {
		c := table[i]
		if c[0] != strconv.Itoa(e.Epoch) || !near(c[1], e.Loss, 1e-5) || !near(c[2], e.ValLoss, 1e-5) || !near(c[3], e.Train, 1e-4) || !near(c[4], e.Val, 1e-4) || !near(c[5], e.Test, 1e-4) {
			t.Errorf("%v, metrics.csv has %+v", c, e)
		}
	}
	// The confusion matrix: what is on the diagonal are the hits of the test accuracy.
	hits, all := 0, 0
	classes := pageRows(text, "classes")
	for i, c := range classes[len(classes)-2:] {
		for k, n := range c {
			x, err := strconv.Atoi(n)
			if err != nil {
				t.Fatalf("the matrix has %q", n)
			}
			if all += x; i == k {
				hits += x
			}
		}
	}
	if last := epochs[len(epochs)-1]; all != 22 || !near(fmt.Sprint(float64(hits)/float64(all)), last.Test, 1e-12) {
		t.Errorf("the matrix has %d of %d right, the last test accuracy is %v", hits, all, last.Test)
	}
}

// The page of a run has the numbers of metrics.csv, as text and in a browser, whose script
// draws the curves under the policy of the page.
func TestReportPage(t *testing.T) {
	dir, epochs := trainKarate(t)
	path := filepath.Join(dir, runpage.PageFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	samePage(t, string(text), epochs)
	if m := regexp.MustCompile(`(?i)https?:|<link|\bsrc\s*=|\bhref\s*=`).Find(text); m != nil {
		t.Errorf("the page refers to %s", m)
	}
	t.Run("browser", func(t *testing.T) {
		dom := dumpDOM(t, path)
		samePage(t, dom, epochs)
		last := epochs[len(epochs)-1]
		for chart, want := range map[string][]float64{"loss": {last.Loss, last.ValLoss}, "score": {last.Train, last.Val, last.Test}, "time": {last.Seconds}} {
			_, part, _ := strings.Cut(dom, `id="chart-`+chart+`"`)
			part, _, _ = strings.Cut(part, "<svg")
			if got := lastValues(t, part); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("chart %s ends with %v, metrics.csv with %v", chart, got, want)
			}
		}
		if n := strings.Count(dom, `<path class="curve" style="stroke:var(--c`); n != 6 {
			t.Errorf("%d curves are drawn, want 6", n)
		}
	})
}

// Several runs on one page end, in a browser, with the losses of their files.
func TestReportSeveral(t *testing.T) {
	a, of := trainKarate(t)
	b, others := trainKarate(t, "--lr", "0.1", "--patience", "100")
	out := filepath.Join(t.TempDir(), "both.html")
	if status, text := sagaCommand(t, "report", a, b, "--out", out); status != exitOK {
		t.Fatalf("status %d\n%s", status, text)
	}
	dom := dumpDOM(t, out)
	_, part, _ := strings.Cut(dom, `id="chart-loss"`)
	part, _, _ = strings.Cut(part, "<svg")
	if got, want := lastValues(t, part), []float64{of[20].Loss, others[20].Loss}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the losses end with %v, metrics.csv with %v", got, want)
	}
	if differ := pageRows(dom, "settings"); len(differ) != 2 || fmt.Sprint(differ[0]) != "[lr 0.01 0.1]" || fmt.Sprint(differ[1]) != "[patience 0 100]" {
		t.Errorf("settings that differ: %v", differ)
	}
}

// Labels that are rows of 0 and 1 have a table of classes by themselves, without confusions:
// its counts give the micro-F1 of the run.
func TestReportMultiLabel(t *testing.T) {
	dir := t.TempDir()
	const n, classes = 60, 3
	var edges, ids []int32
	labels, features := make([]int32, n*classes), make([]float32, n*classes)
	for v := range int32(n) {
		edges, ids = append(edges, v, (v+3)%n), append(ids, v)
		for k := range int32(classes) {
			if v%3 == k || v%4 == k {
				labels[v*classes+k], features[v*classes+k] = 1, 1
			}
		}
	}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		shape []int
		x     []int32
	}{"edges": {[]int{n, 2}, edges}, "labels": {[]int{n, classes}, labels}, "train": {[]int{30}, ids[:30]}, "val": {[]int{10}, ids[30:40]}, "test": {[]int{20}, ids[40:]}} {
		if err := npy.Write(filepath.Join(data, name+".npy"), x.shape, x.x); err != nil {
			t.Fatal(err)
		}
	}
	if err := npy.Write(filepath.Join(data, "features.npy"), []int{n, classes}, features); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "run")
	if status, text := sagaCommand(t, "train", "--data", data, "--model", "sage", "--epochs", "8", "--out", run); status != exitOK {
		t.Fatalf("status %d\n%s", status, text)
	}
	r, err := runpage.Read(run)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Record.Classes
	if c == nil || len(c.Hits) != classes || c.Matrix != nil || r.Record.Metric != "micro-F1" {
		t.Fatalf("%+v, %s", c, r.Record.NoClasses)
	}
	var hits, others int64
	for k := range classes {
		hits, others = hits+c.Hits[k], others+c.Said[k]+c.Truth[k]
	}
	if f1, last := 2*float64(hits)/float64(others), r.Epochs[len(r.Epochs)-1].Test; max(f1-last, last-f1) > 1e-6 || f1 == 0 {
		t.Errorf("the counts give a micro-F1 of %v, the last test score is %v", f1, last)
	}
	text, err := os.ReadFile(filepath.Join(run, runpage.PageFile))
	if err != nil || !strings.Contains(string(text), "labels of the test split") {
		t.Errorf("the page does not say whose labels were counted: %v", err)
	}
}

// lastValues are the values of epoch 21 that a chart's legend shows.
func lastValues(t *testing.T, part string) (list []float64) {
	t.Helper()
	for _, m := range regexp.MustCompile(`data-value="([^"]*)" data-epoch="21"`).FindAllStringSubmatch(part, -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

// dumpDOM is a page after a browser has run its script.
func dumpDOM(t *testing.T, path string) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		browser, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		out, err := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
			"--virtual-time-budget=2000", "--dump-dom", "file://"+path).Output()
		if err != nil {
			t.Skipf("%s does not run here: %v", browser, err)
		}
		return string(out)
	}
	t.Skip("no chromium is installed, so that no browser opens the page")
	return ""
}
