package traceout

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// The columns of a profile.
const (
	colTime = iota
	colH2D
	colD2H
	colD2D
	colGathered
	cols
)

// WriteProfile writes t as a gzipped profile that go tool pprof reads. Values are sums
// over the steps: time/nanoseconds (the default), h2d/bytes, d2h/bytes, d2d/bytes and
// gathered/bytes. Queues run in parallel, so the sum of times exceeds the duration of the run if
// copies overlap with compute.
//
// A stack is the step, its phase, the stage, and the kernel or copy with the user's
// first line. Labels are device, stage, layer and chunk.
func (t *Trace) WriteProfile(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	b := &profileBuilder{t: t, p: t.newProfile(), locations: map[frame]*profile.Location{}, functions: map[frame]*profile.Function{}}
	b.p.Mapping = []*profile.Mapping{{ID: 1, File: t.Program, HasFunctions: true, HasFilenames: true, HasLineNumbers: true}}
	samples := map[string]*profile.Sample{}
	for i := range t.Tasks {
		k := &t.Tasks[i]
		value, ran := t.values(i)
		if !ran {
			continue
		}
		s := b.sample(k)
		key := sampleKey(s)
		if old := samples[key]; old != nil {
			s = old
		} else {
			s.Value = make([]int64, cols)
			samples[key] = s
			b.p.Sample = append(b.p.Sample, s)
		}
		for c := range value {
			s.Value[c] += value[c]
		}
	}
	if err := b.p.CheckValid(); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return b.p.Write(w)
}

func (t *Trace) newProfile() *profile.Profile {
	p := &profile.Profile{DefaultSampleType: "time", PeriodType: &profile.ValueType{Type: "time", Unit: "nanoseconds"}, Period: 1}
	for _, c := range [cols][2]string{colTime: {"time", "nanoseconds"}, colH2D: {"h2d", "bytes"}, colD2H: {"d2h", "bytes"},
		colD2D: {"d2d", "bytes"}, colGathered: {"gathered", "bytes"}} {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: c[0], Unit: c[1]})
	}
	for i := range t.Steps {
		p.DurationNanos += int64(t.Steps[i].wall())
	}
	if !t.Time.IsZero() {
		p.TimeNanos = t.Time.UnixNano()
	}
	for i, m := range t.Meta { // pprof prints each comment on a line above its tables
		text := fmt.Sprintf("%s %v", m.Key, m.Value)
		if n := len(p.Comments) - 1; i%4 == 0 {
			p.Comments = append(p.Comments, text)
		} else {
			p.Comments[n] += ", " + text
		}
	}
	return p
}

// values adds up task i over the steps.
func (t *Trace) values(i int) (v [cols]int64, ran bool) {
	k := &t.Tasks[i]
	for s := range t.Steps {
		x := t.Steps[s].Spans[i]
		if x.End == 0 {
			continue
		}
		ran = true
		v[colTime] += int64(x.End - x.Start)
		v[colGathered] += k.Gathered
		switch k.Kind {
		case H2D:
			v[colH2D] += x.Bytes
		case D2H:
			v[colD2H] += x.Bytes
		case D2D:
			v[colD2D] += x.Bytes
		}
	}
	return v, ran
}

// frame is an entry of a stack.
type frame struct {
	name, file string
	line       int64
}

type profileBuilder struct {
	t         *Trace
	p         *profile.Profile
	locations map[frame]*profile.Location
	functions map[frame]*profile.Function // line 0
}

// sample is the stack of k, leaf first, and its labels.
func (b *profileBuilder) sample(k *Task) *profile.Sample {
	leaf := frame{name: k.Name}
	for _, l := range k.Lines {
		if file, line, ok := splitLine(l); ok {
			leaf.file, leaf.line = file, line
			break
		}
	}
	stack := []frame{leaf, {name: k.Stage}}
	if k.Phase >= 0 {
		stack = append(stack, frame{name: strings.TrimSpace(fmt.Sprintf("phase %d %s", k.Phase, k.Sweep))})
	}
	s := &profile.Sample{Label: map[string][]string{}}
	for _, f := range append(stack, frame{name: "step"}) {
		s.Location = append(s.Location, b.location(f))
	}
	for _, l := range [][2]string{{"device", b.t.Tracks[k.Track].Device}, {"stage", k.Stage}, {"layer", k.Layer}, {"chunk", k.chunk()}} {
		if l[1] != "" {
			s.Label[l[0]] = []string{l[1]}
		}
	}
	return s
}

func (b *profileBuilder) location(f frame) *profile.Location {
	if l := b.locations[f]; l != nil {
		return l
	}
	at := frame{name: f.name, file: f.file}
	fn := b.functions[at]
	if fn == nil {
		fn = &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: f.name, SystemName: f.name, Filename: f.file}
		b.functions[at] = fn
		b.p.Function = append(b.p.Function, fn)
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1), Mapping: b.p.Mapping[0], Line: []profile.Line{{Function: fn, Line: f.line}}}
	b.locations[f] = l
	b.p.Location = append(b.p.Location, l)
	return l
}

// sampleKey is equal for samples of equal stacks and labels.
func sampleKey(s *profile.Sample) string {
	var b strings.Builder
	for _, l := range s.Location {
		fmt.Fprintf(&b, "%d ", l.ID)
	}
	for _, k := range []string{"device", "stage", "layer", "chunk"} {
		fmt.Fprintf(&b, "%q", s.Label[k])
	}
	return b.String()
}

// splitLine takes "file:line" apart.
func splitLine(s string) (file string, line int64, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", 0, false
	}
	line, err := strconv.ParseInt(s[i+1:], 10, 64)
	return s[:i], line, err == nil && line > 0
}
