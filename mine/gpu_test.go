package mine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sagann/dataset"
	"sagann/device"
	"sagann/device/cudatest"
	"sagann/internal/draw"
	"sagann/mine"
)

// emulate has the graphs of a test use emulated GPUs of few multiprocessors, unless SAGANN_DEVICE names GPUs. It returns what
// names one GPU, and two where there are two.
func emulate(t *testing.T) (specs [2]string) {
	t.Helper()
	if all := os.Getenv("SAGANN_DEVICE"); strings.HasPrefix(all, "cuda") {
		one, _, _ := strings.Cut(all, ",")
		return [2]string{one, all}
	}
	t.Cleanup(mine.SetGPUs(func(n int, bytes int64) (list []device.GPU) {
		for i := range n {
			list = append(list, cudatest.Open(t, i, bytes))
		}
		return list
	}, 1<<20))
	return [2]string{"cuda", "cuda:0,1"}
}

// TestGPUAgainstBrute compares counts, listings and limits of GPUs with what trying all
// maps gives.
func TestGPUAgainstBrute(t *testing.T) {
	if testing.Short() {
		t.Skip("a compiler runs for every pattern")
	}
	specs := emulate(t)
	cases := 0
	draw.Check(t, func(t *rapid.T) {
		if cases++; cases > 25 { // a second each
			return
		}
		graph := drawGraph(t)
		graph.typed = false // labels of edges are compared on the CPU
		p := drawPattern(t, graph)
		var atoms []atom
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "conditions") {
			atoms = append(atoms, drawAtom(t, p.Vertices()))
		}
		induced := rapid.Bool().Draw(t, "induced")
		var options []mine.Option
		if induced {
			options = append(options, mine.Induced)
		}
		if len(atoms) > 0 {
			options = append(options, mine.Where(func(m mine.Match) mine.Bool {
				all := atoms[0].symbol(m)
				for _, a := range atoms[1:] {
					all = all.And(a.symbol(m))
				}
				return all
			}))
		}
		want := brute(graph, p, atoms, induced)
		g, err := mine.Open(graph.edges(), mine.Options{Labels: graph.label, Engine: mine.Loops, Device: specs[cases%2],
			NoReuse: cases%3 == 0, NoPool: cases%4 < 2})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
		}()
		n, err := g.Count(context.Background(), p, options...)
		if err != nil || n.String() != fmt.Sprint(len(want)) {
			t.Fatalf("%v of %q, %v; want %d", n, p, err, len(want))
		}
		limit := rapid.IntRange(0, len(want)+1).Draw(t, "limit")
		var got [][]uint32
		for m, err := range g.Match(context.Background(), p, append(options, mine.Limit(int64(limit)))...) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, slices.Clone(m))
		}
		first := want
		if limit > 0 {
			first = want[:min(limit, len(want))]
		}
		if !slices.EqualFunc(got, first, slices.Equal) {
			t.Fatalf("%q lists %v, want %v", p, got, first)
		}
	})
}

// TestGPUEngines: all engines of GPUs agree with the CPU, with all rows on them and with
// the smallest memory that an error names.
func TestGPUEngines(t *testing.T) {
	specs := emulate(t)
	ctx := context.Background()
	club := dataset.Karate()
	cpu := mustOpen(t, club.Edges, mine.Options{})
	for i, text := range []string{"triangle", "cycle5", "diamond", "clique4", "cycle4", "star4", "path4", "house"} {
		if i > 2 && testing.Short() {
			break
		}
		p := mine.MustPattern(text)
		want, err := cpu.Count(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, engine := range []mine.Engine{mine.Auto, mine.Formula, mine.Bits, mine.Maps, mine.Loops} {
			for mem, tries := int64(0), 0; tries < 3; tries++ {
				g := mustOpen(t, club.Edges, mine.Options{Device: specs[0], Engine: engine, Mem: mem})
				n, err := g.Count(ctx, p)
				var small *mine.BudgetError
				switch {
				case errors.As(err, &small):
					mem = small.Smallest
				case err != nil && strings.Contains(err.Error(), "cannot count"):
					tries = 3
				case err != nil || n != want:
					t.Errorf("%s by %s in %d bytes: %v, %v; want %v", text, engine, mem, n, err, want)
				case mem == 0:
					mem = 1
				}
				if x, err := g.Explain(p); err == nil && (mem > 1 && x.Bytes > mem || x.Device != specs[0] && x.Threads == 0) {
					t.Errorf("%s by %s in %d bytes: %+v", text, engine, mem, x)
				}
				if err := g.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	want, err := cpu.Motifs(ctx, 4)
	if err != nil {
		t.Fatal(err)
	}
	g := mustOpen(t, club.Edges, mine.Options{Device: specs[1]})
	if got, err := g.Motifs(ctx, 4); err != nil || !slices.Equal(got, want) {
		t.Errorf("motifs %v, %v; want %v", got, err, want)
	}
	for _, err := range g.Match(ctx, mine.MustPattern("triangle")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Cliques(ctx, 3); !errors.Is(err, mine.ErrBusy) {
			t.Errorf("a count inside a listing: %v", err)
		}
		closed := make(chan error, 1)
		go func() { closed <- g.Close() }()
		select {
		case err := <-closed:
			if !errors.Is(err, mine.ErrBusy) {
				t.Errorf("Close inside a listing: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Close inside a listing waits for its end")
		}
		break
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// TestGPUFrequent: frequent patterns of GPUs are those of the CPU, in any memory. The budget that an error names works.
func TestGPUFrequent(t *testing.T) {
	specs := emulate(t)
	club := dataset.Karate()
	text := func(g *mine.Graph, f mine.Frequency) (string, error) {
		defer func() {
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}()
		found, err := g.Frequent(context.Background(), f)
		out := ""
		for i := range found {
			out += fmt.Sprintln(found[i].Pattern, found[i].Support)
			if f.Domains {
				out += fmt.Sprintln(slices.Collect(found[i].Domain(0)))
			}
		}
		return out, err
	}
	for _, f := range []mine.Frequency{{Support: 8, Edges: 4}, {Support: 6, Vertices: 4, Induced: true, Domains: true}, {Support: 8, Edges: 3, AtLeast: true},
		{Support: 1, Edges: 3, By: mine.InstancesAll, Engine: mine.Tables}, {Support: 20, Edges: 4, Vertices: 4, By: mine.Instances}, {Support: 2, Vertices: 4, By: mine.Instances, Induced: true}} {
		want, err := text(mustOpen(t, club.Edges, mine.Options{Labels: club.Labels}), f)
		if err != nil || want == "" {
			t.Fatal(err)
		}
		mem, worked := int64(0), 0
		for i := range 3 { // in all memory, in one byte, and in what its error names
			opt := mine.Options{Labels: club.Labels, Device: specs[i%2], Mem: mem}
			got, err := text(mustOpen(t, club.Edges, opt), f)
			var small *mine.BudgetError
			switch {
			case errors.As(err, &small):
				mem = small.Smallest
			case err != nil || got != want:
				t.Errorf("%+v in %d bytes: %v\n%s\nwant\n%s", f, mem, err, got, want)
			default:
				worked++
				mem = max(mem, 1)
			}
			x, err := mustOpen(t, club.Edges, opt).ExplainFrequent(context.Background(), f)
			if mem := opt.Mem; mem != 1 && (err != nil || x.Device != opt.Device || mem > 0 && x.Bytes > max(mem, 1<<20) || !strings.Contains(x.String(), "device") || f.By == mine.MNI && x.NextSeconds <= 0) {
				t.Errorf("%+v in %d bytes: %+v, %v", f, mem, x, err)
			}
		}
		if mem < 2 || worked != 2 {
			t.Errorf("%+v: %d of two searches worked, the last in %d bytes", f, worked, mem)
		}
	}
	// A search that is kept, and a table by pattern.
	for _, kept := range []mine.Frequency{{Support: 5, Edges: 3, By: mine.InstancesAll, Engine: mine.Tables}, {Support: 5, Vertices: 4, By: mine.InstancesAll, Induced: true}} {
		want, err := text(mustOpen(t, club.Edges, mine.Options{Labels: club.Labels}), kept)
		kept.Resume = t.TempDir()
		for range 2 {
			if got, e := text(mustOpen(t, club.Edges, mine.Options{Labels: club.Labels, Device: specs[0]}), kept); err != nil || e != nil || got != want {
				t.Errorf("kept: %v, %v\n%s\nwant\n%s", err, e, got, want)
			}
		}
	}
	var err error
	var byPattern [2]map[mine.Pattern]int64
	for i, device := range []string{"", specs[1]} {
		g := mustOpen(t, club.Edges, mine.Options{Labels: club.Labels, Device: device})
		if byPattern[i], err = g.Table(false).Extend(nil).Extend(nil).Patterns(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	if !maps.Equal(byPattern[0], byPattern[1]) {
		t.Errorf("%d patterns of a table on a GPU, %d on the CPU", len(byPattern[1]), len(byPattern[0]))
	}
	_, err = text(mustOpen(t, club.Edges, mine.Options{Device: specs[0]}), mine.Frequency{Support: 3, Edges: 2, By: mine.Instances})
	if err == nil || !strings.Contains(err.Error(), "is the CPU's") {
		t.Errorf("instances: error %v", err)
	}
}
