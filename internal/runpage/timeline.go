package runpage

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sagann/internal/regular"
)

// traceFile is the trace of a run's last epochs, in the Chrome trace event format.
const traceFile = "trace.json"

// maxTrace is the largest trace that is drawn, in bytes. A larger one is for Perfetto.
const maxTrace = 64 << 20

// timeline is the last epoch of a trace.
type timeline struct {
	Seconds float64
	Lanes   []*lane
}

// lane is what one queue of a device did.
type lane struct {
	Name  string
	Spans []span
	id    [2]int
}

// span is a stretch of work, in thousandths of the epoch.
type span struct {
	X, Width float64
	Title    string
}

// pixels is how finely an epoch is drawn: tasks that are closer are one stretch.
const pixels = 1500

// readTimeline is the last epoch of the trace in dir; nil without one that can be drawn.
func readTimeline(dir string) *timeline {
	text, err := regular.ReadFile(filepath.Join(dir, traceFile), maxTrace)
	if err != nil {
		return nil
	}
	var trace struct {
		Events []struct {
			Name string  `json:"name"`
			Kind string  `json:"ph"`
			Pid  int     `json:"pid"`
			Tid  int     `json:"tid"`
			At   float64 `json:"ts"`  // µs
			Took float64 `json:"dur"` // µs
			Args struct {
				Name string `json:"name"`
			} `json:"args"`
		} `json:"traceEvents"`
	}
	if json.Unmarshal(text, &trace) != nil {
		return nil
	}
	start, took := 0.0, 0.0
	devices, queues := map[int]string{}, map[[2]int]string{}
	for _, e := range trace.Events {
		switch {
		case e.Kind == "M" && e.Name == "process_name":
			devices[e.Pid] = e.Args.Name
		case e.Kind == "M" && e.Name == "thread_name":
			queues[[2]int{e.Pid, e.Tid}] = e.Args.Name
		case e.Kind == "X" && e.Pid == 0 && e.At >= start: // an epoch
			start, took = e.At, e.Took
		}
	}
	if took <= 0 {
		return nil
	}
	t := &timeline{Seconds: took / 1e6}
	for _, e := range trace.Events {
		if e.Kind != "X" || e.Pid == 0 || e.At < start || e.At > start+took {
			continue
		}
		id := [2]int{e.Pid, e.Tid}
		at := slices.IndexFunc(t.Lanes, func(l *lane) bool { return l.id == id })
		if at < 0 {
			at = len(t.Lanes)
			t.Lanes = append(t.Lanes, &lane{Name: strings.TrimSpace(devices[e.Pid] + " " + queues[id]), id: id})
		}
		t.Lanes[at].add(1000*(e.At-start)/took, 1000*e.Took/took, fmt.Sprintf("%s: %s", e.Name, timeText(e.Took/1e6)))
	}
	slices.SortFunc(t.Lanes, func(a, b *lane) int { return slices.Compare(a.id[:], b.id[:]) })
	return t
}

// add appends work from x on, or lengthens the last stretch where one could not see the gap between two short ones.
func (l *lane) add(x, width float64, title string) {
	const least = 1000.0 / pixels
	if n := len(l.Spans); n > 0 {
		last := &l.Spans[n-1]
		if gap := x - last.X - last.Width; gap < least && width < least {
			last.Width = max(last.Width, x+width-last.X)
			if !strings.HasSuffix(last.Title, " and more") {
				last.Title += " and more"
			}
			return
		}
	}
	l.Spans = append(l.Spans, span{x, max(width, least), title})
}

// settingRow is a line of the settings.
type settingRow struct {
	Fact
	Changed bool // it is not the default
}

// settings marks those settings that the record says differ from the defaults.
func (r *Run) settings() (list []settingRow) {
	for _, f := range r.Settings {
		list = append(list, settingRow{f, r.Record != nil && slices.Contains(r.Record.Changed, f.Name)})
	}
	return list
}
