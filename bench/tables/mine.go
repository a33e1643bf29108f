package tables

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/bench/measure"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/units"
	"sagann/mine"
)

// Mine is saga bench mine.
type Mine struct {
	Tables   []string `default:"data,queries,cliques,patterns,rows,stored,heat,density,threads,sort,list" placeholder:"NAME" help:"Tables: data (Table II), queries (Figures 10, 11, 13 and 18), cliques (12, Table IV), patterns (14), rows (codes and fusion), stored (tables in a file), heat (5, 20), density (15), threads (16), sort (19, Table III), list (every figure with its command and the paper's number) (${default})."`
	Data     string   `default:"synthetic:vertices=1000,edges=3e3,kind=rmat,features=1,classes=20" placeholder:"PATH" help:"The graph, made undirected (${default})."`
	Support  count    `default:"100" placeholder:"N" help:"Least support of patterns (${default})."`
	Edges    count    `default:"3" placeholder:"N" help:"Most edges of patterns, to 7 (${default})."`
	K        count    `name:"k" default:"6" placeholder:"N" help:"Most vertices of cliques, to 8 (${default})."`
	Degrees  []int    `default:"5,10,15,20" placeholder:"N" help:"Edges a vertex of the graphs of density (${default})."`
	Vertices count    `default:"2000" placeholder:"N" help:"Vertices of the graphs of density (${default})."`
	Keys     count    `default:"1000000" placeholder:"N" help:"Keys of sort, 64 bits each (${default})."`
	Scratch  string   `placeholder:"DIR" help:"Folder for what stored and sort write; default: that for temporary files."`
	Threads  count    `default:"0" placeholder:"N" help:"Threads; 0: as many as processors (${default})."`
	Device   string   `placeholder:"NAME" help:"GPUs that make the rows of rows and stored, in a build for GPUs, such as cuda or cuda:0,1."`
	Markdown bool     `help:"Print Markdown."`
	JSON     bool     `name:"json" help:"Print one JSON object on the last line of standard output, the tables on standard error."`

	ctx context.Context
}

// Run makes the tables.
func (c *Mine) Run(a *app) error {
	makers := map[string]func() (*sheet, error){"data": c.shapes, "threads": c.threads, "queries": c.queries, "cliques": c.cliques, "patterns": c.patterns, "rows": c.rows, "stored": c.stored, "heat": c.heat, "density": c.density, "sort": c.sort, "list": c.list}
	for _, name := range c.Tables {
		if makers[name] == nil {
			return cli.Usagef("--tables %s: there are data, queries, cliques, patterns, rows, stored, heat, density, threads, sort and list", name)
		}
	}
	if err := c.check(); err != nil {
		return err
	}
	for flag, by := range map[string][]string{"support": {"patterns", "density", "threads"}, "edges": {"patterns", "rows", "stored", "heat", "density", "threads"}, "k": {"cliques"}, "degrees": {"density"}, "vertices": {"density"},
		"keys": {"sort"}, "scratch": {"stored", "sort"}, "device": {"rows", "stored"}, "data": {"data", "queries", "cliques", "patterns", "rows", "stored", "heat", "threads"}, "threads": {"queries", "cliques", "patterns", "rows", "stored", "heat", "density", "threads", "sort"}} {
		if !slices.ContainsFunc(c.Tables, func(name string) bool { return slices.Contains(by, name) }) {
			a.Idle("these --tables, without "+strings.Join(by, ", "), flag)
		}
	}
	if c.Threads == 0 {
		c.Threads = count(runtime.GOMAXPROCS(0))
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	c.ctx = ctx
	var sheets []*sheet
	for _, name := range c.Tables {
		s, err := makers[name]()
		if err != nil {
			return err
		}
		sheets = append(sheets, s)
	}
	return (&benchOutput{Markdown: c.Markdown, JSON: c.JSON, Machine: "this one"}).print(a, sheets...)
}

// check finds numbers that cannot be.
func (c *Mine) check() error {
	for _, x := range []struct {
		flag           string
		n, least, most count
	}{{"support", c.Support, 1, math.MaxInt64}, {"edges", c.Edges, 1, 7}, {"k", c.K, 3, 8}, {"vertices", c.Vertices, 2, math.MaxInt64}, {"keys", c.Keys, 1, math.MaxInt64},
		{"threads", c.Threads, 0, count(max(mine.MostThreads, runtime.GOMAXPROCS(0)))}} {
		switch {
		case x.n < x.least:
			return cli.Usagef("--%s %d: the least is %d", x.flag, x.n, x.least)
		case x.n > x.most:
			return cli.Usagef("--%s %d: the most is %d", x.flag, x.n, x.most)
		}
	}
	if slices.ContainsFunc(c.Degrees, func(d int) bool { return d < 1 }) {
		return cli.Usagef("--degrees %v: the least is 1", c.Degrees)
	}
	const each = 4 * 8 // bytes of a key, of its copies and of counters
	if free := device.HostAvailable(); slices.Contains(c.Tables, "sort") && free > 0 && int64(c.Keys) > free/each {
		return cli.Usagef("--keys %d: they take about %d bytes each, and %s are free", c.Keys, each, units.Size(free))
	}
	return nil
}

// graph opens a graph with the options.
func (c *Mine) graph(data string, opt mine.Options) (*mine.Graph, string, error) {
	d, err := cli.OpenData(data, dataset.Options{Undirected: true})
	if err != nil {
		return nil, "", err
	}
	opt.Labels, opt.Threads = d.Labels, int(c.Threads)
	g, err := mine.Open(d.Edges.Symmetric(), opt)
	if err != nil {
		return nil, "", err
	}
	return g, fmt.Sprintf("%d vertices, %d edges, %d threads", g.Vertices(), g.Edges(), c.Threads), nil
}

// clocked is the wall seconds and processor seconds of f.
func clocked(f func() error) (wall, processor float64, err error) {
	start, cpu := time.Now(), measure.CPUSeconds()
	err = f()
	return time.Since(start).Seconds(), measure.CPUSeconds() - cpu, err
}

// seconds are a row's times, as cells and in JSON.
func seconds(wall, processor float64) (table.Row, fields) {
	return table.Row{fmt.Sprintf("%.3g", wall), fmt.Sprintf("%.3g", processor)}, fields{{"seconds", wall}, {"processor_seconds", processor}}
}

// way is an engine with options.
type way struct {
	name string
	opt  mine.Options
}

// counted measures how the ways count patterns.
func (c *Mine) counted(s *sheet, patterns []named, ways []way) (string, error) {
	about := ""
	for _, p := range patterns {
		var first *mine.Total
		for _, w := range ways {
			g, text, err := c.graph(c.Data, w.opt)
			if err != nil {
				return "", err
			}
			about = text
			job, err := g.Prepare(p.pattern, p.options...)
			if errors.As(err, new(*mine.QuestionError)) {
				continue // the engine is for other patterns
			}
			if err != nil {
				return "", err
			}
			x, err := job.Explain()
			if err != nil {
				return "", err
			}
			var n mine.Total
			wall, processor, err := clocked(func() (err error) { n, err = job.Count(c.ctx); return err })
			if err != nil {
				return "", err
			}
			if first == nil {
				first = &n
			} else if n != *first {
				return "", fmt.Errorf("%s: %s counts %v, %s %v", p.name, w.name, n, ways[0].name, *first)
			}
			cells, data := seconds(wall, processor)
			s.add(append(table.Row{p.name, w.name, n}, append(cells, units.Size(x.Bytes))...), append(fields{{"pattern", p.name}, {"way", w.name}, {"count", n}, {"bytes", x.Bytes}}, data...))
		}
	}
	return about, nil
}

// named is a pattern of a table.
type named struct {
	name    string
	pattern mine.Pattern
	options []mine.Option
}

// queries is the matching of GAMMA's three queries.
func (c *Mine) queries() (*sheet, error) {
	s := &sheet{key: "queries", head: table.Row{"query", "way", "matches", "s", "processor s", "memory"}}
	var list []named
	for _, q := range [][2]string{{"q1, a wheel of four spokes", "0-1-2-3-0 4-0 4-1 4-2 4-3"}, {"q2, the diamond", "diamond"}, {"q3, a square with triangles on two sides", "0-1-2-3-0 0-4-3 1-5-2"}} {
		list = append(list, named{q[0], mine.MustPattern(q[1]), nil})
	}
	about, err := c.counted(s, list, []way{{"loops", mine.Options{Engine: mine.Loops}}, {"loops, no sets shared", mine.Options{Engine: mine.Loops, NoReuse: true}}, {"binary joins", mine.Options{Engine: mine.Join}}})
	s.title = "Matching (GAMMA's Figures 10, 11, 13, 18) on " + about
	s.notes = []string{"GAMMA: vertex extension is worst-case optimal, as loops are; binary joins extend by edges. It is 50.6 % faster than GSI and 70.5 % than Peregrine, and sharing prefixes brings 25.4 %. Memory is that of the rows and the work; GAMMA's tables take up to 310 GB."}
	return s, err
}

// cliques counts cliques.
func (c *Mine) cliques() (*sheet, error) {
	s := &sheet{key: "cliques", head: table.Row{"pattern", "way", "cliques", "s", "processor s", "memory"}}
	var list []named
	for k := 3; k <= int(c.K); k++ {
		name := fmt.Sprintf("clique%d", k)
		list = append(list, named{name, mine.MustPattern(name), nil})
	}
	about, err := c.counted(s, list, []way{{"bits", mine.Options{Engine: mine.Bits}}, {"loops", mine.Options{Engine: mine.Loops}}})
	s.title = "Cliques (GAMMA's Figure 12, Table IV) on " + about
	s.notes = []string{"GAMMA: 67.6 % faster than Pangolin on a GPU, 73.9 % than Peregrine; KCGPU, which counts without tables, is up to 40 times faster than GAMMA."}
	return s, err
}

// patterns finds frequent patterns by all supports and engines.
func (c *Mine) patterns() (*sheet, error) {
	s := &sheet{key: "patterns", head: table.Row{"edges", "support", "engine", "patterns", "s", "processor s"}}
	for edges := 1; edges <= int(c.Edges); edges++ {
		for _, f := range []mine.Frequency{{By: mine.MNI, Engine: mine.Domains}, {By: mine.MNI, Engine: mine.Domains, AtLeast: true}, {By: mine.Instances, Engine: mine.Census}, {By: mine.Instances, Engine: mine.Tables}} {
			g, about, err := c.graph(c.Data, mine.Options{})
			if err != nil {
				return nil, err
			}
			s.title = fmt.Sprintf("Frequent patterns (GAMMA's Figure 14) with a support of %d on %s", c.Support, about)
			f.Support, f.Edges = min(int64(c.Support), int64(g.Vertices())), edges
			var found []mine.FrequentPattern
			wall, processor, err := clocked(func() (err error) { found, err = g.Frequent(c.ctx, f); return err })
			if errors.As(err, new(*mine.QuestionError)) {
				continue // the census has three edges at most
			}
			if err != nil {
				return nil, err
			}
			by := string(f.By)
			if f.AtLeast {
				by += ", decided"
			}
			cells, data := seconds(wall, processor)
			s.add(append(table.Row{edges, by, f.Engine, len(found)}, cells...), append(fields{{"edges", edges}, {"by", by}, {"engine", f.Engine}, {"patterns", len(found)}}, data...))
		}
	}
	s.notes = []string{"GAMMA counts instances: 86.1 % faster than Pangolin on a CPU, 73.8 % on a GPU, 50.6 % than Peregrine, 24.7 % than GraphMiner."}
	return s, nil
}

// density repeats one job of each kind on graphs of more and more edges.
func (c *Mine) density() (*sheet, error) {
	s := &sheet{key: "density", title: fmt.Sprintf("Density (GAMMA's Figure 15): R-MAT graphs of %d vertices, processor seconds", c.Vertices),
		head: table.Row{"edges a vertex", "q2 by loops", "clique4", fmt.Sprintf("patterns of %d edges, mni", min(c.Edges, 2))}}
	s.notes = []string{"GAMMA: on Kronecker graphs of 2^20 and 2^24 vertices time is about in proportion to the edges."}
	for _, d := range c.Degrees {
		g, _, err := c.graph(fmt.Sprintf("synthetic:vertices=%d,edges=%d,kind=rmat,features=1,classes=20", c.Vertices, int(c.Vertices)*d), mine.Options{Engine: mine.Loops})
		if err != nil {
			return nil, err
		}
		row, data := table.Row{d}, fields{{"degree", d}}
		for i, f := range []func() error{
			func() error { _, err := g.Count(c.ctx, mine.MustPattern("diamond")); return err },
			func() error { _, err := g.Cliques(c.ctx, 4); return err },
			func() error {
				_, err := g.Frequent(c.ctx, mine.Frequency{Support: min(int64(c.Support), int64(g.Vertices())), Edges: int(min(c.Edges, 2))})
				return err
			},
		} {
			_, processor, err := clocked(f)
			if err != nil {
				return nil, err
			}
			row = append(row, fmt.Sprintf("%.3g", processor))
			data = append(data, field{[]string{"q2", "clique4", "patterns"}[i], processor})
		}
		s.add(row, data)
	}
	return s, nil
}

// list says which command makes what of GAMMA's evaluation.
func (c *Mine) list() (*sheet, error) {
	s := &sheet{key: "list", title: "GAMMA's figures and tables", head: table.Row{"of the paper", "what", "command", "GAMMA's number"}}
	gpu := "needs a GPU: go run -tags cuda ./bench counting --device cuda "
	for _, x := range [][4]string{
		{"Figure 5", "rows that are read again by the next extension", "--tables heat, counted", "more than half of the hot pages, up to 70 %"},
		{"Figure 10", "memory", "the column memory of --tables queries,cliques", "up to 310 GB; matching least, cliques most"},
		{"Figures 11, 13", "matching", "--tables queries", "50.6 % faster than GSI, 70.5 % than Peregrine"},
		{"Figure 12", "cliques", "--tables cliques", "67.6 % faster than Pangolin on a GPU, 73.9 % than Peregrine"},
		{"Figure 14, codes, fusion", "frequent patterns", "--tables patterns,rows; " + gpu + "--tables --edges 3 --data D, and with --stored, fusion left out", "86.1 % faster than Pangolin, 73.8 % on a GPU, 50.6 % than Peregrine, 24.7 % than GraphMiner"},
		{"write buffer", "stored levels larger than the card, with one buffer and two", gpu + "--tables --stored --data D", "no figure of its own"},
		{"Figure 15", "density", "--tables density; " + gpu + "--jobs d", "time about in proportion to the edges"},
		{"Figure 16", "threads; warps of the GPU", "--tables threads; " + gpu + "--jobs w", "about as many times as fast as there are warps, to 256"},
		{"Figure 17", "a pool of blocks for listings", gpu + "--jobs i", "21.7 % faster with it"},
		{"Figure 18", "prefixes shared", "--tables queries, the rows without", "a further 25.4 %"},
		{"Figure 19", "sorts larger than memory", "--tables sort, on the CPU; " + gpu + "--sort 4300000000 --gib 16", "34.2 % faster than naive merging, 20.9 % than xtr2sort"},
		{"Figure 20", "rows in host memory", "--tables heat, counted; " + gpu + "--jobs h", "both ways 47.4 % faster than unified memory alone, 51.0 % than reads of host memory alone"},
		{"Table II", "data", "--tables data; their own graphs are not here", "37 thousand to 62 million vertices, 368 thousand to 2.4 billion edges"},
		{"Table III", "sorts of frequent patterns", "as Figure 19", "42.4 s sorted by the CPU, 33.1 by xtr2sort, 35.9 by naive merging, 31.1 by GAMMA"},
		{"Table IV", "cliques beside KCGPU", "--tables cliques", "com-orkut, 4 vertices: 8.2 s; KCGPU 0.46 s"},
	} {
		s.add(table.Row{x[0], x[1], x[2], x[3]}, fields{{"of", x[0]}, {"what", x[1]}, {"command", x[2]}, {"paper", x[3]}})
	}
	return s, nil
}
