package traceout

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// ChromeEvent is an event as a viewer reads it.
type ChromeEvent struct {
	Name  string          `json:"name"`
	Cat   string          `json:"cat"`
	Phase string          `json:"ph"`
	Ts    *json.Number    `json:"ts"`
	Dur   *json.Number    `json:"dur"`
	Pid   *int            `json:"pid"`
	Tid   *int            `json:"tid"`
	ID    string          `json:"id"`
	Bind  string          `json:"bp"`
	Args  json.RawMessage `json:"args"`
}

// CheckJSON holds text to the Chrome trace event format, as far as the project uses
// it: the JSON object form; metadata, complete and flow events; slices of one thread
// one after the other; every flow with a start and an end, each at the start of a
// slice, the second slice not before the first one's end.
func CheckJSON(t *testing.T, text []byte) []ChromeEvent {
	t.Helper()
	var file struct {
		Unit   string         `json:"displayTimeUnit"`
		Other  map[string]any `json:"otherData"`
		Events []ChromeEvent  `json:"traceEvents"`
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if file.Unit != "ms" || file.Other["model"] == nil {
		t.Errorf("unit %q, facts %v", file.Unit, file.Other)
	}
	type thread struct{ pid, tid int }
	type slice struct{ from, to float64 }
	ran := map[thread][]slice{}
	named := map[thread]bool{}
	number := func(n *json.Number) float64 {
		if n == nil {
			t.Fatal("a number is missing")
		}
		x, err := n.Float64()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for i, e := range file.Events {
		if e.Name == "" || e.Pid == nil || e.Tid == nil {
			t.Fatalf("event %d has no name, pid or tid: %+v", i, e)
		}
		at := thread{*e.Pid, *e.Tid}
		switch e.Phase {
		case "M":
			if !slices.Contains([]string{"process_name", "thread_name", "process_sort_index", "thread_sort_index"}, e.Name) {
				t.Errorf("metadata event %q", e.Name)
			}
			named[at] = true
		case "X":
			ts, dur := number(e.Ts), number(e.Dur)
			if ts < 0 || dur < 0 {
				t.Errorf("event %d: %v for %v", i, ts, dur)
			}
			ran[at] = append(ran[at], slice{ts, ts + dur})
		case "s", "f":
			if e.Phase == "f" && e.Bind != "e" {
				t.Errorf("the end of flow %s binds to the next slice", e.ID)
			}
		default:
			t.Errorf("event %d: phase %q", i, e.Phase)
		}
	}
	for at, list := range ran {
		if !named[at] {
			t.Errorf("thread %v has no name", at)
		}
		slices.SortFunc(list, func(a, b slice) int {
			if a.from < b.from || a.from == b.from && a.to < b.to {
				return -1
			}
			return 1
		})
		for i := 1; i < len(list); i++ {
			if list[i].from < list[i-1].to-1e-6 {
				t.Errorf("thread %v: slices %v and %v overlap", at, list[i-1], list[i])
			}
		}
	}
	ends := map[string]float64{}
	for _, e := range file.Events {
		if e.Phase != "s" && e.Phase != "f" {
			continue
		}
		ts := number(e.Ts)
		list := ran[thread{*e.Pid, *e.Tid}]
		i := slices.IndexFunc(list, func(s slice) bool { return s.from == ts })
		end, started := ends[e.ID]
		switch {
		case i < 0:
			t.Fatalf("flow %s at %v is at the start of no slice", e.ID, ts)
		case started != (e.Phase == "f"), started && ts < end-1e-6:
			t.Errorf("flow %s: %s at %v, the task before ended %v", e.ID, e.Phase, ts, end)
		}
		if e.Phase == "s" {
			ends[e.ID] = list[i].to
		} else {
			delete(ends, e.ID)
		}
	}
	if len(ends) > 0 {
		t.Errorf("flows without an end: %v", ends)
	}
	return file.Events
}
