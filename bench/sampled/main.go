// Package sampled times training on sampled blocks: batch by batch, or whole epochs. It also writes the blocks for
// peer.py, which trains on the same blocks in PyTorch Geometric.
//
//	go run ./bench sampled --batches 5 --out blocks
//	python3 bench/sampled/peer.py blocks
package sampled

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"sagann/bench/measure"
	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// Command is bench sampled.
type Command struct {
	Data    string     `default:"vertices=1000000,edges=30000000,features=100,classes=47" placeholder:"SPEC" help:"Synthetic graph (${default})."`
	Batches int        `default:"5" placeholder:"N" help:"Timed batches; one more runs before them (${default})."`
	Serve   string     `placeholder:"FOLDER" help:"Folder for the edges; commands that say what to time are then read from standard input (alternate.py)."`
	Match   int        `placeholder:"N" help:"Instead: how many rows consecutive batches of --batches share, also in the best order within windows of so many, on the graph of --data or --shape."`
	Memory  int        `placeholder:"N" help:"Instead: how much memory drawing --batches takes on a random graph of so many edges."`
	Out     string     `placeholder:"FOLDER" help:"For the blocks of the batches, or for the graph of the epochs (pyg_epoch.py)."`
	With    settings   `embed:""`
	Graph   graphFlags `embed:""`
	epochFlags
	Ablation []string `placeholder:"NAME" help:"Instead: on these graphs, such as reddit,products_fastgl,mag, time --epochs with every part of sampled training and without each, in turns."`
	Models   []string `default:"gcn,gin,gat" placeholder:"NAME" help:"Models of the ablation (${default})."`
	Parts    []string `default:"fuse,draw,in-place,match,stream" placeholder:"NAME" help:"What the ablation leaves out (${default})."`

	args []string // that the command was given
}

// settings are those of the model and its sampler.
type settings struct {
	Model      string  `default:"sage" placeholder:"NAME" help:"Model (${default})."`
	Hidden     int     `default:"256" placeholder:"N" help:"Columns between layers (${default})."`
	Batch      int     `default:"1024" placeholder:"N" help:"Seeds of a batch (${default})."`
	Sample     string  `default:"15,10,5" placeholder:"N" help:"Fan-outs (${default})."`
	Sampler    string  `placeholder:"SPEC" help:"Sampler of the epochs in place of --sample, which then says how many layers there are: ladies:512,512,512."`
	Eval       string  `placeholder:"N" help:"Fan-outs of evaluation, which is planned but not timed; default: exact evaluation."`
	Device     string  `placeholder:"NAME" help:"Device of the epochs, such as cuda."`
	Mem        int64   `placeholder:"BYTES" help:"Its memory; 0: what it takes."`
	Cache      float64 `placeholder:"X" help:"Share of feature rows on the GPU; 0: all, below 0: none."`
	Accumulate int     `placeholder:"N" help:"Batches of an update; 0: as many as there are devices."`
	Alone      bool    `help:"Copy rows again that the previous batch has, too."`
	Without    string  `placeholder:"PART" help:"Parts that the epochs leave out: in-place,draw."`
	TF32       bool    `name:"tf32" help:"Products may round to TF32."`
}

// epochFlags say how epochs are timed.
type epochFlags struct {
	Epochs  int    `placeholder:"N" help:"Instead: time so many whole epochs, after one that is not timed, on a graph of products' shape."`
	Table   bool   `help:"Print a row for each run of the epochs, with what drawing alone takes."`
	Profile bool   `help:"Time every kernel of a batch."`
	Then    string `placeholder:"RUNS" help:"Further runs on that graph, with other flags: 'tf32=true; cache=-1 alone=true'."`
}

// graphFlags are the sizes of the graph of the epochs.
type graphFlags struct {
	Shape    string `placeholder:"NAME" help:"Sizes of that graph: reddit, products, products_fastgl (with the 200 features of FastGL's), mag, papers100M; tiny tries a command. The flags below change them."`
	Vertices int    `placeholder:"N" help:"Of that graph."`
	Edges    int    `placeholder:"N" help:"Of that graph, in both directions."`
	Train    int    `placeholder:"N" help:"Its training vertices."`
	Features int    `placeholder:"N" help:"Of its vertices."`
	Classes  int    `placeholder:"N" help:"Of its vertices."`
}

// AfterApply keeps the arguments, which the runs of --then change.
func (c *Command) AfterApply(ctx *kong.Context) error {
	c.args = ctx.Args
	return nil
}

// again is the command with further flags, each as name=value.
func (c *Command) again(flags []string) (*Command, error) {
	var root struct {
		Sampled Command `cmd:""`
	}
	k, err := kong.New(&root, kong.Exit(func(int) {}))
	if err != nil {
		return nil, err
	}
	args := slices.Clone(c.args)
	for _, f := range flags {
		args = append(args, "--"+f)
	}
	_, err = k.Parse(args)
	return &root.Sampled, err
}

// Run times what the flags say.
func (c *Command) Run(a *cli.App) error {
	e, err := c.epochs()
	if err != nil {
		return cli.Usage(err)
	}
	if err := c.known(); err != nil {
		return cli.Usage(err)
	}
	switch {
	case c.Memory > 0:
		return sizeOfSampling(c.Memory, c.Batches)
	case c.Match > 0:
		return e.match()
	case len(c.Ablation) > 0:
		return e.ablate(c.Ablation, c.Models, c.Parts)
	case c.Epochs > 0:
		return e.run()
	}
	a.Idle("batches without --epochs", "sampler", "eval", "device", "mem", "cache", "accumulate", "alone", "without", "tf32", "table", "profile", "then", "shape", "vertices", "edges", "train", "features", "classes")
	return c.batches()
}

// known refuses names of parts that there are not.
func (c *Command) known() error {
	for _, name := range c.Parts {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.without == name }) {
			return fmt.Errorf("--parts %s: fuse, draw, in-place, match or stream", name)
		}
	}
	return nil
}

// batches times batch after batch.
func (c *Command) batches() error {
	s, err := dataset.ParseSpec(c.Data)
	if err != nil {
		return err
	}
	d, err := dataset.Synthetic(s)
	if err != nil {
		return err
	}
	sizes, err := sizesOf(c.With.Sample)
	if err != nil {
		return err
	}
	m, err := layers.New(c.With.Model, layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: c.With.Hidden, Layers: len(sizes)})
	if err != nil {
		return err
	}
	p, err := saga.CompileSampled(m, d, saga.Config{Seed: 1}, saga.Sampling{Sampler: sample.Neighbours(sizes...), Batch: c.With.Batch})
	if err != nil {
		return err
	}
	defer p.Close()
	if c.Serve != "" {
		if err := writeGraph(d, c.Serve); err != nil {
			return err
		}
		fmt.Println("ready")
		return serve(d, sizes, c.With.Batch, c.Batches, p, os.Stdin, os.Stdout)
	}
	if err := p.Overview(os.Stdout); err != nil {
		return err
	}
	if c.Out != "" {
		if err := write(d, sizes, c.With.Batch, c.Batches, c.Out); err != nil {
			return err
		}
	}
	var wall, cpu []float64
	for i := range c.Batches + 1 {
		start, before := time.Now(), measure.CPUSeconds()
		loss, err := p.Step()
		if err != nil {
			return err
		}
		if i > 0 {
			wall, cpu = append(wall, time.Since(start).Seconds()), append(cpu, measure.CPUSeconds()-before)
		}
		fmt.Printf("batch %d: loss %.4f, %.3f s, %.3f processor seconds\n", i, loss, time.Since(start).Seconds(), measure.CPUSeconds()-before)
	}
	fmt.Printf("median %.3f s, %.3f processor seconds a batch, with %d processors\n", measure.Median(wall), measure.Median(cpu), runtime.GOMAXPROCS(0))
	return nil
}

func sizesOf(fanouts string) (sizes []int, err error) {
	for _, text := range strings.Split(fanouts, ",") {
		k, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("fan-outs %s: %q is not a whole number", fanouts, text)
		}
		sizes = append(sizes, k)
	}
	return sizes, nil
}

// write draws n batches of training vertices and writes their blocks and features.
func write(d *dataset.Data, sizes []int, size, n int, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	g, err := sample.NewGraph(d.Edges)
	if err != nil {
		return err
	}
	prog, err := sample.Compile(g, sample.Neighbours(sizes...))
	if err != nil {
		return err
	}
	var b sample.Blocks
	for i := range min(n, len(d.Train)/size) {
		if err := prog.Blocks(&b, d.Train[i*size:(i+1)*size], sample.Key{Seed: 1, Batch: uint32(i)}); err != nil {
			return err
		}
		path := func(name string) string { return filepath.Join(dir, fmt.Sprintf("%d-%s.npy", i, name)) }
		counts := make([]int64, len(b.Counts))
		for l, c := range b.Counts {
			counts[l] = int64(c)
		}
		rows := make([]float32, 0, len(b.Vertices)*d.FeatureCols)
		labels := make([]int32, b.Counts[0])
		for k, v := range b.Vertices {
			rows = append(rows, d.Features[int(v)*d.FeatureCols:(int(v)+1)*d.FeatureCols]...)
			if k < len(labels) {
				labels[k] = d.Labels[v]
			}
		}
		for _, err := range []error{npy.Write(path("counts"), []int{len(counts)}, counts), npy.Write(path("labels"), []int{len(labels)}, labels),
			npy.Write(path("features"), []int{len(b.Vertices), d.FeatureCols}, rows)} {
			if err != nil {
				return err
			}
		}
		for l := range b.Layers {
			if err := npy.Write(path(fmt.Sprint("offsets", l)), []int{len(b.Layers[l].Offsets)}, b.Layers[l].Offsets); err != nil {
				return err
			}
			if err := npy.Write(path(fmt.Sprint("far", l)), []int{len(b.Layers[l].Far)}, b.Layers[l].Far); err != nil {
				return err
			}
		}
	}
	return nil
}
