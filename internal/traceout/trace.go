package traceout

import (
	"fmt"
	"time"
)

// Kind is the kind of work of a task.
type Kind uint8

// The kinds of tasks.
const (
	Compute Kind = iota
	H2D          // a copy from host to device
	D2H          // a copy from device to host
	D2D          // a copy between devices
	kinds
)

// String returns "compute", "h2d", "d2h" or "d2d".
func (k Kind) String() string { return [...]string{"compute", "h2d", "d2h", "d2d"}[k] }

// Trace describes a plan, and the times of some runs (steps) of it.
type Trace struct {
	Program string    // name of the whole, such as the model's
	Time    time.Time // when it ran
	Meta    []Meta    // facts about the run, in the order of printing
	Tracks  []Track   // one for each queue
	Tasks   []Task    // one for each entry of the plan
	Steps   []Step    // in order of time
}

// Meta is a fact about the run.
type Meta struct {
	Key   string
	Value any // a string, a number or a bool
}

// Track is a queue of a device.
type Track struct {
	Device string // such as "cpu:0"
	Name   string // such as "compute"
}

// Task is one entry of a plan.
type Task struct {
	Name  string // name of the kernel or the copy, without the chunk: equal names are one line of a profile
	Kind  Kind
	Track int    // index into Trace.Tracks
	Phase int    // number of the sweep over all intervals; -1 for tasks outside
	Sweep string // what the phase is for, such as "forward"
	Step  int    // number of the step within the phase; -1 for copies
	Stage string // such as "ApplyVertex"
	Layer string // the parameter scopes it works for, such as "layer1"; may be empty
	Chunk int    // the interval visited; -1 if none
	Cell  int    // the other interval of an edge chunk; -1 if none

	Lines    []string // the user's file:line that it comes from, the most important one first
	Bytes    int64    // bytes of a copy
	Gathered int64    // bytes of rows at the far end of edges that a kernel reads
	After    []int32  // tasks of other queues that it waits for
}

// chunk names what the task works on: "3", "(3,1)" or "".
func (t *Task) chunk() string {
	switch {
	case t.Chunk < 0:
		return ""
	case t.Cell < 0:
		return fmt.Sprint(t.Chunk)
	}
	return fmt.Sprintf("(%d,%d)", t.Chunk, t.Cell)
}

// Step is one run of the plan.
type Step struct {
	Name  string        // such as "epoch 7"
	Wall  time.Duration // from submission until the device was idle; 0: from the first span's start to the last one's end
	Spans []Span        // by task
}

// Span says when a task ran. All spans of a Trace count from one moment. A task that
// did not run has End 0.
type Span struct {
	Start, End time.Duration
	Bytes      int64 // that were copied
}

// window is from the first span's start to the last one's end.
func (s *Step) window() (from, to time.Duration) {
	for _, v := range s.Spans {
		if v.End == 0 {
			continue
		}
		if to == 0 || v.Start < from {
			from = v.Start
		}
		to = max(to, v.End)
	}
	return from, to
}

func (s *Step) wall() time.Duration {
	if s.Wall > 0 {
		return s.Wall
	}
	from, to := s.window()
	return to - from
}

// Check returns an error if t is inconsistent.
func (t *Trace) Check() error {
	for i := range t.Tasks {
		k := &t.Tasks[i]
		if k.Track < 0 || k.Track >= len(t.Tracks) || k.Kind >= kinds {
			return fmt.Errorf("trace: task %d (%s): track %d of %d, kind %d", i, k.Name, k.Track, len(t.Tracks), k.Kind)
		}
		for _, a := range k.After {
			if a < 0 || int(a) >= len(t.Tasks) {
				return fmt.Errorf("trace: task %d (%s) waits for task %d of %d", i, k.Name, a, len(t.Tasks))
			}
		}
	}
	for _, s := range t.Steps {
		if len(s.Spans) != len(t.Tasks) {
			return fmt.Errorf("trace: %s has %d spans for %d tasks", s.Name, len(s.Spans), len(t.Tasks))
		}
		for i, v := range s.Spans {
			if v.Start < 0 || v.End < v.Start {
				return fmt.Errorf("trace: %s: task %d (%s) runs from %v to %v", s.Name, i, t.Tasks[i].Name, v.Start, v.End)
			}
		}
	}
	return nil
}
