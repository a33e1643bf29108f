package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/units"
	"sagann/saga"
	"sagann/sample"
)

// sampleCmd is saga sample.
type sampleCmd struct {
	graphFlags
	Sampler   string `default:"neighbours:25,10" placeholder:"NAME" group:"options" help:"neighbours:25,10, weighted:.., layer:.., fastgcn:.., ladies:.., mvs:.., saint:4000x2, shadow:2x10 or pinsage:.. (${default})."`
	SelfLoops bool   `name:"self-loops" group:"data" help:"Add a self loop to every vertex that has none, as models with normalised adjacency do. It is always kept."`
	Seeds     string `default:"all" placeholder:"WHICH" group:"options" help:"all, train, val, test, or a file of vertices: a text with an id on each line, or a .npy (${default})."`
	Batch     count  `default:"1024" placeholder:"N" group:"options" help:"Seeds of a batch (${default})."`
	Replace   bool   `group:"options" help:"Draw with replacement."`
	deviceFlags
	Out string `required:"" placeholder:"FILE" help:"File to write, .csv or .npy: a row for each sampled edge."`
	csvForm
}

// Help is what stands under the usage line.
func (sampleCmd) Help() string {
	return `Examples:

  saga sample --data karate --sampler neighbours:5,3 --batch 8 --out blocks.csv
  saga sample --data products.saga --sampler neighbours:15,10,5 --seeds train --out blocks.npy
  saga sample --data cora/ --sampler ladies:512,512 --self-loops --out blocks.csv

A row has the batch, the layer (0 leads to the seeds), source, target and the edge's number in the data; a
.csv also has the weight, if the sampler gives one, and names vertices as the data's file does. Batches are
the seeds in order; each is drawn on its own, so equal batches have equal samples, whatever stands beside them.`
}

// Run samples.
func (c *sampleCmd) Run(a *app) error {
	if err := canWrite("out", c.Out, ".csv", ".npy"); err != nil {
		return err
	}
	c.idle(a, c.Out)
	if err := c.check(a); err != nil {
		return err
	}
	spec, err := sample.Parse(c.Sampler, 1) // steps of walks, which are refused
	switch {
	case err != nil:
		return cli.Usage(err)
	case spec.Sampler.Output == sample.Steps:
		return cli.Usagef("--sampler %s draws walks: saga walk draws them", c.Sampler)
	case spec.Sampler.Name == "clustergcn":
		return cli.Usagef("--sampler %s: clusters are batches of training; there is nothing to draw", c.Sampler)
	case c.Batch < 1:
		return cli.Usagef("--batch 0: at least 1")
	}
	if spec.Batch > 0 {
		a.Idle("samples of "+c.Sampler+", which says how large a batch is", "batch")
	}
	spec.Sampler.Replace = spec.Sampler.Replace || c.Replace
	spec.Sampler.KeepLoops = c.SelfLoops && spec.Sampler.Next == nil && spec.Sampler.Over == sample.Individual
	d, err := c.load(a)
	if err != nil {
		return err
	}
	tellNumbers(a, c.Out, ".csv", d)
	tellUniform(a.Log, d, &saga.Sampling{Sampler: spec.Sampler})
	seeds, err := c.seeds(d)
	if err != nil {
		return err
	}
	edges := d.Edges
	if c.SelfLoops {
		edges = edges.WithSelfLoops()
	}
	g, err := sample.NewGraph(edges)
	if err != nil {
		return err
	}
	p, err := sample.Compile(g, spec.Sampler)
	if err != nil {
		return inIDs(d, err)
	}
	b := batches{csvForm: c.csvForm, p: p, seeds: seeds, size: cmp.Or(spec.Batch, int(c.Batch)), seed: c.Seed}
	if err := c.fits(&b, edges, spec.Sampler); err != nil {
		return err
	}
	defer removedOnSignal(c.Out)()
	var n int64
	err = c.on(p, func(x *sample.GPU) (err error) {
		b.gpu = x
		if n, err = b.write(c.Out, d); x != nil && x.Redrawn() > 0 {
			a.Log.Warn("the CPU drew some batches: they had no room on the GPU, or one of their rows repeats too many draws", "batches", x.Redrawn())
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s of %s, %s\n", c.Out, units.Counted(int(n), "edge", "edges"), units.Counted((len(seeds)+b.size-1)/b.size, "batch", "batches"), c.Sampler)
	return err
}

// fits says whether memory has room for the edges of a batch, and the file system for the file.
func (c *sampleCmd) fits(b *batches, edges *chunk.Edges, s sample.Sampler) error {
	if !s.Replace || s.Output != sample.Layers || s.Over != sample.Individual {
		return nil // rows have at most their edges in the graph, or a step has a bound of its own
	}
	all := 0 // seeds that have edges: each draws as many as it is told to
	degrees := edges.InDegrees()
	for _, v := range b.seeds {
		if degrees[v] > 0 {
			all++
		}
	}
	draws, most := float64(s.Size(0)), float64(1<<28)
	if n := draws * float64(min(b.size, all)); n > most {
		return cli.Usagef("--batch %d: a batch would have %.4g edges, %g of each seed; at most %.4g", b.size, n, draws, most)
	}
	each := 40.0 // bytes of a row
	if filepath.Ext(c.Out) == ".csv" {
		each = float64(len("0,0,0,0,0,1\n"))
	}
	free, err := device.FreeSpace(filepath.Dir(c.Out))
	if bytes := draws * float64(all) * each; err == nil && bytes > float64(free) {
		return fmt.Errorf("--out %s: %.4g edges take at least %s, and the file system has %s free; draw fewer", c.Out, draws*float64(all), units.Size(int64(min(bytes, math.MaxInt64/2))), units.Size(free))
	}
	return nil
}

// seeds are the vertices that --seeds names.
func (c *sampleCmd) seeds(d *dataset.Data) ([]uint32, error) {
	splits := map[string][]uint32{"train": d.Train, "val": d.Val, "test": d.Test}
	list, ok := splits[c.Seeds]
	switch {
	case ok && len(list) == 0:
		return nil, fmt.Errorf("--seeds %s: the data has no such split", c.Seeds)
	case ok:
		return list, nil
	case c.Seeds == "all":
		for v := range d.Edges.V {
			list = append(list, uint32(v))
		}
		return list, nil
	}
	list, err := dataset.ReadVertices(c.Seeds, d)
	if errors.Is(err, os.ErrNotExist) {
		err = cli.Usagef("--seeds %s: want all, train, val, test or a file of vertices: %w", c.Seeds, err)
	}
	return list, err
}

// batches are what is sampled, piece by piece.
type batches struct {
	csvForm
	p     *sample.Program
	gpu   *sample.GPU // nil: the CPU
	seeds []uint32
	size  int
	seed  uint64
}

// sampled is an edge of a sample.
type sampled struct {
	batch, layer   int
	source, target uint32
	edge           int64 // -1: it is none of the graph
	weight         float32
}

// each calls f with every sampled edge. Blocks of several batches are drawn at a time.
func (b *batches) each(f func(x sampled) error) error {
	all := slices.Collect(slices.Chunk(b.seeds, b.size))
	const ahead = 16 // batches that are held
	blocks, errs := make([]sample.Blocks, ahead), make([]error, ahead)
	for lo := 0; lo < len(all); lo += ahead {
		some := all[lo:min(len(all), lo+ahead)]
		key := func(i int) sample.Key { return sample.Key{Seed: b.seed, Batch: uint32(lo + i)} }
		for i := 0; b.gpu != nil && i < len(some); i++ {
			errs[i] = b.gpu.Blocks(&blocks[i], some[i], key(i))
		}
		if b.gpu == nil {
			chunk.Each(len(some), func(i int) { errs[i] = b.p.Blocks(&blocks[i], some[i], key(i)) })
		}
		for i := range some {
			if errs[i] != nil {
				return errs[i]
			}
			if err := edgesOf(&blocks[i], lo+i, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// edgesOf calls f with the edges of a batch.
func edgesOf(b *sample.Blocks, batch int, f func(x sampled) error) error {
	for l, layer := range b.Layers {
		for r := range len(layer.Offsets) - 1 {
			for i := layer.Offsets[r]; i < layer.Offsets[r+1]; i++ {
				x := sampled{batch: batch, layer: l, source: b.Vertices[layer.Far[i]], target: b.Vertices[r], edge: -1, weight: 1}
				if len(layer.Edge) > 0 {
					x.edge = int64(layer.Edge[i])
				}
				if len(layer.Weight) > 0 {
					x.weight = layer.Weight[i]
				}
				if err := f(x); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// write puts the edges at path, by its ending, and returns their number.
func (b *batches) write(path string, d *dataset.Data) (n int64, err error) {
	if filepath.Ext(path) == ".npy" {
		id := func(v uint32) int64 { return int64(d.Vertices.Number(int(v))) }
		err = npy.WriteRows(path, 5, func(add func([]int64) error) error {
			return b.each(func(x sampled) error {
				n++
				return add([]int64{int64(x.batch), int64(x.layer), id(x.source), id(x.target), x.edge})
			})
		})
		return n, err
	}
	return n, cli.WriteWhole(path, func(w *bufio.Writer) error {
		w.WriteString("batch,layer,source,target,edge,weight\n")
		var buf []byte
		return b.each(func(x sampled) error {
			n++
			buf = strconv.AppendInt(append(strconv.AppendInt(buf[:0], int64(x.batch), 10), ','), int64(x.layer), 10)
			buf = append(append(append(append(buf, ','), b.field(d.ID(int(x.source)))...), ','), b.field(d.ID(int(x.target)))...)
			buf = strconv.AppendInt(append(buf, ','), x.edge, 10)
			buf = strconv.AppendFloat(append(buf, ','), float64(x.weight), 'g', -1, 32)
			_, err := w.Write(append(buf, '\n'))
			return err
		})
	})
}
