package traceout

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// event is one entry of the Chrome trace event format. Times are in microseconds.
type event struct {
	Name  string      `json:"name"`
	Cat   string      `json:"cat,omitempty"`
	Phase string      `json:"ph"` // X: complete; M: metadata; s, f: the ends of a flow
	Ts    json.Number `json:"ts,omitempty"`
	Dur   json.Number `json:"dur,omitempty"`
	Pid   int         `json:"pid"`
	Tid   int         `json:"tid"`
	ID    string      `json:"id,omitempty"`
	Bind  string      `json:"bp,omitempty"`
	Args  any         `json:"args,omitempty"`
}

// taskArgs is what a viewer shows of a selected task.
type taskArgs struct {
	Task     int      `json:"task"`
	Stage    string   `json:"stage"`
	Layer    string   `json:"layer,omitempty"`
	Phase    *int     `json:"phase,omitempty"`
	Sweep    string   `json:"sweep,omitempty"`
	Step     *int     `json:"step,omitempty"`
	Chunk    *int     `json:"chunk,omitempty"`
	Cell     string   `json:"cell,omitempty"`
	Bytes    int64    `json:"bytes,omitempty"`
	Gathered int64    `json:"gathered_bytes,omitempty"`
	Lines    []string `json:"lines,omitempty"`
}

// stepArgs is what a viewer shows of a selected step.
type stepArgs struct {
	Wall    float64 `json:"wall_ms"`
	Compute float64 `json:"compute_ms"`
	H2D     float64 `json:"h2d_ms"`
	D2H     float64 `json:"d2h_ms"`
	D2D     float64 `json:"d2d_ms,omitempty"`
	Exposed float64 `json:"exposed_transfer_ms"`
	Idle    float64 `json:"idle_ms"`
	Ratio   float64 `json:"wall_over_sum"`
}

// WriteJSON writes t as a JSON object in the Chrome trace event format. A device is a process, a queue
// a thread, and a task a slice. Arrows go from a task to the tasks of other
// queues that wait for it. The steps have a track of their own. Times count from the first span.
// Facts about the run are in otherData.
func (t *Trace) WriteJSON(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	c := &chrome{t: t, w: b}
	meta, err := c.meta()
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "{\"displayTimeUnit\":\"ms\",\"otherData\":%s,\"traceEvents\":[", meta)
	c.names()
	if err := c.describe(); err != nil {
		return err
	}
	for i := range t.Steps {
		c.step(i)
	}
	b.WriteString("\n]}\n")
	if c.err != nil {
		return c.err
	}
	return b.Flush()
}

type chrome struct {
	t    *Trace
	w    *bufio.Writer
	n    int // events written
	flow int
	args []json.RawMessage // by task: the same in every step
	zero time.Duration
	err  error
}

// meta is the object of facts, in their order.
func (c *chrome) meta() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range c.t.Meta {
		key, err := json.Marshal(m.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, fmt.Errorf("trace: %s: %w", m.Key, err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}

func (c *chrome) emit(e event) {
	text, err := json.Marshal(e)
	if err != nil {
		c.err = err
		return
	}
	if c.n > 0 {
		c.w.WriteByte(',')
	}
	c.n++
	c.w.WriteByte('\n')
	c.w.Write(text) // Flush returns the error
}

// micros is d in microseconds with all nanoseconds.
func micros(d time.Duration) json.Number {
	return json.Number(strconv.FormatFloat(float64(d)/1e3, 'f', 3, 64))
}

// pid and tid of a track: devices in the order of their first track, tracks from 1.
// Process 0 is that of the steps.
func (c *chrome) place(track int) (pid, tid int) {
	seen := map[string]bool{}
	for i := range track + 1 {
		if d := c.t.Tracks[i].Device; !seen[d] {
			seen[d] = true
			if d == c.t.Tracks[track].Device {
				return len(seen), track + 1
			}
		}
	}
	return 0, 0
}

func (c *chrome) names() {
	name := func(what string, pid, tid int, name string) {
		c.emit(event{Name: what, Phase: "M", Pid: pid, Tid: tid, Args: map[string]string{"name": name}})
	}
	sort := func(what string, pid, tid, at int) {
		c.emit(event{Name: what, Phase: "M", Pid: pid, Tid: tid, Args: map[string]int{"sort_index": at}})
	}
	name("process_name", 0, 0, c.t.Program)
	name("thread_name", 0, 0, "steps")
	sort("process_sort_index", 0, 0, 0)
	named := 0
	for i, k := range c.t.Tracks {
		pid, tid := c.place(i)
		if pid > named {
			named = pid
			name("process_name", pid, tid, k.Device)
			sort("process_sort_index", pid, tid, pid)
		}
		name("thread_name", pid, tid, k.Name)
		sort("thread_sort_index", pid, tid, tid)
	}
}

// describe prepares the args of all tasks.
func (c *chrome) describe() error {
	number := func(n int) *int {
		if n < 0 {
			return nil
		}
		return &n
	}
	for i := range c.t.Tasks {
		k := &c.t.Tasks[i]
		a := taskArgs{Task: i, Stage: k.Stage, Layer: k.Layer, Phase: number(k.Phase), Sweep: k.Sweep, Step: number(k.Step),
			Chunk: number(k.Chunk), Bytes: k.Bytes, Gathered: k.Gathered, Lines: k.Lines}
		if k.Cell >= 0 {
			a.Cell = k.chunk()
		}
		text, err := json.Marshal(a)
		if err != nil {
			return err
		}
		c.args = append(c.args, text)
	}
	return nil
}

func (c *chrome) step(i int) {
	s := &c.t.Steps[i]
	from, to := s.window()
	if i == 0 {
		c.zero = from
	}
	var o Overlap
	c.t.addStep(&o, s)
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	c.emit(event{Name: s.Name, Cat: "step", Phase: "X", Ts: micros(from - c.zero), Dur: micros(to - from),
		Args: stepArgs{ms(o.Wall), ms(o.Compute), ms(o.H2D), ms(o.D2H), ms(o.D2D), ms(o.Exposed), ms(o.Idle), o.Ratio()}})
	pid, tid := make([]int, len(c.t.Tracks)), make([]int, len(c.t.Tracks))
	for i := range c.t.Tracks {
		pid[i], tid[i] = c.place(i)
	}
	for n, v := range s.Spans {
		if v.End == 0 {
			continue
		}
		k := &c.t.Tasks[n]
		c.emit(event{Name: k.Name, Cat: k.Kind.String(), Phase: "X", Ts: micros(v.Start - c.zero), Dur: micros(v.End - v.Start),
			Pid: pid[k.Track], Tid: tid[k.Track], Args: c.args[n]})
		for _, a := range k.After {
			before := s.Spans[a]
			if before.End == 0 {
				continue
			}
			// The end of a flow belongs to the slice that is open at its time, so both
			// ends are at the start of their slices.
			at := c.t.Tasks[a].Track
			c.flow++
			id := strconv.Itoa(c.flow)
			c.emit(event{Name: "after", Cat: "dependence", Phase: "s", ID: id, Ts: micros(before.Start - c.zero), Pid: pid[at], Tid: tid[at]})
			c.emit(event{Name: "after", Cat: "dependence", Phase: "f", Bind: "e", ID: id, Ts: micros(v.Start - c.zero), Pid: pid[k.Track], Tid: tid[k.Track]})
		}
	}
}
