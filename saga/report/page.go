package report

import (
	"fmt"
	"io"
	"strings"

	"sagann/dataflow/plan/sim"
	"sagann/dataflow/plan/view"
)

// WriteHTML writes one page that needs nothing else: the plan's summary, what lies
// where in device memory, and the timeline t of its queues. Without t there are no
// queues.
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

// labels says of every task what it does, without its chunk, and for which lines.
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
