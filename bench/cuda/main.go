package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// shapes are vertices, edges, feature columns and classes of graphs of the paper's
// Table 2, and of ogbn-products.
var shapes = map[string][4]int{
	"cora":          {2708, 10556, 1433, 7},
	"pubmed":        {19700, 108_400, 500, 3},
	"protein":       {43500, 205_600, 29, 3},
	"blogcatalog":   {10300, 668_000, 128, 39},
	"reddit_small":  {46600, 1_400_000, 602, 41},
	"reddit_middle": {233_000, 23_200_000, 602, 41},
	"products":      {2_449_029, 123_718_280, 100, 47},
}

func main() {
	log.SetFlags(0)
	models := flag.String("models", "gcn,resgated", "models to time")
	dev := flag.String("device", "cuda", "device")
	vertices := flag.Int("vertices", 233000, "vertices")
	edges := flag.Int("edges", 23_200_000, "edges")
	shape := flag.String("shape", "", "graph by name, instead of -vertices, -edges, -features and -classes: "+strings.Join(slices.Sorted(maps.Keys(shapes)), ", "))
	features := flag.Int("features", 602, "feature columns")
	hidden := flag.Int("hidden", 128, "columns between the layers")
	classes := flag.Int("classes", 41, "classes")
	epochs := flag.Int("epochs", 10, "epochs timed, after three to warm up")
	without := flag.String("without", "invariant", "compiler passes left out")
	storage := flag.String("storage", "f32", "rows that edges gather: f32 or bf16")
	packing := flag.String("packing", "", "far ends of edges: on or off; empty: packed where that is faster")
	most := flag.Int("kernels", 16, "kernels listed")
	norm := flag.String("norm", "", "between layers: batch or layer")
	embedding := flag.Int("embedding", 0, "columns of rows that are learned in place of features")
	layerCount := flag.Int("layers", 2, "layers")
	mem := flag.Float64("mem", 0, "device memory in GiB; what does not fit streams; 0: all of the card")
	heads := flag.Int("heads", 0, "heads of gat; 0: 8")
	skewed := flag.Bool("skewed", false, "few vertices have many edges, as in the table of gathers")
	sums := flag.Bool("gather", false, "print the table of gather-sums and nothing else")
	sweep := flag.Bool("sweep", false, "with -gather: 20,000 vertices and densities from 0.01 to 10 %, as in the paper's Figure 13")
	cache := flag.Bool("cache", false, "with -gather: the rate by the number of vertices, which shows how much of the cache a gather uses")
	degrees := flag.Bool("degrees", false, "with -gather: each way to gather by the edges of a row in a cell")
	begin := flag.Bool("starts", false, "print what kernels, copies and products (-tf32) take beside their work, and nothing else")
	read := flag.Bool("reads", false, "print the rate at which a kernel reads rows of host memory, and nothing else")
	peer := flag.String("peer", "", "with -gather: the command that times cuSPARSE, python3 bench/cuda/gather_peer.py")
	tf32 := flag.Bool("tf32", false, "round the operands of products to TF32")
	uniform := flag.Bool("uniform", true, "edges between any two vertices, as in peer.py; otherwise communities")
	filled := flag.Int("filled", 0, "columns that a row of features has of -features: a GCN on sparse rows beside one on dense rows, and nothing else")
	flag.Parse()
	if *filled > 0 {
		s := sparseSpec{*vertices, *edges, *features, *filled, *hidden, *epochs}
		if err := s.against(saga.Config{Device: *dev, Seed: 1, Without: splits(*without)}); err != nil {
			log.Fatal(err)
		}
		return
	}
	for _, table := range []struct {
		asked bool
		print func() error
	}{
		{*read, reads},
		{*begin, func() error { return starts(*tf32) }},
		{*sums && *cache, cacheRates},
		{*sums && *degrees, degreeTable},
		{*sums, func() error { return gathers(*vertices, *edges, *peer, *sweep) }},
	} {
		if table.asked {
			if err := table.print(); err != nil {
				log.Fatal(err)
			}
			return
		}
	}

	if x, ok := shapes[*shape]; ok {
		*vertices, *edges, *features, *classes = x[0], x[1], x[2], x[3]
	} else if *shape != "" {
		log.Fatalf("no shape %s", *shape)
	}
	s := dataset.DefaultSpec()
	s.Vertices, s.Edges, s.Features, s.Classes = *vertices, *edges, *features, *classes
	d, err := drawn(s, *uniform, *skewed)
	if err != nil {
		log.Fatal(err)
	}
	for name := range strings.SplitSeq(*models, ",") {
		o := layers.Options{Features: d.FeatureCols, Hidden: *hidden, Classes: d.Classes, Layers: *layerCount, Heads: *heads, Between: layers.Between{Norm: *norm}}
		if err := epoch(name, d, o, *embedding, *epochs, *most, saga.Config{Device: *dev, Machine: machineOf(*mem), Mem: int64(*mem * (1 << 30)), Seed: 1, Without: splits(*without), Storage: *storage, Outcome: saga.Outcome{Packing: *packing}, TF32: *tf32}); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}

// drawn generates a graph with communities. If uniform or skewed is set, it has the same features and labels, but
// edges between uniform vertices, or with many edges at few vertices.
func drawn(s dataset.Spec, uniform, skewed bool) (*dataset.Data, error) {
	begun := time.Now()
	d, err := dataset.Synthetic(s)
	if err != nil {
		return nil, err
	}
	if uniform {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range d.Edges.Src {
			d.Edges.Src[i], d.Edges.Dst[i] = r.Uint32N(uint32(s.Vertices)), r.Uint32N(uint32(s.Vertices))
		}
	}
	if skewed {
		g := drawCSR("skewed", s.Vertices, s.Edges, true)
		for v := range s.Vertices {
			for i := g.ptr[v]; i < g.ptr[v+1]; i++ {
				d.Edges.Src[i], d.Edges.Dst[i] = g.other[i], uint32(v)
			}
		}
	}
	fmt.Printf("graph: %d vertices, %d edges, made in %.1f s\n", d.Edges.V, d.Edges.E(), time.Since(begun).Seconds())
	return d, nil
}

// machineOf is the machine model on which plans are searched; "" if everything is resident.
func machineOf(mem float64) string {
	if mem > 0 {
		return "h200"
	}
	return ""
}

// splits are the names in a comma-separated list; nil for "".
func splits(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// epoch times training epochs of a model.
func epoch(name string, d *dataset.Data, o layers.Options, embedding, epochs, most int, c saga.Config) error {
	if embedding > 0 {
		dataset.DropFeatures(d)
		o.Features = embedding
	}
	m, err := layers.New(name, o)
	if err != nil {
		return err
	}
	m.Embedding = embedding
	begun := time.Now()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		return err
	}
	defer p.Close()
	var loss float64
	for range 3 {
		if loss, err = p.Step(); err != nil {
			return err
		}
	}
	ready := time.Since(begun)
	var times []float64
	for range epochs {
		begun := time.Now()
		if loss, err = p.Step(); err != nil {
			return err
		}
		times = append(times, 1e3*time.Since(begun).Seconds())
	}
	slices.Sort(times)
	fmt.Printf("%s %d→%d→%d: epoch %.3f ms (median of %d, best %.3f), loss %.5f, ready after %.1f s, memory %.3f GiB\n",
		name, o.Features, o.Hidden, d.Classes, times[len(times)/2], len(times), times[0], loss, ready.Seconds(), float64(p.DevicePeak())/(1<<30))
	if x := p.Predicted(); x != nil {
		fmt.Printf("  predicted %.3f ms\n", float64(x.Wall)/1e6)
		if err := against(p); err != nil {
			return err
		}
	}
	return where(p, times[len(times)/2], most)
}
