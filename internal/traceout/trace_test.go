package traceout

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
)

// example has two steps of four tasks on one device and a fifth that never ran.
// Times are microseconds below.
//
//	h2d      |load 0–4 |
//	compute       2–10 |  gather 10–20      (the zero task runs 2–10)
//	d2h                            save 20–23
func example() *Trace {
	us := func(start, end int, bytes int64) Span {
		return Span{time.Duration(start) * time.Microsecond, time.Duration(end) * time.Microsecond, bytes}
	}
	shift := func(s []Span, d time.Duration) []Span {
		out := slices.Clone(s)
		for i := range out {
			if out[i].End > 0 {
				out[i].Start, out[i].End = out[i].Start+d, out[i].End+d
			}
		}
		return out
	}
	spans := []Span{us(100, 104, 64), us(102, 110, 0), us(110, 120, 0), us(120, 123, 32), {}}
	return &Trace{
		Program: "saga test", Time: time.Unix(1e9, 0),
		Meta:   []Meta{{"model", "g\"cn"}, {"chunks", 2}, {"ratio", 0.5}},
		Tracks: []Track{{"cpu:0", "compute"}, {"cpu:0", "h2d"}, {"cpu:0", "d2h"}},
		Tasks: []Task{
			{Name: "load x", Kind: H2D, Track: 1, Phase: 0, Sweep: "forward", Step: -1, Stage: "H2D", Layer: "layer1", Chunk: 1, Cell: -1, Bytes: 64},
			{Name: "zero", Stage: "Zero", Phase: -1, Step: -1, Chunk: -1, Cell: -1},
			{Name: "gather csc 0.1", Phase: 0, Sweep: "forward", Step: 1, Stage: "SAG", Layer: "layer1", Chunk: 1, Cell: 0,
				Lines: []string{"layer 1", "gcn.go:12", "gcn.go:15"}, Gathered: 1000, After: []int32{0}},
			{Name: "save y", Kind: D2H, Track: 2, Phase: 0, Sweep: "forward", Step: -1, Stage: "D2H", Chunk: 1, Cell: -1, Bytes: 32, After: []int32{2}},
			{Name: "never", Stage: "Update", Phase: -1, Step: -1, Chunk: -1, Cell: -1, After: []int32{3}},
		},
		Steps: []Step{
			{Name: "epoch 1", Wall: 30 * time.Microsecond, Spans: spans},
			{Name: "epoch 2", Wall: 24 * time.Microsecond, Spans: shift(spans, 50*time.Microsecond)},
		},
	}
}

func TestOverlap(t *testing.T) {
	us := time.Microsecond
	want := Overlap{Steps: 2, Compute: 36 * us, H2D: 8 * us, D2H: 6 * us, Exposed: 10 * us, Idle: 8 * us, Wall: 54 * us}
	got := example().Overlap()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got.Ratio() != 54./50 || (Overlap{}).Ratio() != 0 {
		t.Errorf("ratio %v", got.Ratio())
	}
	const text = "wall 27µs a step: compute 18µs, h2d 4µs, d2h 3µs, exposed transfer 5µs, idle 4µs; wall/(copy+compute) 1.08"
	if got.String() != text {
		t.Errorf("%s\nwant %s", got, text)
	}
	if s := (Overlap{}).String(); !strings.HasPrefix(s, "wall 0s") {
		t.Error(s)
	}
}

// TestOverlapByTicks compares sweeps over intervals with looking at every tick.
func TestOverlapByTicks(t *testing.T) {
	const seed, ticks = 7, 60
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		tr := &Trace{Tracks: []Track{{"gpu0", "compute"}, {"gpu0", "copy"}, {"gpu1", "compute"}, {"gpu1", "copy"}}}
		var spans []Span
		for track := range tr.Tracks {
			for at := r.IntN(5); at < ticks-10; at += r.IntN(6) {
				end := at + r.IntN(9)
				kind := Compute
				if track%2 == 1 {
					kind = []Kind{H2D, D2H, D2D}[r.IntN(3)]
				}
				tr.Tasks = append(tr.Tasks, Task{Kind: kind, Track: track})
				spans = append(spans, Span{Start: time.Duration(at), End: time.Duration(end)})
				at = end
			}
		}
		tr.Steps = []Step{{Wall: ticks, Spans: spans}}
		want := Overlap{Steps: 1, Wall: ticks}
		for tick := range time.Duration(ticks) {
			var copies, kernels [2]bool
			for i, s := range spans {
				if s.Start > tick || s.End <= tick {
					continue
				}
				switch k := &tr.Tasks[i]; k.Kind {
				case Compute:
					want.Compute++
					kernels[k.Track/2] = true
				case H2D:
					want.H2D++
					copies[k.Track/2] = true
				case D2H:
					want.D2H++
					copies[k.Track/2] = true
				case D2D:
					want.D2D++
					copies[k.Track/2] = true
				}
			}
			busy := false
			for d := range copies {
				if copies[d] && !kernels[d] {
					want.Exposed++
				}
				busy = busy || copies[d] || kernels[d]
			}
			if !busy {
				want.Idle++
			}
		}
		if d := cmp.Diff(want, tr.Overlap()); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
	}
}

func TestJSON(t *testing.T) {
	var text bytes.Buffer
	if err := example().WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	events := CheckJSON(t, text.Bytes())
	var lines []string
	for _, e := range events {
		if e.Phase == "X" {
			lines = append(lines, strings.TrimSpace(e.Name+" "+e.Ts.String()+" "+e.Dur.String()+" "+string(e.Args)))
		}
	}
	want := []string{
		`epoch 1 0.000 23.000 {"wall_ms":0.03,"compute_ms":0.018,"h2d_ms":0.004,"d2h_ms":0.003,"exposed_transfer_ms":0.005,"idle_ms":0.007,"wall_over_sum":1.2}`,
		`load x 0.000 4.000 {"task":0,"stage":"H2D","layer":"layer1","phase":0,"sweep":"forward","chunk":1,"bytes":64}`,
		`zero 2.000 8.000 {"task":1,"stage":"Zero"}`,
		`gather csc 0.1 10.000 10.000 {"task":2,"stage":"SAG","layer":"layer1","phase":0,"sweep":"forward","step":1,"chunk":1,"cell":"(1,0)","gathered_bytes":1000,"lines":["layer 1","gcn.go:12","gcn.go:15"]}`,
		`save y 20.000 3.000 {"task":3,"stage":"D2H","phase":0,"sweep":"forward","chunk":1,"bytes":32}`,
	}
	if d := cmp.Diff(want, lines[:5]); d != "" {
		t.Error(d)
	}
	if len(lines) != 10 || !strings.HasPrefix(lines[6], "load x 50.000 4.000 ") {
		t.Errorf("%d slices: %q", len(lines), lines[5:])
	}
}

func TestProfile(t *testing.T) {
	var text bytes.Buffer
	if err := example().WriteProfile(&text); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Sample {
		var line []string
		for _, l := range s.Location {
			f := l.Line[0]
			name := f.Function.Name
			if f.Function.Filename != "" {
				name += "@" + f.Function.Filename + ":" + string(rune('0'+f.Line/10)) + string(rune('0'+f.Line%10))
			}
			line = append(line, name)
		}
		for _, k := range []string{"device", "stage", "layer", "chunk"} {
			line = append(line, strings.Join(s.Label[k], "|"))
		}
		text, _ := json.Marshal(s.Value)
		got = append(got, strings.Join(line, ";")+" "+string(text))
	}
	want := []string{
		"load x;H2D;phase 0 forward;step;cpu:0;H2D;layer1;1 [8000,128,0,0,0]",
		"zero;Zero;step;cpu:0;Zero;; [16000,0,0,0,0]",
		"gather csc 0.1@gcn.go:12;SAG;phase 0 forward;step;cpu:0;SAG;layer1;(1,0) [20000,0,0,0,2000]",
		"save y;D2H;phase 0 forward;step;cpu:0;D2H;;1 [6000,0,64,0,0]",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if p.DurationNanos != 54000 || p.DefaultSampleType != "time" || len(p.SampleType) != 5 {
		t.Errorf("duration %d, default %q, %d types", p.DurationNanos, p.DefaultSampleType, len(p.SampleType))
	}
}

func TestCheck(t *testing.T) {
	for want, spoil := range map[string]func(*Trace){
		"track 3 of 3":          func(t *Trace) { t.Tasks[2].Track = 3 },
		"waits for task 9 of 5": func(t *Trace) { t.Tasks[2].After = []int32{9} },
		"4 spans for 5 tasks":   func(t *Trace) { t.Steps[1].Spans = t.Steps[1].Spans[:4] },
		"task 1 (zero) runs":    func(t *Trace) { t.Steps[0].Spans[1].End = 1 },
	} {
		tr := example()
		spoil(tr)
		for _, err := range []error{tr.WriteJSON(io.Discard), tr.WriteProfile(io.Discard), tr.WriteDir(t.TempDir())} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
	}
}

func TestWriteDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 { // the second time over the first
		if err := example().WriteDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 || list[0].Name() != JSONFile || list[1].Name() != ProfileFile {
		t.Errorf("%v, %v", list, err)
	}
	bad := example()
	bad.Meta = []Meta{{"f", func() {}}} // JSON cannot say it
	if err := bad.WriteDir(dir); err == nil {
		t.Error("a trace that cannot be written was")
	}
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("left behind: %v", list)
	}
	if err := example().WriteDir(filepath.Join(dir, JSONFile)); err == nil {
		t.Error("a file was taken for a folder")
	}
}

func TestFlow(t *testing.T) {
	n := func(i int) Node { return Node{i} }
	f := NewFlow()
	for _, e := range [][2]int{{1, 2}, {2, 3}, {3, 4}, {2, 5}, {5, 6}, {4, 1}} { // with a circle
		f.Edge(n(e[0]), n(e[1]))
	}
	f.Label(n(3), "b,a")
	f.Label(n(5), "c")
	f.Label(n(6), "d")
	f.Label(n(2), "")
	for _, c := range []struct {
		from  int
		along bool
		want  string
	}{{1, true, "a,b,c"}, {3, true, "a,b"}, {4, true, "a,b,c"}, {4, false, "a,b"}, {2, false, "a,b"}, {9, true, ""}} {
		if got := f.Nearest([]Node{n(c.from)}, c.along); got != c.want {
			t.Errorf("from %d: %q, want %q", c.from, got, c.want)
		}
	}
	if got := f.Nearest([]Node{n(6), n(3)}, true); got != "a,b,d" {
		t.Errorf("from two: %q", got)
	}
}
