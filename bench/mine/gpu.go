package mine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"sagann/device"
	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
	"sagann/mine/run"
)

// known is the known count of a job on an R-MAT graph with edge factor 16, and the
// most milliseconds that its kernels may take on an H200; 0: unknown.
type known struct {
	count string
	bar   float64
}

// bars are the known values by scale and job. The bar of triangles is the time of G2Miner, that of cliques of four
// a third of it.
var bars = map[int]map[string]known{
	16: {"cycle5": {"1996421636572", 0}},
	17: {"cycle5": {"8120154903677", 0}},
	18: {"cycle5": {"32293460841264", 0}},
	20: {"triangle": {"424254972", 14.9}, "clique4": {"17056683136", 82}, "clique5": {"627901945789", 1000},
		"diamond": {"382430776974", 83}, "cycle4": {"453027064787", 600}, "4-motifs": {"", 900}},
	21: {"triangle": {"950014458", 35.7}, "clique4": {"46224588355", 216}, "clique5": {"2102300704969", 2900}},
	22: {"triangle": {"2111298577", 87}, "clique4": {"123847808236", 564}, "clique5": {"6924771712539", 7700},
		"cycle4": {"", 5000}, "4-motifs": {"", 8000}},
}

// table measures kernels and prints a line for each job.
type table struct {
	gpus   []device.GPU
	c      *Command
	work   plan.Work // of the graph
	mu     sync.Mutex
	spent  map[int]time.Duration // by GPU: time of launches
	copied map[int]time.Duration // by GPU: time of copies to the host
	wrong  bool
}

// gpuTable prints kernel times of all jobs.
func (c *Command) gpuTable() error {
	devices, err := device.Open(c.Device, c.GiB<<30)
	if err != nil {
		return err
	}
	t := &table{c: c, spent: map[int]time.Duration{}, copied: map[int]time.Duration{}}
	for i, d := range devices {
		defer func() {
			if e := d.Close(); e != nil {
				fmt.Println(e)
			}
		}()
		gpu, ok := d.(device.GPU)
		if !ok {
			return fmt.Errorf("--device %s: not a GPU", c.Device)
		}
		t.gpus = append(t.gpus, gpu)
		gpu.SetTrace(func(s device.Span) {
			if s.Op == device.OpLaunch {
				t.mu.Lock()
				t.spent[i] += s.End - s.Start
				t.mu.Unlock()
			} else if s.Op == device.OpD2H {
				t.mu.Lock()
				t.copied[i] += s.End - s.Start
				t.mu.Unlock()
			}
		})
	}
	switch {
	case c.Find.Support > 0:
		return t.frequent()
	case c.Find.Tables && c.Find.Stored:
		return t.stored()
	case c.Find.Tables && c.Find.Edges > 1:
		return t.tables()
	case c.Find.Sort > 0:
		return t.sorts(int(c.Find.Sort))
	}
	for _, scale := range c.Scales {
		if scale < 4 || scale > 30 {
			return fmt.Errorf("--scales %d: want numbers from 4 to 30", scale)
		}
		if err := t.scale(scale, c.Jobs); err != nil {
			return err
		}
	}
	if t.wrong {
		return errors.New("a count is wrong")
	}
	return nil
}

// time is the time of the launches in f on the slowest GPU: the least of several runs.
func (t *table) time(repeat int, f func() error) (ms float64, err error) {
	ms = math.Inf(1)
	for range repeat {
		clear(t.spent)
		if err := f(); err != nil {
			return 0, err
		}
		most := time.Duration(0)
		for _, d := range t.spent {
			most = max(most, d)
		}
		if ms = min(ms, float64(most)/1e6); ms > 3000 {
			break
		}
	}
	return ms, nil
}

// line measures a job and prints its time and the expected time.
func (t *table) line(scale int, job, note string, expected float64, repeat int, f func() (string, error)) float64 {
	var count string
	ms, err := t.time(repeat, func() (err error) {
		count, err = f()
		return err
	})
	if err != nil {
		fmt.Printf("%2d %-9s %-14s %v\n", scale, job, note, err)
		t.wrong = true
		return 0
	}
	k, verdict := bars[scale][job], ""
	if k.count != "" && k.count != count {
		verdict, t.wrong = "  COUNT WRONG: "+k.count, true
	}
	if k.bar > 0 && note == "" {
		verdict += fmt.Sprintf("  bar %.0f ms: %.2f of it", k.bar, ms/k.bar)
	}
	if expected /= float64(len(t.gpus)); expected > 0 {
		verdict += fmt.Sprintf("  expected %.2f ms: %.2f of it", 1e3*expected, 1e3*expected/ms)
	}
	fmt.Printf("%2d %-9s %-14s %10.2f ms  %s%s\n", scale, job, note, ms, count, verdict)
	return ms
}

func (t *table) scale(scale int, jobs string) error {
	start := time.Now()
	r, _, err := rows.FromEdges(rmat(scale, 16))
	if err != nil {
		return err
	}
	r = r.ByDegree()
	if err := t.expect(r); err != nil {
		return err
	}
	fmt.Printf("%2d: %d edges, at most %d neighbours, %d above a vertex; made in %.1f s\n", scale, r.Edges(), r.MaxDegree, r.MaxAbove, time.Since(start).Seconds())
	for _, part := range []struct {
		letter string
		f      func(scale int, r *rows.Rows) error
	}{{"c", t.cliques}, {"s", t.sums}, {"h", t.hot}, {"l", t.loops}, {"i", t.listing}, {"d", t.density}, {"5", t.five}, {"w", t.warps}} {
		if strings.Contains(jobs, part.letter) {
			if err := part.f(scale, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// expect computes the work on a graph, from which times are predicted.
func (t *table) expect(r *rows.Rows) error {
	p, err := plan.New(pattern.Must("clique6"), nil, []int{0, 1, 2, 3, 4, 5}, plan.Options{})
	if err != nil {
		return err
	}
	t.work = r.Work()
	t.work.Cliques = append([]float64{0}, run.Sampler{Rows: r, Seed: 1}.Sample(p, 1<<24).Nodes...)
	return nil
}

// with uploads the graph for f.
func (t *table) with(r *rows.Rows, l cuda.Layout, f func(g *cuda.Graph)) error {
	start := time.Now()
	g, err := cuda.Upload(t.gpus, r, l)
	if err != nil {
		return err
	}
	fmt.Printf("   uploaded in %.1f s\n", time.Since(start).Seconds())
	f(g)
	return g.Free()
}

func text(n run.Total, err error) (string, error) { return n.String(), err }

// cliques counts cliques with the rows above vertices on the GPU.
func (t *table) cliques(scale int, r *rows.Rows) error {
	ctx := context.Background()
	return t.with(r, cuda.Layout{Part: cuda.Above, Hot: -1}, func(g *cuda.Graph) {
		t.line(scale, "triangle", "", plan.H200.Clique(t.work, 3), 4, func() (string, error) { return text(g.Cliques(ctx, 3, nil)) })
		t.line(scale, "clique4", "", plan.H200.Clique(t.work, 4), 3, func() (string, error) { return text(g.Cliques(ctx, 4, nil)) })
		t.line(scale, "clique5", "", plan.H200.Clique(t.work, 5), 2, func() (string, error) { return text(g.Cliques(ctx, 5, nil)) })
		if scale <= 18 {
			t.line(scale, "clique6", "", plan.H200.Clique(t.work, 6), 1, func() (string, error) { return text(g.Cliques(ctx, 6, nil)) })
		}
		f := pattern.Formula{{Times: 1, Of: pattern.EdgePairs}}
		t.line(scale, "diamond", "", plan.H200.Formula(f, t.work), 3, func() (string, error) {
			sums, err := g.Sums(ctx, f, 1<<40, nil)
			return text(sums[pattern.EdgePairs], err)
		})
	})
}

// sums measures the sums that need whole rows.
func (t *table) sums(scale int, r *rows.Rows) error {
	ctx := context.Background()
	return t.with(r, cuda.Layout{Part: cuda.Whole, Hot: -1}, func(g *cuda.Graph) {
		cycles := pattern.Formula{{Times: 1, Of: pattern.FourCycles}}
		t.line(scale, "cycle4", "", plan.H200.Formula(cycles, t.work), 2, func() (string, error) {
			sums, err := g.Sums(ctx, cycles, 1<<40, nil)
			return text(sums[pattern.FourCycles], err)
		})
		var all pattern.Formula
		for _, q := range []pattern.Quantity{pattern.Triangles, pattern.EdgePaths, pattern.Tails, pattern.EdgePairs,
			pattern.FourCycles, pattern.FourCliques, pattern.Stars + 3} {
			all = append(all, pattern.Term{Times: 1, Of: q})
		}
		t.line(scale, "4-motifs", "", plan.H200.Formula(all, t.work), 1, func() (string, error) {
			sums, err := g.Sums(ctx, all, 1<<40, nil)
			return fmt.Sprint(sums[pattern.Tails], " tails"), err
		})
	})
}

// hot counts cliques with parts of the rows in host memory.
func (t *table) hot(scale int, r *rows.Rows) error {
	all := 4 * r.Edges() // bytes of all rows of neighbours above, as 32-bit numbers
	resident := map[int]float64{}
	for _, share := range []float64{1, 0.25, 0.1, 0} {
		l, note := cuda.Layout{Part: cuda.Above, Hot: int64(share * float64(all))}, fmt.Sprintf("%.0f%% on GPU", 100*share)
		if share == 1 {
			l.Hot = -1
		}
		host, _ := l.HostReads(r)
		w := t.work
		w.Host = float64(host)
		err := t.with(r, l, func(g *cuda.Graph) {
			for _, k := range []int{4, 5} {
				ms := t.line(scale, fmt.Sprintf("clique%d", k), note, plan.H200.Clique(w, k), 3, func() (string, error) { return text(g.Cliques(context.Background(), k, nil)) })
				if share == 1 {
					resident[k] = ms
					continue
				}
				fmt.Printf("   %.2f of resident; %.3f GB read from the host, %.1f GB/s\n", ms/resident[k], w.Host/1e9, w.Host/1e6/ms)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// loops counts patterns by loops, and with --cpu also on the CPU. It skips patterns that are expected to take
// more than --most seconds.
func (t *table) loops(scale int, r *rows.Rows) error {
	ctx := context.Background()
	cpu := &run.Run{Rows: r, Workers: 16}
	return t.with(r, cuda.Layout{Part: cuda.Whole, Hot: -1, Hubs: true}, func(g *cuda.Graph) {
		for _, name := range t.c.Loops {
			p, e, err := plan.Choose(pattern.Must(queries(name)), nil, r.Stats(), int64(len(r.Col)), run.Sampler{Rows: r, Seed: 1})
			if err != nil {
				fmt.Println(err)
				continue
			}
			expected, onCPU := plan.H200.Loops(e, t.work), plan.Core.Loops(e, t.work)/float64(cpu.Workers)
			fmt.Printf("   %s: about %.3g matches, %.3g elements, %.3g vertices; expected %.3g s, on the CPU %.3g s\n", name, e.Nodes[len(e.Nodes)-1], e.Work, e.Nodes[:e.Loops], expected, onCPU)
			if expected > t.c.Most {
				continue
			}
			t.line(scale, name, "by loops", expected, 1, func() (string, error) { return text(g.Count(ctx, p, 32<<30, nil)) })
			if t.c.CPU && onCPU < 2*t.c.Most {
				start := time.Now()
				n, err := cpu.Count(ctx, p)
				fmt.Printf("   CPU, 16 threads: %.0f ms, %v, %v\n", float64(time.Since(start))/1e6, n, err)
			}
		}
	})
}

// listing lists triangles, with a pool of blocks and without, and prints how fast the GPU wrote rows and copied them, and how
// fast they were read one by one.
func (t *table) listing(scale int, r *rows.Rows) error {
	p, err := plan.Listing(pattern.Must("triangle"), nil)
	if err != nil {
		return err
	}
	link, err := t.link()
	if err != nil {
		return err
	}
	return t.with(r, cuda.Layout{Part: cuda.Whole, Hot: -1, Hubs: true}, func(g *cuda.Graph) {
		for _, pool := range []bool{true, false} {
			n, start := 0, time.Now()
			clear(t.spent)
			clear(t.copied)
			err := g.List(context.Background(), p, pool, 8<<30, nil, func([]uint32) bool { n++; return true })
			if err != nil {
				fmt.Println(err)
				t.wrong = true
				return
			}
			bytes := float64(12 * n)
			fmt.Printf("%2d listing   pool %v, %d triangles: %.1f GB/s read; kernels %.0f ms, copies %.0f ms, together %.1f GB/s, %.2f of the link's %.1f\n", scale, pool, n,
				bytes/float64(time.Since(start)), float64(t.spent[0])/1e6, float64(t.copied[0])/1e6, bytes/float64(t.spent[0]+t.copied[0]), bytes/float64(t.spent[0]+t.copied[0])/link, link)
		}
	})
}

// link is the rate, in GB/s, of copies of 256 MiB from the first GPU to pinned memory.
func (t *table) link() (rate float64, err error) {
	const bytes, times = 256 << 20, 4
	gpu := t.gpus[0]
	from, err := gpu.Alloc(bytes)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, gpu.Free(from)) }()
	to, err := gpu.HostAlloc(bytes)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, gpu.HostFree(to)) }()
	queue, err := gpu.NewQueue("link")
	if err != nil {
		return 0, err
	}
	clear(t.copied)
	for range times {
		if err := gpu.CopyD2H(queue, to.Bytes(), from, 0); err != nil {
			return 0, err
		}
	}
	if err := gpu.Sync(); err != nil { // after which the spans are known
		return 0, err
	}
	return bytes * times / float64(t.copied[0]), nil
}

// density counts on graphs of 5 to 20 drawn edges for each vertex, and prints the memory that is taken.
func (t *table) density(scale int, _ *rows.Rows) error {
	for factor := 5; factor <= 20; factor += 5 {
		r, _, err := rows.FromEdges(rmat(scale, factor))
		if err != nil {
			return err
		}
		r = r.ByDegree()
		if err := t.expect(r); err != nil {
			return err
		}
		err = t.with(r, cuda.Layout{Part: cuda.Above, Hot: -1}, func(g *cuda.Graph) {
			for k := 3; k <= 5; k++ {
				t.line(-1, fmt.Sprintf("%d-cliques", k), fmt.Sprintf("factor %d", factor), plan.H200.Clique(t.work, k), 2, func() (string, error) { return text(g.Cliques(context.Background(), k, nil)) })
			}
			fmt.Printf("   at most %.2f GB of GPU memory so far\n", float64(t.gpus[0].Counters().Peak)/1e9)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// queries returns the pattern with that name in Figure 13 of the GAMMA paper.
func queries(name string) string {
	switch name {
	case "q1": // a wheel of four spokes
		return "0-1-2-3-0 4-0 4-1 4-2 4-3"
	case "q2":
		return "diamond"
	case "q3": // a square with triangles on two opposite sides
		return "0-1-2-3-0 0-4-3 1-5-2"
	}
	return name
}
