package traceout_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"sagann/dataset"
	"sagann/internal/traceout"
	"sagann/layers"
	"sagann/saga"
)

// run trains model for some epochs, of which the last two are traced, and writes the
// trace.
func run(t *testing.T, model string, c saga.Config, epochs int) (p *saga.Program, dir string) {
	t.Helper()
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 600, Edges: 6000, Features: 24, Classes: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, err := layers.New(model, layers.Options{Features: 24, Hidden: 16, Classes: 5, Layers: 3})
	if err != nil {
		t.Fatal(err)
	}
	if p, err = saga.Compile(m, d, c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := p.WriteTrace(t.TempDir()); err == nil {
		t.Error("a trace of nothing was written")
	}
	if err := p.StartTrace(2); err != nil {
		t.Fatal(err)
	}
	for range epochs {
		if _, err := p.Step(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Evaluate(); err != nil { // shares the device, is not traced
			t.Fatal(err)
		}
	}
	dir = t.TempDir()
	if err := p.WriteTrace(dir); err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// args are the arguments of a slice that the tests look at.
type args struct {
	Task     int
	Stage    string
	Layer    string
	Cell     string
	Bytes    int64
	Gathered int64 `json:"gathered_bytes"`
	Lines    []string
}

func slicesOf(t *testing.T, dir string) (events []traceout.ChromeEvent, tasks []args) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, traceout.JSONFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range traceout.CheckJSON(t, text) {
		if e.Phase != "X" {
			continue
		}
		var a args
		if err := json.Unmarshal(e.Args, &a); err != nil {
			t.Fatal(err)
		}
		events, tasks = append(events, e), append(tasks, a)
	}
	return events, tasks
}

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		model    string
		schedule string
		without  []string
	}{
		{"ggcn", "sag", nil}, {"ggcn", "stage", nil}, {"ggcn", "dest-order", nil}, {"ggcn", "sag", []string{"fuse", "factor"}},
		{"gcn", "sag", nil}, {"gat", "dest-order", nil}, {"ggnn", "sag", nil}, {"edgemlp", "sag", nil}, {"mpgcn", "sag", []string{"stream"}},
	} {
		t.Run(fmt.Sprint(c.model, " ", c.schedule, c.without), func(t *testing.T) {
			p, dir := run(t, c.model, saga.Config{Seed: 1, Chunks: 3, Schedule: c.schedule, Stream: true, Without: c.without}, 3)
			events, tasks := slicesOf(t, dir)
			want := p.Summary()
			var h2d, d2h, gathered int64
			epochs := ""
			for i, e := range events {
				a := tasks[i]
				switch e.Cat {
				case "step":
					epochs += e.Name + ";"
				case "h2d":
					h2d += a.Bytes
				case "d2h":
					d2h += a.Bytes
				}
				gathered += a.Gathered
				if e.Cat == "compute" && a.Cell != "" && a.Layer == "" {
					t.Errorf("%s of cell %s works for no layer", e.Name, a.Cell)
				}
			}
			if epochs != "epoch 2;epoch 3;" {
				t.Errorf("traced %s", epochs)
			}
			const results = 4 // bytes of the loss, which the plan does not count
			if h2d != 2*want.H2D || d2h != 2*(want.D2H+results) {
				t.Errorf("%d bytes in, %d out; want %d and %d", h2d, d2h, 2*want.H2D, 2*(want.D2H+results))
			}
			prof := readProfile(t, dir)
			var sum [5]int64
			for _, s := range prof.Sample {
				for k, v := range s.Value {
					sum[k] += v
				}
			}
			if got := [3]int64{sum[1], sum[2], sum[4]}; got != [3]int64{h2d, d2h, gathered} || gathered == 0 {
				t.Errorf("the profile has %d bytes, the slices %d, %d, %d", got, h2d, d2h, gathered)
			}
			o := p.TraceOverlap()
			if sum[0] != int64(o.Compute+o.Copy()) || prof.DurationNanos != int64(o.Wall) || o.Steps != 2 {
				t.Errorf("the profile has %d ns over %d; %v", sum[0], prof.DurationNanos, o)
			}
			if serial := len(c.without) == 1 && c.without[0] == "stream"; serial && o.Ratio() < 0.999 {
				t.Errorf("queues that take turns: %v", o)
			}
		})
	}
}

func readProfile(t *testing.T, dir string) *profile.Profile {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, traceout.ProfileFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLayers: edge passes are credited to the layer that they belong to, also where
// the compiler has moved products to the other side of them.
func TestLayers(t *testing.T) {
	for model, want := range map[string]string{
		"ggcn":    "csc layer1;csc layer2;csc layer3;csr layer3;csr layer2;csr layer1;",
		"gat":     "csc layer1;csc layer2;csc layer3;csr layer3;csr layer2;csr layer1;",
		"commnet": "csc layer2;csc layer3;csr layer3;csr layer2;", // layer 1 gathers features: once, before
		"gin":     "csc layer2;csc layer3;csr layer3;csr layer2;",
	} {
		_, dir := run(t, model, saga.Config{Seed: 1, Chunks: 2}, 1)
		events, tasks := slicesOf(t, dir)
		got := "" // direction and layer, where they change
		for i, e := range events {
			if tasks[i].Stage != "SAG" {
				continue
			}
			if pass := strings.Fields(e.Name)[1] + " " + tasks[i].Layer + ";"; !strings.HasSuffix(got, pass) {
				got += pass
			}
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", model, got, want)
		}
	}
}

// TestPprof has the real tool print tables.
func TestPprof(t *testing.T) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to run pprof with")
	}
	_, dir := run(t, "ggcn", saga.Config{Seed: 1, Chunks: 3, Stream: true}, 2)
	pprof := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(goCommand, append(append([]string{"tool", "pprof"}, args...), filepath.Join(dir, traceout.ProfileFile))...)
		cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("pprof %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	has := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !regexp.MustCompile(`(?m)` + w).MatchString(text) {
				t.Errorf("pprof does not print %q:\n%s", w, text)
			}
		}
	}
	has(pprof("-top", "-nodefraction=0"), `^File: saga ggcn$`, `^model ggcn, `, `^overlap wall `, `^Type: time$`,
		`% +gather csr \d\.\d$`, `% +load features$`, `% +SAG$`, `% +ApplyVertex$`, `% +phase \d (forward and )?backward$`, `100% +step$`)
	has(pprof("-top", "-lines", "-nodefraction=0", "-sample_index=time"), `gather csr \d\.\d ggcn\.go:\d+`)
	has(pprof("-top", "-sample_index=h2d", "-nodefraction=0"), `^Type: h2d$`, `B .* load features$`)
	has(pprof("-top", "-sample_index=gathered", "-nodefraction=0"), `^Type: gathered$`, `B .* gather csc \d\.\d$`)
	has(pprof("-tags"), `^ layer: Total `, `^ stage: Total `, `^ chunk: Total `, `^ device: Total `, `: \(2,0\)$`, `: cpu:0$`)
	has(pprof("-top", "-tagfocus=layer=layer2", "-nodefraction=0"), `gather csc \d\.\d`)
}
