package view

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"time"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/sim"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Page writes a plan as one HTML page that loads no other files.
type Page struct {
	Title   string
	Summary string // preformatted text
	// Label gives for task i what it does, without naming its chunk, and details to show beside
	// it; nil: Plan.Activity, without details.
	Label func(i int) (name, detail string)
}

// Write writes the page of p to w: summary, device memory by phase and, unless t is nil, the queues
// of timeline t. The error is that of w. Cost: O(tasks + dependences).
func (g *Page) Write(w io.Writer, p *plan.Plan, t *sim.Timeline) error {
	d := pageData{Title: g.Title, Summary: g.Summary, Memory: memoryMap(p)}
	d.Facts = []fact{
		{"Grid", fmt.Sprintf("%d × %d", p.Cells.P, p.Cells.P)}, {"Schedule", p.Schedule},
		{"Peak memory", bytesText(p.Peak)}, {"Host → device", bytesText(p.H2D)}, {"Device → host", bytesText(p.D2H)},
	}
	if p.Devices > 1 {
		d.Facts = append(d.Facts, fact{"Device → device", bytesText(p.D2D)})
	}
	if t != nil {
		d.Facts = append(d.Facts, fact{"Epoch on " + t.Machine, timeText(t.Wall)}, fact{"Compute", timeText(t.Compute)},
			fact{"Exposed transfer", timeText(t.Exposed)}, fact{"Idle", timeText(t.Idle)}, fact{"Critical", t.Critical()})
		text, err := json.Marshal(g.queues(p, t)) // escapes <, > and &
		if err != nil {
			return err
		}
		d.Queues = template.JS(text)
	}
	b := bufio.NewWriter(w)
	if err := pageTemplate.Execute(b, &d); err != nil {
		return err
	}
	return b.Flush()
}

type pageData struct {
	Title, Summary string
	Facts          []fact
	Memory         *memoryPage
	Queues         template.JS
}

type fact struct{ Name, Value string }

// timeText is a time for people.
func timeText(ns int64) string {
	d := time.Duration(ns)
	for unit := time.Duration(1); unit <= time.Hour; unit *= 10 {
		if d < 10000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Hour).String()
}

// queueData is the timeline as the page's script reads it. Lane and all fields below it are by task,
// in the global order. Times are ns.
type queueData struct {
	Wall   int64       `json:"wall"`
	Lanes  []laneData  `json:"lanes"`
	Labels [][2]string `json:"labels"` // what Page.Label returns
	Lane   []int       `json:"lane"`   // index into Lanes
	Label  []int       `json:"label"`  // index into Labels
	Start  []int64     `json:"start"`
	Took   []int64     `json:"took"`
	Own    []int32     `json:"own"`
	Other  []int32     `json:"other"`
	Phase  []int32     `json:"phase"`
	Bytes  []int64     `json:"bytes"` // of copies
	Wait   []int32     `json:"wait"`  // the last to end of the tasks that it waited for; -1: none
}

type laneData struct {
	Name  string `json:"name"`
	Queue int    `json:"queue"`
	Busy  int64  `json:"busy"`
}

func (g *Page) queues(p *plan.Plan, t *sim.Timeline) *queueData {
	d := &queueData{Wall: t.Wall}
	number := map[int]int{} // of lanes that have tasks
	for lane := range max(1, p.Devices) * int(plan.Queues) {
		used := slices.ContainsFunc(p.Tasks, func(k plan.Task) bool { return k.Lane() == lane })
		if used {
			number[lane] = len(d.Lanes)
			q := plan.Queue(lane % int(plan.Queues))
			d.Lanes = append(d.Lanes, laneData{Name: fmt.Sprintf("device %d %s", lane/int(plan.Queues), q), Queue: int(q)})
		}
	}
	labels := map[[2]string]int{}
	last := slices.Repeat([]int32{-1}, len(d.Lanes))
	for i := range p.Tasks {
		k := &p.Tasks[i]
		text := [2]string{p.Activity(k), ""}
		if g.Label != nil {
			text[0], text[1] = g.Label(i)
		}
		id, ok := labels[text]
		if !ok {
			id = len(d.Labels)
			labels[text] = id
			d.Labels = append(d.Labels, text)
		}
		lane := number[k.Lane()]
		wait := last[lane]
		for _, x := range p.Deps[k.Deps[0]:k.Deps[1]] {
			if wait < 0 || t.End[x] > t.End[wait] {
				wait = x
			}
		}
		last[lane] = int32(i)
		var bytes int64
		if k.Queue != plan.Compute {
			bytes = k.Bytes
		}
		d.Lanes[lane].Busy += t.End[i] - t.Start[i]
		d.Lane, d.Label, d.Start, d.Took = append(d.Lane, lane), append(d.Label, id), append(d.Start, t.Start[i]), append(d.Took, t.End[i]-t.Start[i])
		d.Own, d.Other, d.Phase = append(d.Own, k.Own), append(d.Other, k.Other), append(d.Phase, phaseOf(k))
		d.Bytes, d.Wait = append(d.Bytes, bytes), append(d.Wait, wait)
	}
	return d
}

// phaseOf is the phase of a task, -1 for what comes after all phases.
func phaseOf(k *plan.Task) int32 {
	if k.Kind == plan.Update || k.Kind == plan.Results {
		return -1
	}
	return k.Phase
}

// memoryPage is the map of device memory: phases go to the right, addresses down.
type memoryPage struct {
	Height float64
	Phases []phaseMark
	Rects  []memoryRect
	Rows   []memoryRow // a table of the largest buffers
	More   int         // how many buffers are not in the table
}

type phaseMark struct {
	X, Width, Mid float64
	Name          string
}

type memoryRect struct {
	X, Y, W, H float64
	Class      string
	Text, Tip  string
}

type memoryRow struct {
	Name, Size, Lives string
	Bytes             int64
}

const (
	mapWidth  = 1000.0
	mapHeight = 260.0
	mapRows   = 200
)

func memoryMap(p *plan.Plan) *memoryPage {
	m := &memoryPage{Height: mapHeight}
	n := max(1, len(p.Spec.Phases))
	each := mapWidth / float64(n)
	for i := range n {
		name := ""
		if n <= 40 || i%(n/20) == 0 {
			name = fmt.Sprint(i)
		}
		m.Phases = append(m.Phases, phaseMark{float64(i) * each, each, (float64(i) + 0.5) * each, name})
	}
	buffers := slices.Clone(p.Places.Memory)
	slices.SortStableFunc(buffers, func(a, b plan.Buffer) int { return int(max(-1, min(1, b.Bytes-a.Bytes))) })
	for _, b := range buffers {
		if b.Bytes == 0 {
			continue
		}
		from, to, lives, class := b.From, b.To, "whole run", "kept"
		if b.From == plan.Whole {
			from, to = 0, n-1
		} else {
			lives, class = fmt.Sprintf("phases %d–%d", b.From, b.To), "slot"
		}
		scale := mapHeight / float64(max(1, p.Peak))
		r := memoryRect{X: float64(from) * each, Y: float64(b.At) * scale, W: float64(to-from+1) * each,
			H: math.Max(0.3, float64(b.Bytes)*scale), Class: class, Tip: fmt.Sprintf("%s: %s, %s", b.Name, bytesText(b.Bytes), lives)}
		for _, x := range b.Parts { // taken and left chunk by chunk
			w := each / float64(p.Cells.P)
			m.Rects = append(m.Rects, memoryRect{X: float64(x.From) * w, Y: float64(x.At) * scale, W: float64(x.To-x.From+1) * w,
				H: math.Max(0.3, float64(x.Bytes)*scale), Class: class, Tip: r.Tip})
		}
		if fits := int(r.W / 6.5); len(b.Parts) == 0 && r.H >= 11 && fits >= 5 {
			if text := []rune(b.Name); len(text) > fits {
				r.Text = string(text[:fits-1]) + "…"
			} else {
				r.Text = b.Name
			}
		}
		if len(b.Parts) == 0 {
			m.Rects = append(m.Rects, r)
		}
		if len(m.Rows) < mapRows {
			m.Rows = append(m.Rows, memoryRow{b.Name, bytesText(b.Bytes), lives, b.Bytes})
		} else {
			m.More++
		}
	}
	return m
}
