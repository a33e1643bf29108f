package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/cheggaaa/pb/v3"
	"github.com/mattn/go-isatty"

	"sagann/dataset"
	"sagann/internal/cli"
)

// convertCmd is saga data convert.
type convertCmd struct {
	source
	target
	Metapath []string `sep:"none" placeholder:"NAME=RELATIONS" help:"Of a graph with several types: add a relation of paths, as RELATION,RELATION, with ~RELATION to go against its direction: pap=~writes,writes joins papers of one author."`
	Seed     int64    `default:"1" placeholder:"N" help:"Seed of the random split that labelled vertices without one get (${default})."`
}

// Help is what stands under the usage line.
func (convertCmd) Help() string {
	return `Examples:

  saga data convert processed/data.pt --out graph.saga
  saga data convert ogbn_arxiv/ --undirected --out graph.saga
  saga data convert --edges follows.csv --vertices users.csv --id user --label country --features 'f*' --out graph.saga
  saga train --data graph.saga

Edges are directed and kept as they are unless --undirected or --simple is given. docs/data.md tells how each
format is read.`
}

// Run converts. A store is written piece by piece, so that the graph may be larger than
// memory; a folder of .npy files is not.
func (c *convertCmd) Run(a *app) error {
	if c.Seed < 0 {
		return cli.Usagef("--seed %d: must be at least 0", c.Seed)
	}
	if err := c.check(); err != nil {
		return err
	}
	name, err := c.name()
	if err != nil {
		return err
	}
	c.Tables.Seed = uint64(c.Seed)
	t, err := c.Tables.tables()
	if err != nil {
		return err
	}
	_, isSpec := cli.SyntheticSpec(name)
	if c.Tables.isTyped() && c.Format != "npy" {
		return c.types(a, name)
	}
	if c.Format == "npy" || t == nil && (isSpec || name == "karate") {
		return c.inMemory(a)
	}
	out := filepath.Clean(c.Out)
	defer removedOnSignal(out)()
	bar := &progressBar{app: a}
	d, edges, err := dataset.Convert(dataset.Conversion{From: name, Tables: t, Options: c.options(), Out: out, Base: int(c.Base), Seed: uint64(c.Seed), Progress: bar.show})
	bar.finish()
	if cli.SeveralTypes(err) {
		return c.types(a, name)
	}
	if err != nil {
		return err
	}
	a.Idle("a graph of one type", "metapath")
	warn(a, d)
	text := c.Out + ": " + cli.Counts(d, edges)
	text += cli.DescribeLabels(d)
	_, err = fmt.Fprintf(a.Stdout, "%s, from %s\n%s", text, d.Report.Form, changes(d.Report))
	return err
}

// metapaths are those of --metapath.
func (c *convertCmd) metapaths() (list []dataset.Metapath, err error) {
	for _, text := range c.Metapath {
		m, err := dataset.ParseMetapath(text)
		if err != nil {
			return nil, cli.Usagef("--metapath %w", err)
		}
		list = append(list, m)
	}
	return list, nil
}

// types converts a graph of several types.
func (c *convertCmd) types(a *app, name string) error {
	var t *dataset.HeteroTables
	if c.Tables.isTyped() {
		var err error
		if t, err = c.Tables.typed(); err != nil {
			return err
		}
	}
	paths, err := c.metapaths()
	if err != nil {
		return err
	}
	defer removedOnSignal(filepath.Clean(c.Out))()
	bar := &progressBar{app: a}
	h, edges, err := dataset.ConvertHetero(dataset.Conversion{From: name, Options: c.options(), Out: filepath.Clean(c.Out), Base: int(c.Base), Seed: uint64(c.Seed), Progress: bar.show}, t, paths)
	bar.finish()
	if err != nil {
		return err
	}
	r := warned(a, h)
	_, err = fmt.Fprintf(a.Stdout, "%s: %s, from %s\n%s", c.Out, describeTypes(h, edges), r.Form, changes(r))
	return err
}

func (c *convertCmd) inMemory(a *app) error {
	_, d, err := c.open(a)
	if cli.SeveralTypes(err) {
		return cli.Usagef("%w: without --format npy it is written as a store", err)
	}
	if err != nil {
		return err
	}
	if err := dataset.DefaultSplit(d, dataset.VertexLabels, uint64(c.Seed)); err != nil {
		return err
	}
	if err := c.write(d); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s\n%s", c.Out, cli.Describe(d), changes(d.Report))
	return err
}

// progressBar shows what a conversion reads: a bar on a terminal, elsewhere a line
// every ten seconds.
type progressBar struct {
	app  *app
	bar  *pb.ProgressBar
	what string
	last time.Time
}

// lineEvery is how often progress is logged where there is no terminal.
const lineEvery = 10 * time.Second

func (p *progressBar) show(what string, done, of int) {
	if !isatty.IsTerminal(p.app.Stderr.Fd()) {
		if p.last.IsZero() {
			p.last = time.Now()
		}
		if time.Since(p.last) > lineEvery {
			p.last = time.Now()
			p.app.Log.Info("reading", "what", what, "done", share(done, of))
		}
		return
	}
	if what != p.what {
		p.finish()
		p.what = what
		p.bar = pb.New(of).SetWriter(p.app.Stderr).Set("prefix", what+" ").Start()
	}
	p.bar.SetCurrent(int64(done))
}

func (p *progressBar) finish() {
	if p.bar != nil {
		p.bar.Finish()
		p.bar = nil
	}
}
