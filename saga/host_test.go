package saga_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/device"
	"sagann/layers"
	"sagann/saga"
)

// leastHost is the smallest HostMem for m on d within c.
func leastHost(t *testing.T, m saga.Model, d *dataset.Data, c saga.Config) int64 {
	t.Helper()
	c.HostMem = 1
	_, err := saga.Compile(m, d, c)
	var small *plan.HostError
	if !errors.As(err, &small) {
		t.Fatalf("one byte of host memory: %v", err)
	}
	return small.Smallest
}

// needsFiles skips on systems that have no files for host memory, and gives a folder.
func needsFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	f, err := device.NewHostFile(dir, 1)
	if err != nil {
		t.Skip(err)
	}
	f.Close()
	return dir
}

// TestHostMem: with features and swapped values in files every loss has the bits that it
// has without, on one device and two; what is held is what was planned, within the
// bound; and nothing is left.
func TestHostMem(t *testing.T) {
	dir := needsFiles(t)
	d := graph(t)
	for _, name := range []string{"ggcn", "gat", "gcn"} { // gcn has an invariant
		for _, chunks := range []int{3, 7} {
			for _, dev := range []string{"cpu", "cpu:2"} {
				c := streamed(3)
				c.Chunks, c.Device, c.Scratch = chunks, dev, dir
				where := fmt.Sprintf("%s, %d intervals, %s", name, chunks, dev)
				free := program(t, name, d, c)
				want := train(t, free, saga.TrainOptions{})
				all := free.Summary().Host
				least := leastHost(t, model(t, name, d), d, c)
				if least >= all || free.Summary().Disk != 0 {
					t.Fatalf("%s: %d bytes without a bound, at least %d", where, all, least)
				}
				for _, c.HostMem = range []int64{least, (least + all) / 2, all} {
					_, before := device.HostFiles()
					p := program(t, name, d, c)
					r := train(t, p, saga.TrainOptions{})
					if r.Loss != want.Loss || r.Final != want.Final {
						t.Errorf("%s, %d bytes: loss %v and scores %+v, without a bound %v and %+v", where, c.HostMem, r.Loss, r.Final, want.Loss, want.Final)
					}
					sameParams(t, p, free)
					s := p.Summary()
					memory, disk := p.HostHeld()
					if memory != s.Host || disk != s.Disk || s.Host > c.HostMem || (s.Disk > 0) != (c.HostMem < all) {
						t.Errorf("%s, %d bytes: %d in memory and %d in files, planned %d and %d", where, c.HostMem, memory, disk, s.Host, s.Disk)
					}
					if p.Digest() != free.Digest() {
						t.Errorf("%s: another digest", where)
					}
					if err := p.Close(); err != nil {
						t.Error(err)
					}
					if _, after := device.HostFiles(); after-before > p.ExtraFiles() {
						t.Errorf("%s, %d bytes: files of %d bytes are open, and %d are the invariants'", where, c.HostMem, after-before, p.ExtraFiles())
					}
				}
				c.HostMem = least - 1
				var small *plan.HostError
				if _, err := saga.Compile(model(t, name, d), d, c); !errors.As(err, &small) || small.Smallest != least || !strings.Contains(err.Error(), strconv.FormatInt(least, 10)) {
					t.Errorf("%s, a byte too few: %v", where, err)
				}
			}
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("the folder holds %v (%v)", list, err)
	}
}

// TestHostMemResume: a run that was bounded goes on without a bound and the other way
// round, bit for bit; predictions and embeddings are the same; predicting between epochs
// changes nothing.
func TestHostMemResume(t *testing.T) {
	dir := needsFiles(t)
	d := graph(t)
	for _, name := range []string{"ggcn", "gcn"} {
		c := streamed(6)
		c.Scratch = dir
		whole := program(t, name, d, c)
		want := train(t, whole, saga.TrainOptions{})
		tight := c
		tight.HostMem = leastHost(t, model(t, name, d), d, c)
		for i, pair := range [][2]saga.Config{{tight, c}, {c, tight}, {tight, tight}} {
			path := filepath.Join(t.TempDir(), "c.safetensors")
			first, second := pair[0], pair[1]
			first.Epochs = 3
			p := program(t, name, d, first)
			train(t, p, saga.TrainOptions{Checkpoint: path})
			if _, _, err := p.Predict(); err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			q := program(t, name, d, second)
			r, err := q.Train(context.Background(), saga.TrainOptions{Resume: path, Checkpoint: path})
			if err != nil {
				t.Fatal(err)
			}
			if r.Loss != want.Loss || r.Final != want.Final {
				t.Errorf("%s, %d: loss %v, want %v", name, i, r.Loss, want.Loss)
			}
			sameParams(t, whole, q)
			for what, run := range map[string]func(saga.Model, *dataset.Data, saga.Config, string) ([]float32, int, error){"predict": saga.Predict, "embed": saga.Embed} {
				free := saga.Config{Stream: true, MinChunks: 3}
				x, _, err := run(model(t, name, d), d, free, path)
				if err != nil {
					t.Fatal(err)
				}
				free.HostMem, free.Scratch = 1, dir
				_, _, err = run(model(t, name, d), d, free, path)
				var small *plan.HostError
				if !errors.As(err, &small) {
					t.Fatalf("%s: one byte: %v", what, err)
				}
				free.HostMem = small.Smallest
				y, _, err := run(model(t, name, d), d, free, path)
				if err != nil || !sameBits(x, y) {
					t.Errorf("%s %s: differs (%v)", what, name, err)
				}
			}
		}
	}
}

// TestHostMemSchedules: with the other schedules, all of what is swapped in files.
func TestHostMemSchedules(t *testing.T) {
	dir := needsFiles(t)
	d := graph(t)
	for _, schedule := range []string{plan.Stage, plan.DestOrder} {
		c := streamed(2)
		c.Schedule, c.Scratch = schedule, dir
		free := program(t, "ggcn", d, c)
		train(t, free, saga.TrainOptions{})
		c.HostMem = leastHost(t, model(t, "ggcn", d), d, c)
		p := program(t, "ggcn", d, c)
		train(t, p, saga.TrainOptions{})
		sameParams(t, free, p)
	}
}

// TestHostMemEstimate: where statistics choose the number of intervals, the smallest budget
// that is named does, and a byte less does not; gcn has an invariant, which comes first.
func TestHostMemEstimate(t *testing.T) {
	dir := needsFiles(t)
	defer saga.EstimateFrom(1)()
	d := graph(t)
	for _, name := range []string{"gcn", "ggcn"} {
		c := streamed(2)
		c.Chunks, c.MinChunks, c.Scratch = 0, 3, dir
		free := program(t, name, d, c)
		want := train(t, free, saga.TrainOptions{})
		c.HostMem = leastHost(t, model(t, name, d), d, c)
		p := program(t, name, d, c)
		if r := train(t, p, saga.TrainOptions{}); r.Loss != want.Loss || p.Chunks() != free.Chunks() {
			t.Errorf("%s: loss %v with %d intervals, without a bound %v with %d", name, r.Loss, p.Chunks(), want.Loss, free.Chunks())
		}
		if memory, disk := p.HostHeld(); memory != p.Summary().Host || disk != p.Summary().Disk || disk == 0 {
			t.Errorf("%s: %d in memory and %d in files, planned %+v", name, memory, disk, p.Summary())
		}
		c.HostMem--
		var small *plan.HostError
		if _, err := saga.Compile(model(t, name, d), d, c); !errors.As(err, &small) || small.Smallest != c.HostMem+1 {
			t.Errorf("%s, a byte too few: %v", name, err)
		}
	}
}

// TestHostMemRows: loads that gather rows find them in files.
func TestHostMemRows(t *testing.T) {
	dir := needsFiles(t)
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 4000, Edges: 6000, Features: 40, Classes: 4, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	m, err := layers.New("ggcn", layers.Options{Features: 40, Hidden: 36, Classes: 4, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	c := saga.Config{Chunks: 7, Stream: true, Epochs: 2, Scratch: dir}
	compile := func() *saga.Program {
		p, err := saga.Compile(m, d, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p
	}
	free := compile()
	train(t, free, saga.TrainOptions{})
	c.HostMem = leastHost(t, m, d, c)
	p := compile()
	train(t, p, saga.TrainOptions{})
	sameParams(t, free, p)
	gathers, pl := 0, p.TrainPlan()
	for i := range pl.Tasks {
		if k := &pl.Tasks[i]; k.Is.Gather && pl.OnDisk(int(k.Value)) {
			gathers++
		}
	}
	if memory, disk := p.HostHeld(); gathers == 0 || memory != p.Summary().Host || disk != p.Summary().Disk {
		t.Errorf("%d loads gather rows of files; %d bytes in memory, %d in files, planned %+v", gathers, memory, disk, p.Summary())
	}
}

// The plan from statistics counts as that of the data does, but for what it estimates;
// and a folder that is not there, or too small, is an error before the first epoch.
func TestHostMemErrors(t *testing.T) {
	dir := needsFiles(t)
	d := graph(t)
	m := model(t, "gcn", d)
	c := streamed(1)
	s := saga.Shape{Vertices: d.Edges.V, Edges: int64(d.Edges.E()), Features: d.FeatureCols, Classes: d.Classes}
	c.HostMem = 1
	_, err := saga.Plan(m, s, c)
	var small *plan.HostError
	if !errors.As(err, &small) {
		t.Fatalf("from statistics: %v", err)
	}
	c.HostMem = small.Smallest
	p, err := saga.Plan(m, s, c)
	if err != nil || p.Summary().Disk == 0 {
		t.Fatalf("the smallest from statistics: %v", err)
	}
	c.HostMem, c.Scratch = leastHost(t, m, d, c), filepath.Join(dir, "nosuch")
	if _, err := saga.Compile(m, d, c); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("a folder that is not there: %v", err)
	}
	c.HostMem = -1
	if _, err := saga.Compile(m, d, c); err == nil || !strings.Contains(err.Error(), "negative") {
		t.Errorf("a negative bound: %v", err)
	}
}

// resident is what the process has in memory of what kind ("Anon", "File"), in bytes.
func resident(t *testing.T, kind string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(text), "Rss"+kind+":")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// TestHostMemResident: what lies in files is not in the process's memory.
func TestHostMemResident(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on a graph of some size")
	}
	dir := needsFiles(t)
	d, err := dataset.Synthetic(dataset.Spec{Vertices: 60000, Edges: 300000, Features: 128, Classes: 4, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	m, err := layers.New("ggcn", layers.Options{Features: 128, Hidden: 64, Classes: 4, Layers: 2})
	if err != nil {
		t.Fatal(err)
	}
	c := saga.Config{Chunks: 8, Stream: true, Epochs: 2, Scratch: dir}
	c.HostMem = leastHost(t, m, d, c)
	p, err := saga.Compile(m, d, c)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Summary()
	debug.FreeOSMemory()
	anon, file := resident(t, "Anon"), resident(t, "File")
	if _, err := p.Train(context.Background(), saga.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory()
	anon, file = resident(t, "Anon")-anon, resident(t, "File")-file
	t.Logf("%d bytes in memory, %d in files, device %d: anonymous memory grew by %d, of files by %d", s.Host, s.Disk, s.Peak, anon, file)
	if file > 4<<20 || anon > s.Host+s.Peak+64<<20 || s.Disk < 150<<20 {
		t.Error("files are in memory")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
