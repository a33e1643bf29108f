package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/sample"
)

// hopFlags say how rows are made of sampled neighbours.
type hopFlags struct {
	Children       count  `default:"0" placeholder:"N" group:"hops" help:"Embed by two layers over sampled in-edges of --data instead: in-edges that each vertex draws."`
	Leaves         count  `default:"10" placeholder:"N" group:"hops" help:"In-edges that each of these draws (${default})."`
	Weights        string `placeholder:"DIR" group:"hops" help:"Folder with wf1.npy, wa1.npy, wf2.npy and wa2.npy; default: random ones."`
	Width          count  `default:"128" placeholder:"N" group:"hops" help:"Columns of each random matrix (${default})."`
	BF16           bool   `name:"bf16" group:"hops" help:"A GPU keeps rows of the first layer's products as bfloat16: half the memory, two to three digits."`
	SelfNeighbours bool   `name:"self-neighbours" group:"hops" help:"A vertex without in-edges is its own neighbour; else its neighbours' mean is 0."`
}

// fromHops embeds by two layers over sampled trees.
func (c *embedCmd) fromHops(a *app) error {
	if err := canWrite("out", c.Out, ".npy", ".csv", ".safetensors"); err != nil {
		return err
	}
	if c.Data == "" {
		return cli.Usagef("--children %d: of which graph? Give --data", c.Hops.Children)
	}
	if c.Hops.BF16 && device.Host(c.Device) {
		return cli.Usagef("--bf16 is for --device cuda: a CPU computes in float32")
	}
	if err := oneCPU(c.Device); err != nil {
		return err
	}
	d, err := c.graph(a)
	if err != nil {
		return err
	}
	if d.HoldFeatures(); d.FeatureCols == 0 {
		return fmt.Errorf("%s: the data has no features to embed vertices by", c.Data)
	}
	g, err := sample.NewGraph(d.Edges)
	if err != nil {
		return err
	}
	if c.Hops.Width > 65536 {
		return cli.Usagef("--width %d: at most 65536", c.Hops.Width)
	}
	hop := sample.TwoHop{Children: int(c.Hops.Children), Leaves: int(c.Hops.Leaves), SelfNeighbour: c.Hops.SelfNeighbours, BF16: c.Hops.BF16}
	if c.Hops.Weights == "" {
		hop.Random(d.FeatureCols, int(c.Hops.Width), c.Learn.Seed)
	} else if err := readWeights(&hop, c.Hops.Weights); err != nil {
		return err
	}
	sources := make([]uint32, d.Edges.V)
	for v := range sources {
		sources[v] = uint32(v)
	}
	var ids func(int) string
	if d.HasIDs() {
		ids = d.ID
	}
	key := sample.Key{Seed: c.Learn.Seed}
	if !device.Host(c.Device) {
		return c.hopsOnGPU(&hop, g, d, sources, key, func(rows []float32) error { return c.write(a, rows, hop.Cols(), "vertex", ids, "") })
	}
	out := make([]float32, len(sources)*hop.Cols())
	if err := hop.Embed(g, d.Features, d.FeatureCols, sources, key, out); err != nil {
		return err
	}
	return c.write(a, out, hop.Cols(), "vertex", ids, "")
}

// hopsOnGPU embeds on a GPU and hands the rows to write.
func (c *embedCmd) hopsOnGPU(hop *sample.TwoHop, g *sample.Graph, d *dataset.Data, sources []uint32, key sample.Key, write func(rows []float32) error) (err error) {
	gpu, err := cli.OpenGPU(c.Device, int64(c.Mem))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	on, err := hop.OnGPU(gpu, g, d.Features, d.FeatureCols, len(sources), 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	rows, err := on.Rows(len(sources))
	if err != nil {
		return err
	}
	if err := on.Embed(sources, key, rows); err != nil {
		return err
	}
	return write(rows)
}

// readWeights reads the four matrices.
func readWeights(hop *sample.TwoHop, dir string) error {
	for name, m := range map[string]*sample.Matrix{"wf1": &hop.Wf1, "wa1": &hop.Wa1, "wf2": &hop.Wf2, "wa2": &hop.Wa2} {
		path := filepath.Join(dir, name+".npy")
		array, err := npy.Read(path)
		if err != nil {
			return err
		}
		x, err := array.Float32s()
		if err != nil || len(array.Shape) != 2 {
			return fmt.Errorf("%s: want a matrix of real numbers, not an array of shape %v (%v)", path, array.Shape, err)
		}
		*m = sample.Matrix{Rows: array.Shape[0], Cols: array.Shape[1], Data: x}
	}
	return nil
}
