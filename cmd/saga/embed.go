package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/words"
	"sagann/saga"
	"sagann/sample"
)

// embedCmd is saga embed.
type embedCmd struct {
	outFlags
	Type  string         `placeholder:"NAME" help:"Of a run on several types of vertices: the type whose vertices get rows. Default: that of the labels, and of links between two types that at which edges begin. There are rows of the types that the last layer reads, and of links those of both ends."`
	Walks string         `placeholder:"NAME" group:"walks" help:"Learn vectors from walks on the graph of --data instead: deepwalk, node2vec:p=1,q=0.5 or ppr:0.15."`
	Learn walkEmbedFlags `embed:""`
	Hops  hopFlags       `embed:""`
}

// walkEmbedFlags say how vectors are learned from walks.
type walkEmbedFlags struct {
	Length     count   `default:"80" placeholder:"N" group:"walks" help:"Steps of a walk (${default})."`
	PerVertex  count   `name:"per-vertex" default:"10" placeholder:"N" group:"walks" help:"Walks from each vertex (${default})."`
	Dims       count   `default:"128" placeholder:"N" group:"walks" help:"Numbers of a vector (${default})."`
	Window     count   `default:"10" placeholder:"N" group:"walks" help:"Vertices before and after one on a walk that count as near it (${default})."`
	Negative   count   `default:"5" placeholder:"N" group:"walks" help:"Vertices drawn at random for each pair (${default})."`
	WalkEpochs count   `name:"walk-epochs" default:"1" placeholder:"N" group:"walks" help:"Passes over the walks (${default})."`
	Rate       float32 `default:"0.025" placeholder:"X" group:"walks" help:"Learning rate at first; it falls linearly (${default})."`
	Seed       uint64  `default:"1" placeholder:"N" group:"walks" help:"Seed of walks and vectors (${default})."`
	Undirected bool    `group:"walks" help:"Add the reverse of every edge that has none."`
}

// Help is what stands under the usage line.
func (embedCmd) Help() string {
	return `Examples:

  saga embed saga-run-0001 --out rows.npy
  saga embed --data blogcatalog/ --walks node2vec:p=1,q=0.5 --dims 128 --out vectors.npy
  saga embed --data cora/ --children 25 --leaves 10 --weights matrices/ --out rows.npy

There is a row for every vertex, in the order of the data: the one that enters the last layer. Of a run of
--task link it is the row that links are scored by, with --width columns; of --task edge the row that the ends of
edges are scored by. Of several types of vertices --type chooses one whose rows enter the last layer, and of links the end. Of --task graph there is a row for every graph instead, made of those of its vertices
(--readout). A .csv begins each row with the vertex's id, or the graph's number from 0.

With --walks no checkpoint is read: vectors are learned from random walks by skip-gram with negative
draws (DeepWalk, node2vec). One thread learns while all draw walks; equal settings give equal vectors.

With --children each vertex is embedded by two layers of GraphSAGE over in-edges that it and they draw, with the
matrices given (of features: wf1 and wa1; of the first layer's rows: wf2 and wa2). Rows have Euclidean norm 1.`
}

// Run embeds.
func (c *embedCmd) Run(a *app) error {
	if err := c.flags(a); err != nil {
		return err
	}
	c.idle(a, c.Out)
	switch {
	case c.Walks != "":
		return c.fromWalks(a)
	case c.Hops.Children > 0:
		return c.fromHops(a)
	}
	t, x, cols, err := c.infer(a, "embeddings", c.Type)
	if err != nil {
		return err
	}
	if t.data.Vertices.Kinds != nil {
		return c.writeType(a, t, x, cols)
	}
	row := saga.VertexTask
	if t.task() == saga.GraphTask {
		row = saga.GraphTask
	}
	return c.write(a, x, cols, string(row), t.ids(string(row)), t.parameters())
}

// ofType are the vertices of that type, of which a run for labels of vertices embeds those of another type than it predicts, too; "": of the run.
func (t *trained) ofType(name string) (*dataset.Data, error) {
	k := t.data.Vertices.Kinds
	switch {
	case name == "" || t.task() == saga.LinkTask && k != nil:
		return t.data, nil
	case k == nil:
		return nil, cli.Usagef("--type %s: %s has one type of vertices", name, t.name)
	}
	n, err := k.Graph.Type(name)
	if err != nil {
		return nil, cli.Usagef("--type %s: %w", name, err)
	}
	if n == k.Type {
		return t.data, nil
	}
	if t.list != nil {
		return nil, cli.Usagef("--type %s: --vertices and --add are of vertices of type %s, which the run predicts", name, k.Graph.Types[k.Type].Name)
	}
	return k.Graph.Types[n].Rows, nil
}

// writeType writes the rows of a type of vertices: of links those of either end, else of the type of --type or that the run predicts.
func (c *embedCmd) writeType(a *app, t *trained, x []float32, cols int) error {
	k := t.data.Vertices.Kinds
	if t.task() != saga.LinkTask {
		d, err := t.ofType(c.Type)
		if err != nil {
			return err
		}
		ids := t.ids(string(saga.VertexTask))
		if d != t.data {
			ids = idsOf(d)
		}
		return c.write(a, x, cols, string(saga.VertexTask), ids, " of vertices of type "+cmp.Or(c.Type, k.Graph.Types[k.Type].Name)+t.parameters())
	}
	ends := []int{k.Type}
	if r := k.Graph.Relations[k.Relation]; r.Target != r.Source {
		ends = append(ends, r.Target)
	}
	var names []string
	for _, e := range ends {
		names = append(names, k.Graph.Types[e].Name)
	}
	at := max(0, slices.Index(names, c.Type))
	if c.Type != "" && names[at] != c.Type {
		return cli.Usagef("--type %s: the run gives rows of the vertices of type %s", c.Type, listed(names))
	}
	about := " of vertices of type " + names[at]
	if c.Type == "" && len(names) > 1 {
		about += " (--type " + names[1] + ": those of the other end)"
	}
	ids := t.ids(string(saga.VertexTask))
	if n := k.Graph.Types[ends[0]].Rows.Edges.V * cols; len(ends) > 1 {
		if at == 0 {
			x = x[:n]
		} else {
			x, ids = x[n:], idsOf(k.Graph.Types[ends[1]].Rows)
		}
	}
	return c.write(a, x, cols, string(saga.VertexTask), ids, about+t.parameters())
}

// idsOf are the user's ids of the vertices of d, nil where they are their numbers.
func idsOf(d *dataset.Data) func(int) string {
	if d.HasIDs() {
		return d.ID
	}
	return nil
}

// flags refuses those that do not belong to the way in which rows are made.
func (c *embedCmd) flags(a *app) error {
	given := func(names ...string) string {
		for _, name := range names {
			if a.Given[name] {
				return name
			}
		}
		return ""
	}
	walks, hops := c.Walks != "", c.Hops.Children > 0
	ofWalks := given("length", "per-vertex", "dims", "window", "negative", "walk-epochs", "rate")
	ofHops := given("leaves", "weights", "width", "self-neighbours", "bf16")
	both, ofRuns := given("seed", "undirected"), given("host-mem", "scratch", "vertices", "add", "type")
	switch {
	case walks && hops:
		return cli.Usagef("--walks and --children: rows come from one of them")
	case !walks && ofWalks != "":
		return cli.Usagef("--%s is of embeddings from walks: give --walks", ofWalks)
	case !hops && ofHops != "":
		return cli.Usagef("--%s is of embeddings from sampled in-edges: give --children", ofHops)
	case !walks && !hops && both != "":
		return cli.Usagef("--%s is of embeddings from walks or from sampled in-edges: give --walks or --children, too", both)
	case (walks || hops) && ofRuns != "":
		return cli.Usagef("--%s is of embeddings by the checkpoint of a run", ofRuns)
	case walks && (!device.Host(c.Device) || a.Given["mem"]):
		return cli.Usagef("--walks runs on the CPU, without a bound on memory: neither --device nor --mem goes with it")
	case hops && device.Host(c.Device) && a.Given["mem"]:
		return cli.Usagef("--mem with --children is the memory of a GPU: give --device cuda, too")
	case (walks || hops) && c.checkpointFlags.Run+c.Checkpoint != "":
		return cli.Usagef("--%s and a checkpoint: rows come from one of them", map[bool]string{true: "walks", false: "children"}[walks])
	}
	return nil
}

// graph is that of --data for walks and sampled in-edges.
func (c *embedCmd) graph(a *app) (*dataset.Data, error) {
	d, err := cli.OpenData(c.Data, dataset.Options{Undirected: c.Learn.Undirected})
	if err == nil {
		tell(a, c.Data, d, !c.Learn.Undirected)
	}
	return d, err
}

// write writes rows of cols columns; of is said of them.
func (c *embedCmd) write(a *app, x []float32, cols int, row string, ids func(int) string, of string) error {
	w := table{csvForm: c.csvForm, path: c.Out, name: "embeddings", row: row, column: "x", ids: ids, shape: []int{len(x) / cols, cols}}
	if err := writeTable(w, x); err != nil {
		return err
	}
	_, err := fmt.Fprint(a.Stdout, words.Text("%s: %d {row|rows} of %d {column|columns}%s\n", c.Out, len(x)/cols, cols, of))
	return err
}

// fromWalks learns vectors from walks.
func (c *embedCmd) fromWalks(a *app) error {
	if err := canWrite("out", c.Out, ".npy", ".csv", ".safetensors"); err != nil {
		return err
	}
	spec, err := sample.Parse(c.Walks, int(c.Learn.Length))
	switch {
	case err != nil:
		return cli.Usage(err)
	case spec.Sampler.Output != sample.Steps || spec.Sampler.Roots > 1:
		return cli.Usagef("--walks %s: vectors are learned from deepwalk, node2vec or ppr", c.Walks)
	case c.Data == "":
		return cli.Usagef("--walks %s: of which graph? Give --data", c.Walks)
	}
	d, err := c.graph(a)
	if err != nil {
		return err
	}
	w, err := newWalker(d.Edges, nil, spec, int64(c.Learn.PerVertex), c.Learn.Seed)
	if err != nil {
		return inIDs(d, err)
	}
	w.piece = min(w.piece, 1<<14)
	learn := sample.SkipGram{Dims: int(c.Learn.Dims), Window: int(c.Learn.Window), Negative: int(c.Learn.Negative), Epochs: int(c.Learn.WalkEpochs), Rate: c.Learn.Rate, Seed: c.Learn.Seed}
	bar := &lateBar{a: a, start: time.Now()}
	done, all := 0, w.n*(1+learn.Epochs)
	x, err := learn.Train(d.Edges.V, func(f func(walk []uint32) error) error {
		var walk []uint32
		return w.each(func(s *sample.Samples) error {
			for i := range s.N {
				walk = s.Vertices(walk[:0], i)
				if err := f(walk); err != nil {
					return err
				}
			}
			done += s.N
			bar.set(float64(done) / float64(all))
			return nil
		})
	})
	bar.finish()
	if err != nil {
		return err
	}
	return c.write(a, x, int(c.Learn.Dims), "vertex", idsOf(d), "")
}
