package runpage

import (
	"bufio"
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"

	"sagann/internal/runfolder"
	"sagann/internal/units"
)

//go:embed page.html style.css chart.js
var files embed.FS

// pages holds the templates "run" and "several".
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"int": intText, "bytes": units.Size, "time": timeText, "score": scoreText, "loss": lossText, "percent": percentText,
	"share": func(part, whole float64) string { return percentText(part / whole) },
	"count": func(n int) string { return intText(int64(n)) }, "color": func(i int) int { return i % colors },
	"style":  func() template.CSS { return template.CSS(file("style.css")) },
	"script": func() template.JS { return template.JS(file("chart.js")) },
}).ParseFS(files, "page.html"))

// file is an embedded file.
func file(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded above
	}
	return string(text)
}

// maxRows is how many epochs the table of a page lists; longer runs are thinned evenly.
const maxRows = 1000

// view is what the template of one run reads.
type view struct {
	*Run
	Settings []settingRow
	Timeline *timeline
	Tiles    []Fact
	Charts   []chart
	Classes  *classView
	Times    *timeView
	Memory   *memoryView
	Links    []linkView
	Table    []runfolder.Epoch
	Moved    bool // some epoch has copied bytes
	Thinned  int  // the table has every Thinned-th epoch; 1: all
	Metric   string
}

// Write writes the page of one run.
func (r *Run) Write(w io.Writer) error {
	v := &view{Run: r, Tiles: r.tiles(), Charts: r.charts(), Metric: r.metric(), Settings: r.settings(), Timeline: r.timeline}
	v.Table, v.Thinned = thin(r.Epochs, maxRows)
	v.Moved = slices.ContainsFunc(r.Epochs, func(e runfolder.Epoch) bool { return e.H2D+e.D2H > 0 })
	if rec := r.Record; rec != nil {
		v.Classes, v.Times, v.Memory = rec.Classes.view(), rec.Times.view(), rec.Memory.view()
		for _, l := range rec.Links {
			v.Links = append(v.Links, linkView{l, rate(l.Down, r.median()), rate(l.Up, r.median())})
		}
	}
	return execute(w, "run", v)
}

func execute(w io.Writer, name string, v any) error {
	b := bufio.NewWriter(w)
	if err := pages.ExecuteTemplate(b, name, v); err != nil {
		return err
	}
	return b.Flush()
}

// thin keeps every step-th epoch and the last one, about most of them.
func thin(list []runfolder.Epoch, most int) (kept []runfolder.Epoch, step int) {
	step = max(1, (len(list)+most-1)/most)
	for i, e := range list {
		if i%step == 0 || i == len(list)-1 {
			kept = append(kept, e)
		}
	}
	return kept, step
}

// median is the time of an epoch in seconds, NaN when there is none.
func (r *Run) median() float64 {
	if len(r.Epochs) == 0 {
		return math.NaN()
	}
	var all []float64
	for _, e := range r.Epochs {
		all = append(all, e.Seconds)
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// last is the last epoch that was scored, and the last of all: zero values when there is none.
func (r *Run) last() (scored, last runfolder.Epoch) {
	for _, e := range slices.Backward(r.Epochs) {
		if last.Epoch == 0 {
			last = e
		}
		if !math.IsNaN(e.Test) || !math.IsNaN(e.Val) {
			return e, last
		}
	}
	return scored, last
}

// Kept is the epoch whose parameters the checkpoint gives, when its scores are known, else
// the last that was scored.
func (r *Run) Kept() runfolder.Epoch {
	scored, _ := r.last()
	if r.Record != nil {
		for _, e := range r.Epochs {
			if e.Epoch == r.Record.Kept && !math.IsNaN(e.Train) {
				return e
			}
		}
	}
	return scored
}

// tiles are the numbers at the head of the page.
func (r *Run) tiles() []Fact {
	kept := r.Kept()
	_, last := r.last()
	if last.Epoch == 0 {
		return []Fact{{"epochs", "0"}}
	}
	metric := r.metric()
	list := []Fact{}
	if kept.Epoch > 0 {
		list = append(list, Fact{"test " + metric, scoreText(kept.Test)}, Fact{"validation " + metric, scoreText(kept.Val)},
			Fact{"training " + metric, scoreText(kept.Train)}, Fact{"scores of epoch", intText(int64(kept.Epoch))})
	}
	list = append(list, Fact{"epochs", intText(int64(last.Epoch))})
	if r.Record != nil && r.Record.BestEpoch > 0 {
		list = append(list, Fact{"lowest validation loss", "epoch " + intText(int64(r.Record.BestEpoch))})
	}
	loss := "training loss"
	if kept.Epoch > 0 && kept.Epoch != last.Epoch {
		loss += " of the last epoch"
	}
	list = append(list, Fact{loss, fmt.Sprintf("%.4g", last.Loss)}, Fact{"an epoch, median", timeText(r.median())},
		Fact{"peak device memory", units.Size(last.Peak)})
	if n := last.H2D + last.D2H; n > 0 {
		list = append(list, Fact{"moved an epoch", units.Size(n)})
	}
	return list
}

// classView is Classes in the form that the template reads.
type classView struct {
	*Classes
	List []classScore
	Mean classScore
	Rows [][]cell // of the matrix
}

// cell is one number of a confusion matrix.
type cell struct {
	Count int64
	Share string // of its row, for the shade
	Title string
	Hit   bool
}

func (c *Classes) view() *classView {
	if c == nil {
		return nil
	}
	v := &classView{Classes: c}
	v.List, v.Mean = c.scores()
	for t, row := range c.Matrix {
		var cells []cell
		for s, n := range row {
			share := float64(n) / float64(max(1, c.Truth[t]))
			cells = append(cells, cell{n, strconv.FormatFloat(math.Round(100*share)/100, 'f', -1, 64),
				fmt.Sprintf("class %s predicted as %s: %s, %s", c.Name(t), c.Name(s), intText(n), percentText(share)), s == t})
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

// bar is a part of a bar that is divided.
type bar struct {
	Name, Text string
	Share      string // in percent
	Color      int
}

// divide makes the parts of a bar from sizes.
func divide(names []string, sizes []float64, text func(float64) string) (bars []bar) {
	sum := 0.0
	for _, x := range sizes {
		sum += x
	}
	for i, x := range sizes {
		if x > 0 {
			bars = append(bars, bar{names[i], text(x), strconv.FormatFloat(100*x/sum, 'f', 2, 64), i})
		}
	}
	return bars
}

// timeView is Times in the form that the template reads.
type timeView struct {
	*Times
	Bars []bar
	Rows []workRow
}

type workRow struct {
	Work
	Share float64 // of the time that all work took
}

// maxWork is how many kinds of work the table lists; the rest is one row.
const maxWork = 12

func (t *Times) view() *timeView {
	if t == nil {
		return nil
	}
	v := &timeView{Times: t, Bars: divide([]string{"kernels", "copies that nothing hides", "nothing runs"}, []float64{t.Wall - t.Exposed - t.Idle, t.Exposed, t.Idle}, func(x float64) string { return percentText(x / t.Wall) })}
	if t.Exposed+t.Idle > t.Wall { // several devices: the sums are not parts of one wall time
		v.Bars = nil
	}
	sum, rest := 0.0, Work{}
	for _, x := range t.Work {
		sum += x.Seconds
	}
	for i, x := range t.Work {
		if i < maxWork {
			v.Rows = append(v.Rows, workRow{x, x.Seconds / sum})
			continue
		}
		rest = Work{fmt.Sprintf("%d more", len(t.Work)-maxWork), rest.Tasks + x.Tasks, rest.Bytes + x.Bytes, rest.Seconds + x.Seconds}
	}
	if rest.Tasks > 0 {
		v.Rows = append(v.Rows, workRow{rest, rest.Seconds / sum})
	}
	return v
}

// memoryView is Memory in the form that the template reads.
type memoryView struct {
	*Memory
	Bars []bar
	Rows []partRow
	Sum  int64 // of the rows
}

type partRow struct {
	Part
	Held string // how long
}

// maxParts is how many buffers the table lists; the rest is one row.
const maxParts = 12

func (m *Memory) view() *memoryView {
	if m.Peak == 0 {
		return nil
	}
	v := &memoryView{Memory: m}
	var whole, part, rest int64
	for i, p := range m.Parts {
		held := "part of the epoch"
		if p.Whole {
			held = "whole run"
			whole += p.Bytes
		} else {
			part += p.Bytes
		}
		v.Sum += p.Bytes
		if i < maxParts {
			v.Rows = append(v.Rows, partRow{p, held})
		} else {
			rest += p.Bytes
		}
	}
	if rest > 0 {
		v.Rows = append(v.Rows, partRow{Part: Part{Name: fmt.Sprintf("%d more", len(m.Parts)-maxParts), Bytes: rest}})
	}
	v.Bars = divide([]string{"held for the whole run", "held for a part of the epoch", "free of the budget"},
		[]float64{float64(whole), float64(part), float64(max(0, m.Budget-v.Sum))}, func(x float64) string { return units.Size(int64(x)) })
	return v
}

// linkView is a link with its mean rates.
type linkView struct {
	Link
	DownRate, UpRate string
}

// rate is bytes a second in words.
func rate(n int64, seconds float64) string {
	if n == 0 || !(seconds > 0) {
		return none
	}
	return units.Size(int64(float64(n)/seconds)) + "/s"
}
