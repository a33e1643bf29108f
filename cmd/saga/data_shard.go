package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"sagann/chunk"
	"sagann/chunk/locality"
	"sagann/dataset"
	"sagann/internal/cli"
)

// shardCmd is saga data shard.
type shardCmd struct {
	source
	Hosts  string `default:"2,8,32,125" placeholder:"N,N,.." help:"Numbers of hosts (${default}); one with fewer than 1,000 vertices a host is left out."`
	DryRun bool   `name:"dry-run" help:"Measure only; nothing is written."`
	JSON   bool   `name:"json" help:"With --dry-run: print one JSON object a line."`

	Out       string `placeholder:"DIR" help:"Folder to write, which must not exist."`
	Owners    count  `default:"0" placeholder:"N" help:"Devices of the run, over all its ranks: a shard each."`
	Chunks    count  `default:"0" placeholder:"N" help:"Vertex intervals of the run, a multiple of --owners; default: as many."`
	SelfLoops bool   `help:"Add the self loops that the model would (gcn, gat and others)."`
	Type      string `placeholder:"NAME" help:"Of a graph with several types of vertices: the type whose labels are trained; default: the only one that has labels."`
	Layers    count  `default:"0" placeholder:"N" help:"Of a graph with several types of vertices: layers of the model that gather; only types and relations from which its labels are reached are written. Default: all from which they can be reached."`
	Seed      int64  `default:"1" placeholder:"N" help:"Seed of the random split that labelled vertices without one get (${default})."`
}

// Help is what stands under the usage line.
func (shardCmd) Help() string {
	return `With --out: writes a graph as shards, one for each device of a run over ranks. A rank of saga train --data DIR then
reads the shards of its own devices only, so that no host holds the graph. The edges are streamed, twice.

  saga data shard --data graph.saga --owners 4 --out shards
  mpirun -n 4 saga train --data shards --owners 4 --model sage

Of a graph with several types of vertices there are those types and relations that labels of --type depend on:

  saga data shard --data mag.saga --type paper --layers 2 --owners 4 --chunks 8 --out shards

With --dry-run: says what share of the edges would cross between hosts that own equal shares of the vertices, and how many rows of others
a host would read: rows, as a multiple of the vertices, are what all hosts receive in one pass along the edges. Most rows and most edges are
those of the host that has most, as a multiple of an equal share.

  input order        blocks of the ids
  degree order       blocks of the ids by degree, the largest first
  label propagation  communities that vertices find by taking over the label of most neighbours, then trades between hosts
  LDG                linear deterministic greedy: a stream of the vertices, twice
  random             what is expected of edges between random vertices

A store is read interval by interval, in memory for some numbers a vertex; other formats are loaded.

  saga data shard --data graph.saga --hosts 2,8 --dry-run`
}

// leastOwned is how many vertices a host has at least.
const leastOwned = 1000

// Run writes shards, or measures.
func (c *shardCmd) Run(a *app) error {
	switch {
	case c.DryRun == (c.Out != ""):
		return cli.Usagef("either --out DIR, for shards, or --dry-run, to measure what crosses between hosts")
	case c.DryRun:
		a.Idle("--dry-run", "owners", "chunks", "self-loops", "type", "layers", "seed")
	default:
		a.Idle("shards that are written", "hosts", "json")
	}
	switch {
	case c.Out != "":
		return c.write(a)
	}
	counts, err := c.counts()
	if err != nil {
		return err
	}
	g, closing, err := c.near(a)
	if err != nil {
		return err
	}
	defer closing()
	if !c.JSON {
		fmt.Fprintf(a.Stdout, "%5s  %-18s %9s %9s %9s %10s\n", "hosts", "order", "edges cut", "rows read", "most rows", "most edges")
	}
	shown := false
	for _, n := range counts {
		if g.V < n*leastOwned {
			continue
		}
		shown = true
		for _, way := range locality.Ways() {
			host, err := way.Deal(g, n)
			if err != nil {
				return err
			}
			cut, err := locality.CutOf(g, host, n)
			if err != nil {
				return err
			}
			if err := c.print(a, n, way.Name, g.V, &cut); err != nil {
				return err
			}
		}
		if !c.JSON {
			fmt.Fprintf(a.Stdout, "%5d  %-18s %8.1f%%\n", n, "random", 100*(1-1/float64(n)))
		}
	}
	if !shown {
		return fmt.Errorf("%d vertices are fewer than %d a host, for any of --hosts %s", g.V, leastOwned, c.Hosts)
	}
	return nil
}

func (c *shardCmd) print(a *app, hosts int, order string, v int, cut *locality.Cut) error {
	rows, most, work := float64(cut.Rows)/float64(v), float64(cut.Most)*float64(hosts)/float64(v), float64(cut.Work)*float64(hosts)/float64(max(1, cut.Edges))
	if c.JSON {
		return cli.PrintJSON(a.Stdout, fields{{"hosts", hosts}, {"order", order}, {"edges", cut.Edges}, {"cut", cut.Share()}, {"rows", rows}, {"most_rows", most}, {"most_edges", work}})
	}
	_, err := fmt.Fprintf(a.Stdout, "%5d  %-18s %8.1f%% %8.2fV %9.2f %10.2f\n", hosts, order, 100*cut.Share(), rows, most, work)
	return err
}

// counts are those of --hosts.
func (c *shardCmd) counts() (list []int, err error) {
	for word := range strings.SplitSeq(c.Hosts, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 2 || n > 1<<15 {
			return nil, cli.Usagef("--hosts %s: %q is not a number of hosts, 2 to %d", c.Hosts, word, 1<<15)
		}
		list = append(list, n)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// write writes shards.
func (c *shardCmd) write(a *app) error {
	if c.Owners < 1 || c.Chunks%c.Owners != 0 {
		return cli.Usagef("--owners %d --chunks %d: how many devices has the run, and as many intervals for each", c.Owners, c.Chunks)
	}
	if err := (&target{Out: c.Out}).check(); err != nil {
		return err
	}
	name, err := c.name()
	if err != nil {
		return err
	}
	if c.Tables.isTyped() {
		return c.writeTypes(a, name)
	}
	t, err := c.Tables.tables()
	if err != nil {
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(shardGC))
	defer removedOnSignal(filepath.Clean(c.Out))()
	bar := &progressBar{app: a}
	d, edges, err := dataset.WriteShards(dataset.Sharding{Owners: int(c.Owners), Chunks: int(c.Chunks), SelfLoops: c.SelfLoops,
		Conversion: dataset.Conversion{From: name, Tables: t, Options: c.options(), Out: c.Out, Seed: uint64(c.Seed), Progress: bar.show}})
	bar.finish()
	if cli.SeveralTypes(err) || errors.Is(err, chunk.ErrParts) {
		return c.writeTypes(a, name)
	}
	if err != nil {
		return err
	}
	a.Idle("a graph of one type", "type", "layers")
	warn(a, d)
	_, err = fmt.Fprintf(a.Stdout, "%s: %d shards of %s\n%s", c.Out, c.Owners, cli.Counts(d, edges), changes(d.Report))
	return err
}

// writeTypes writes shards of a graph of several types.
func (c *shardCmd) writeTypes(a *app, name string) error {
	of := dataset.TypedSharding{Target: c.Type, Layers: int(c.Layers)}
	if c.Tables.isTyped() {
		t, err := c.Tables.typed()
		if err != nil {
			return err
		}
		of.Tables = t
	}
	defer debug.SetGCPercent(debug.SetGCPercent(shardGC))
	defer removedOnSignal(filepath.Clean(c.Out))()
	bar := &progressBar{app: a}
	h, edges, err := dataset.WriteTypedShards(dataset.Sharding{Owners: int(c.Owners), Chunks: int(c.Chunks), SelfLoops: c.SelfLoops,
		Conversion: dataset.Conversion{From: name, Options: c.options(), Out: c.Out, Seed: uint64(c.Seed), Progress: bar.show}}, of)
	bar.finish()
	if err != nil {
		return err
	}
	r := warned(a, h)
	_, err = fmt.Fprintf(a.Stdout, "%s: %d shards of %s\n%s", c.Out, c.Owners, describeTypes(h, edges), changes(r))
	return err
}

// shardGC is how much of its memory the program may leave to collect, in percent, over shards, where host memory is bounded and where
// features are sparse: little, as these are the graphs that would fit nowhere otherwise.
const shardGC = 25

// near is the graph; closing gives it up.
func (c *shardCmd) near(a *app) (g *locality.Near, closing func(), err error) {
	name, err := c.name()
	if err != nil {
		return nil, nil, err
	}
	s, err := openStore(name)
	switch {
	case err != nil:
		return nil, nil, err
	case s != nil && (c.Undirected || c.Simple || c.Relabel != "auto"):
		s.Close()
		return nil, nil, cli.Usagef("%s is a store, which is read as it is: saga data convert %s --undirected --out NEW.saga changes its edges", name, name)
	case s != nil:
		g, err := locality.OfStore(s)
		return g, func() { s.Close() }, err
	}
	_, d, err := c.open(a)
	if err != nil {
		return nil, nil, err
	}
	return locality.OfEdges(d.Edges), func() {}, nil
}
