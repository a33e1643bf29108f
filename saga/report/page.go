package report

import (
	"fmt"
	"io"
	"strings"

	"sagann/dataflow/plan/sim"
	"sagann/dataflow/plan/view"
)

// WriteHTML writes an HTML page that loads no other files: the plan's summary, a map of device
// memory by phase and, unless t is nil, the queues of timeline t.
func (r *Run) WriteHTML(w io.Writer, t *sim.Timeline) error {
	var notes strings.Builder
	if err := r.Overview(&notes); err != nil {
		return err
	}
	if r.Predicted == nil && t != nil {
		fmt.Fprintf(&notes, "machine   %s\n", t)
	}
	notes.WriteString("\n" + r.compiled())
	page := &view.Page{Title: "saga plan: " + r.Model, Summary: notes.String(), Label: r.labels()}
	return page.Write(w, r.Plan, t)
}

// labels is view.Page.Label: what a task does, without its chunk, and its stage, layer and user's lines.
func (r *Run) labels() func(i int) (name, detail string) {
	tasks := r.Tasks()
	return func(i int) (name, detail string) {
		t := &tasks[i]
		var more []string
		for _, s := range append([]string{t.Stage, t.Layer, t.Sweep}, t.Lines...) {
			if s != "" {
				more = append(more, s)
			}
		}
		return t.Name, strings.Join(more, " · ")
	}
}
