package exec

import (
	"time"

	"sagann/device"
)

// TaskSpan says when a task ran on its queue, by the clock of device.Span. A task
// that did not run has End 0.
type TaskSpan struct {
	Start, End time.Duration
	Bytes      int64 // copied, as the device counted them
}

// StepTrace has the times of one step.
type StepTrace struct {
	Wall  time.Duration // from the first submission until the device was idle again
	Tasks []TaskSpan    // by task of the plan
}

// tracer keeps the last steps. Each task has a place of its own and runs on one
// queue, so spans are noted without a lock; the device's Sync makes them visible.
type tracer struct {
	steps []StepTrace // oldest first
	max   int
	begun time.Time
}

// Trace turns tracing on: the runner keeps the times of all tasks of the last steps traced steps. 0 turns tracing
// off and drops the times. While tracing is on, each step calls SetTrace of its devices. No step may be running.
func (r *Runner) Trace(steps int) {
	r.trace = nil
	if steps > 0 {
		r.trace = &tracer{max: steps}
	}
}

// Traced returns the traced steps that ended without an error, oldest first. They are
// valid until the next step.
func (r *Runner) Traced() []StepTrace {
	if r.trace == nil {
		return nil
	}
	return r.trace.steps
}

// begin adds a StepTrace of a number of tasks and makes the devices report to it.
func (t *tracer) begin(devices []part, tasks int) {
	if t == nil {
		return
	}
	var spans []TaskSpan
	if len(t.steps) == t.max { // the oldest makes room
		spans = t.steps[0].Tasks
		clear(spans)
		t.steps = append(t.steps[:0], t.steps[1:]...)
	} else {
		spans = make([]TaskSpan, tasks)
	}
	t.steps = append(t.steps, StepTrace{Tasks: spans})
	for _, p := range devices {
		p.dev.SetTrace(func(s device.Span) { note(spans, &s) })
	}
	t.begun = time.Now()
}

// note records a span. Devices call it on the goroutine of the task's queue, more than once for a task of
// several copies.
func note(tasks []TaskSpan, s *device.Span) {
	if s.Tag < 0 || s.Tag >= int64(len(tasks)) {
		return
	}
	k := &tasks[s.Tag]
	if k.End == 0 {
		k.Start = s.Start
	}
	k.End = s.End
	k.Bytes += s.Bytes
}

// end completes the StepTrace, or drops it if the step failed.
func (t *tracer) end(devices []part, err error) {
	if t == nil {
		return
	}
	last := len(t.steps) - 1
	t.steps[last].Wall = time.Since(t.begun)
	for _, p := range devices {
		p.dev.SetTrace(nil)
	}
	if err != nil {
		t.steps = t.steps[:last]
	}
}
