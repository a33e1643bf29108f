package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/progress"
	"sagann/internal/words"
	"sagann/mine"
)

// mineCmd is saga mine.
type mineCmd struct {
	Clique cliqueCmd `cmd:"" help:"Count cliques."`
	Match  matchCmd  `cmd:"" help:"Count or list the subgraphs that match a pattern."`
	Motif  motifCmd  `cmd:"" help:"Count all connected patterns of a size."`
	Fpm    fpmCmd    `cmd:"" help:"Find the frequent patterns."`
}

// Help is what stands under the usage line.
func (mineCmd) Help() string {
	return `Patterns are names (triangle, diamond, house, clique4, cycle5, path4, star5 and so on),
edges such as "0-1-2-3-0", pairs without an edge such as "0~2", and labels such as "1:7";
a file holds the same. Vertices are numbered from 0, at most eight.

A match is edge-induced: pairs that the pattern does not mention may have an edge. Motifs
are induced. Subgraphs are counted once, however many symmetries a pattern has. The graph
is undirected; loops and repeated edges are dropped.

Examples:

  saga mine clique --k 4 --data blogcatalog/
  saga mine match --pattern house --data edges.csv --undirected
  saga mine match --pattern "0:1-1:2 1-2:1" --data cora/ --out matches.csv --limit 100
  saga mine motif --k 4 --data edges.saga --json
  saga mine fpm --support 100 --edges 3 --data cora/`
}

// mineFlags are what all commands of saga mine share.
type mineFlags struct {
	Data       string `required:"" placeholder:"PATH" group:"data" help:"The graph: a folder, a file, karate or synthetic[:..]."`
	Undirected bool   `group:"data" help:"Add the reverse of every edge that has none."`
	Relabel    string `default:"auto" enum:"auto,never,always" placeholder:"WHEN" group:"data" help:"Number the vertices of an edge list anew: auto, never or always (${default}). Listings have the numbers of the file."`
	Labels     string `placeholder:"FILE" group:"data" help:"Labels of the vertices: a text with a number or word, or an id and a label, on each line, or a .npy of numbers in the order of the data; -1 for none. Default: those of the data."`
	Device     string `default:"cpu" placeholder:"NAME" group:"options" help:"cpu, or in a build for NVIDIA GPUs cuda or cuda:0,1 (${default}). Results do not depend on it."`
	Mem        memory `default:"auto" placeholder:"SIZE" group:"options" help:"Memory for the graph's rows and the work, on each GPU if there are any; auto: what it takes, or what is free there."`
	Threads    auto   `default:"auto" placeholder:"N" group:"options" help:"Threads; auto: as many as processors. Results do not depend on it."`
	Explain    bool   `group:"options" help:"Print plan, estimates and memory, and do not run."`
	JSON       bool   `name:"json" group:"options" help:"Print one JSON object on the last line of standard output."`

	bar  *lateBar
	data *dataset.Data
}

// countFlags are the flags of the commands that count and list matches.
type countFlags struct {
	mineFlags
	Engine  string   `default:"auto" enum:"auto,formula,bits,maps,loops,join" placeholder:"NAME" group:"options" help:"auto, formula, bits, maps, loops or join (${default})."`
	Without []string `placeholder:"PART" group:"options" help:"What to leave out, for measuring: reuse (of sets by several loops), pool (of blocks that GPUs list into). Results do not depend on it."`
}

// open loads the graph.
func (f *countFlags) open(a *app) (*mine.Graph, error) {
	for _, w := range f.Without {
		if w != "reuse" && w != "pool" {
			return nil, cli.Usagef("--without %s: there are reuse and pool", w)
		}
	}
	return f.openWith(a, mine.Options{Engine: mine.Engine(f.Engine), NoReuse: slices.Contains(f.Without, "reuse"), NoPool: slices.Contains(f.Without, "pool")})
}

// openWith loads the graph. The flags are added to opt.
func (f *mineFlags) openWith(a *app, opt mine.Options) (*mine.Graph, error) {
	if err := oneCPU(f.Device); err != nil {
		return nil, err
	}
	device.Warm(f.Device, false)
	relabel := map[string]dataset.Relabel{"auto": dataset.RelabelAuto, "never": dataset.RelabelNever, "always": dataset.RelabelAlways}
	d, err := cli.OpenData(f.Data, dataset.Options{Undirected: f.Undirected, Relabel: relabel[f.Relabel]})
	if err != nil {
		return nil, err
	}
	tell(a, f.Data, d, false) // a graph of directed edges is refused
	if f.Labels != "" {
		var names []string
		if d.Labels, names, err = dataset.ReadLabels(f.Labels, d); err != nil {
			return nil, err
		}
		if names != nil {
			a.Log.Info(fmt.Sprintf("%s: labels were numbered from 0 in this order, and patterns have these numbers: %.200s", f.Labels, strings.Join(names, ", ")))
		}
	}
	f.data = d
	f.bar = &lateBar{a: a, start: time.Now()}
	opt.Labels, opt.Device, opt.Threads, opt.Mem, opt.Progress = d.Labels, f.Device, int(f.Threads), int64(f.Mem), f.bar.set
	g, err := mine.Open(d.Edges, opt)
	return g, usage(inIDs(d, err))
}

// closed adds what closing the graph says to the error of a command.
func closed(g *mine.Graph, err *error) { *err = errors.Join(usage(*err), g.Close()) }

// usage makes a question that does not go with the graph or with the engine a mistake in the command line.
func usage(err error) error {
	var question *mine.QuestionError
	if errors.As(err, &question) {
		return cli.Usage(err)
	}
	return err
}

// lateBar is a bar that appears once the work has taken a second.
type lateBar struct {
	a     *app
	start time.Time
	mu    sync.Mutex
	bar   *progress.Bar
}

// set shows the share of the work that is done.
func (b *lateBar) set(done float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bar == nil && time.Since(b.start) > time.Second {
		b.bar = progress.New(b.a.Stderr, 100, "percent")
	}
	if b.bar != nil {
		b.bar.Set(int(100*done), "")
	}
}

func (b *lateBar) finish() {
	if b != nil && b.bar != nil {
		b.bar.Finish()
	}
}

// about is the graph in the result: fields for JSON, a line for people.
func (f *mineFlags) about(g *mine.Graph) (fields, string) {
	loops, repeats := g.Dropped()
	return fields{{"vertices", g.Vertices()}, {"edges", g.Edges()}, {"dropped_loops", loops}, {"dropped_repeats", repeats}},
		words.Text("graph     %d {vertex|vertices}, %d {edge|edges}; %d {loop|loops} and %d repeated {entry|entries} dropped\n", g.Vertices(), g.Edges(), loops, repeats)
}

// result prints fields as JSON, or the text.
func (f *mineFlags) result(a *app, x fields, text string) error {
	f.bar.finish()
	if f.JSON {
		return cli.PrintJSON(a.Stdout, x)
	}
	_, err := fmt.Fprint(a.Stdout, text)
	return err
}

// count counts one pattern.
func (f *countFlags) count(a *app, g *mine.Graph, p mine.Pattern, induced bool) error {
	var options []mine.Option
	if induced {
		options = append(options, mine.Induced)
	}
	x, text := f.about(g)
	prepared, err := g.Prepare(p, options...)
	if err != nil {
		return err
	}
	if f.Explain {
		e, err := prepared.Explain()
		if err != nil {
			return err
		}
		return f.result(a, append(x, field{"explain", e}), text+e.String())
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	start := time.Now()
	n, err := prepared.Count(ctx)
	if err != nil {
		f.bar.finish()
		return err
	}
	x = append(x, field{"pattern", p.String()}, field{"name", p.Name()}, field{"induced", induced}, field{"engine", prepared.Engine()},
		field{"count", n}, field{"seconds", time.Since(start).Seconds()})
	text += fmt.Sprintf("pattern   %s\ncount     %s (%s, engine %s)\n", strings.TrimSpace(p.String()+" "+p.Name()), n, inducedText(induced), prepared.Engine())
	return f.result(a, x, text)
}

func inducedText(induced bool) string {
	if induced {
		return "induced"
	}
	return "edge-induced"
}

// cliqueCmd is saga mine clique.
type cliqueCmd struct {
	countFlags
	K int `name:"k" default:"3" placeholder:"N" help:"Vertices of a clique, 2 to 8 (${default})."`
}

// Run counts cliques.
func (c *cliqueCmd) Run(a *app) (err error) {
	if c.K < 2 || c.K > 8 {
		return cli.Usagef("--k %d: a clique has 2 to 8 vertices", c.K)
	}
	g, err := c.open(a)
	if err != nil {
		return err
	}
	defer closed(g, &err)
	return c.count(a, g, mine.MustPattern(fmt.Sprintf("clique%d", c.K)), false)
}

// motifCmd is saga mine motif.
type motifCmd struct {
	countFlags
	K           int  `name:"k" default:"3" placeholder:"N" help:"Vertices of a motif, 3 to 6 (${default})."`
	EdgeInduced bool `help:"Count edge-induced subgraphs, not induced ones."`
}

// Run counts motifs.
func (c *motifCmd) Run(a *app) (err error) {
	if c.K < 3 || c.K > mine.MaxMotif {
		return cli.Usagef("--k %d: a motif has 3 to %d vertices", c.K, mine.MaxMotif)
	}
	g, err := c.open(a)
	if err != nil {
		return err
	}
	defer closed(g, &err)
	x, text := c.about(g)
	option := mine.Induced
	if c.EdgeInduced {
		option = mine.EdgeInduced
	}
	if c.Explain {
		all, err := g.ExplainMotifs(c.K)
		if err != nil {
			return err
		}
		seconds := 0.0
		for _, e := range all {
			text += e.String()
			seconds += e.Seconds
		}
		text += fmt.Sprintf("together  about %.2g s\n", seconds)
		return c.result(a, append(x, field{"explain", all}), text)
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	start := time.Now()
	all, err := g.Motifs(ctx, c.K, option)
	if err != nil {
		c.bar.finish()
		return err
	}
	text += fmt.Sprintf("motifs    of %d vertices, %s\n", c.K, inducedText(!c.EdgeInduced))
	var list []fields
	for _, m := range all {
		text += fmt.Sprintf("%24s  %s\n", m.Count, strings.TrimSpace(m.Pattern.String()+"  "+m.Name))
		list = append(list, fields{{"pattern", m.Pattern.String()}, {"name", m.Name}, {"count", m.Count}})
	}
	return c.result(a, append(x, field{"induced", !c.EdgeInduced}, field{"motifs", list}, field{"seconds", time.Since(start).Seconds()}), text)
}

// matchCmd is saga mine match.
type matchCmd struct {
	countFlags
	Pattern string  `required:"" placeholder:"TEXT" help:"The pattern, or the path of a file that holds it."`
	Induced bool    `help:"Pairs without an edge in the pattern must not have one in the graph."`
	Out     string  `placeholder:"FILE" help:"File to list the matches in: .npy or .csv. Without it they are counted."`
	Form    csvForm `embed:""`
	Limit   count   `default:"0" placeholder:"N" help:"With --out: the first N matches in the order of the listing; 0: all."`
}

// read is the pattern, from the text or from a file of that name.
func (c *matchCmd) read() (mine.Pattern, error) {
	if ext := filepath.Ext(c.Pattern); ext != "" || strings.ContainsRune(c.Pattern, filepath.Separator) {
		return mine.ReadPattern(c.Pattern)
	}
	p, err := mine.ParsePattern(c.Pattern)
	if err != nil {
		err = cli.Usage(fmt.Errorf("--pattern: %w", err))
	}
	return p, err
}

// Run counts or lists matches.
func (c *matchCmd) Run(a *app) (err error) {
	p, err := c.read()
	if err != nil {
		return err
	}
	if c.Out == "" && c.Limit > 0 {
		return cli.Usagef("--limit is for listings: give --out FILE, too")
	}
	if c.Out != "" {
		if err := canWrite("out", c.Out, ".npy", ".csv"); err != nil {
			return err
		}
		if e := mine.Engine(c.Engine); e != mine.Auto && e != mine.Loops {
			return cli.Usagef("--engine %s only counts: listings (--out) are made by loops", e)
		}
	}
	c.Form.idle(a, c.Out)
	g, err := c.open(a)
	if err != nil {
		return err
	}
	defer closed(g, &err)
	if c.Out == "" {
		return c.count(a, g, p, c.Induced)
	}
	tellNumbers(a, c.Out, ".csv", c.data)
	var options []mine.Option
	if c.Induced {
		options = append(options, mine.Induced)
	}
	x, text := c.about(g)
	if c.Explain {
		a.Log.Warn("--explain prints and does not run: --out " + c.Out + " is not written")
		e, err := g.ExplainMatch(p, options...)
		if err != nil {
			return err
		}
		return c.result(a, append(x, field{"explain", e}), text+e.String())
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	n, err := c.Form.writeMatches(c.Out, p.Vertices(), c.data, g.Match(ctx, p, append(options, mine.Limit(int64(c.Limit)))...))
	if err != nil {
		c.bar.finish()
		return err
	}
	x = append(x, field{"pattern", p.String()}, field{"induced", c.Induced}, field{"listed", n}, field{"out", c.Out})
	return c.result(a, x, text+words.Text("%s: %d {match|matches} of %s, %s\n", c.Out, n, p, inducedText(c.Induced)))
}
