// Command sampled times training on sampled blocks, batch by batch. It also writes the blocks for
// peer.py, which trains on the same blocks in PyTorch Geometric.
//
//	go run ./bench/sampled -batches 5 -out blocks
//	python3 bench/sampled/peer.py blocks
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

func main() {
	spec := flag.String("data", "vertices=1000000,edges=30000000,features=100,classes=47", "synthetic graph")
	n := flag.Int("batches", 5, "timed batches; one more runs before them")
	serves := flag.String("serve", "", "folder for the edges; commands that say what to time are then read from standard input (alternate.py)")
	window := flag.Int("match", 0, "instead: print how many rows consecutive batches of -batches share, also in the best order within windows of so many, on the graph of -data or -shape")
	memory := flag.Int("memory", 0, "instead: print how much memory drawing -batches takes on a random graph of so many edges")
	var e epochs
	flag.StringVar(&e.fanouts, "sample", "15,10,5", "fan-outs")
	flag.StringVar(&e.eval, "eval", "", "fan-outs of evaluation, which is planned but not timed; none: exact evaluation")
	flag.IntVar(&e.hidden, "hidden", 256, "columns between layers")
	flag.IntVar(&e.batch, "batch", 1024, "seeds of a batch")
	flag.StringVar(&e.model, "model", "sage", "model")
	flag.StringVar(&e.out, "out", "", "folder for the blocks of the batches, or for the graph of the epochs (pyg_epoch.py)")
	flag.IntVar(&e.n, "epochs", 0, "instead: time so many whole epochs, after one that is not timed, on a graph of products' shape")
	flag.StringVar(&e.device, "device", "", "device of the epochs, such as cuda")
	flag.Int64Var(&e.mem, "mem", 0, "its memory in bytes; 0: what it takes")
	flag.Func("shape", "sizes of that graph: reddit, products (with the 200 features of FastGL's), mag, papers; tiny tries a command; flags behind it change them", e.shape)
	flag.IntVar(&e.of.vertices, "vertices", 2449029, "of that graph")
	flag.IntVar(&e.of.edges, "edges", 123718280, "of that graph, in both directions")
	flag.IntVar(&e.of.train, "train", 196615, "its training vertices")
	flag.IntVar(&e.of.features, "features", 100, "of its vertices")
	flag.IntVar(&e.of.classes, "classes", 47, "of its vertices")
	flag.Float64Var(&e.cache, "cache", 0, "share of feature rows on the GPU; 0: all, below 0: none")
	flag.IntVar(&e.accumulate, "accumulate", 0, "batches of an update; 0: as many as there are devices")
	flag.BoolVar(&e.alone, "alone", false, "copy rows again that the previous batch has, too")
	flag.StringVar(&e.without, "without", "", "parts that the epochs leave out: in-place,draw")
	flag.BoolVar(&e.tf32, "tf32", false, "products may round to TF32")
	flag.StringVar(&e.sampler, "sampler", "", "sampler of the epochs in place of -sample, which then says how many layers there are: ladies:512,512,512")
	flag.BoolVar(&e.table, "table", false, "print a row for each run of the epochs, with what drawing alone takes")
	flag.BoolVar(&e.profile, "profile", false, "time every kernel of a batch")
	flag.StringVar(&e.then, "then", "", "further runs on that graph, with other flags: tf32=true; cache=-1 alone=true")
	ablation := flag.String("ablation", "", "instead: on these graphs, such as reddit,products,mag, time -epochs with every part of sampled training and without each, in turns")
	models := flag.String("models", "gcn,gin,gat", "models of the ablation")
	left := flag.String("parts", "fuse,draw,in-place,match,stream", "what the ablation leaves out")
	flag.Parse()
	run := func() error { return run(*spec, e.fanouts, e.model, e.out, *serves, e.hidden, e.batch, *n) }
	if e.n > 0 {
		run = e.run
	}
	if *ablation != "" {
		run = func() error { return e.ablate(*ablation, *models, strings.Split(*left, ",")) }
	}
	if *window > 0 {
		run = func() error { return e.match(*spec, *n, *window) }
	}
	if *memory > 0 {
		run = func() error { return sizeOfSampling(*memory, *n) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sampled:", err)
		os.Exit(1)
	}
}

func run(spec, fanouts, model, out, serves string, hidden, size, n int) error {
	s, err := dataset.ParseSpec(spec)
	if err != nil {
		return err
	}
	d, err := dataset.Synthetic(s)
	if err != nil {
		return err
	}
	sizes, err := sizesOf(fanouts)
	if err != nil {
		return err
	}
	m, err := layers.New(model, layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: hidden, Layers: len(sizes)})
	if err != nil {
		return err
	}
	p, err := saga.CompileSampled(m, d, saga.Config{Seed: 1}, saga.Sampling{Sampler: sample.Neighbours(sizes...), Batch: size})
	if err != nil {
		return err
	}
	defer p.Close()
	if serves != "" {
		if err := writeGraph(d, serves); err != nil {
			return err
		}
		fmt.Println("ready")
		return serve(d, sizes, size, n, p, os.Stdin, os.Stdout)
	}
	if err := p.Overview(os.Stdout); err != nil {
		return err
	}
	if out != "" {
		if err := write(d, sizes, size, n, out); err != nil {
			return err
		}
	}
	var wall, cpu []float64
	for i := range n + 1 {
		start, before := time.Now(), used()
		loss, err := p.Step()
		if err != nil {
			return err
		}
		if i > 0 {
			wall, cpu = append(wall, time.Since(start).Seconds()), append(cpu, used()-before)
		}
		fmt.Printf("batch %d: loss %.4f, %.3f s, %.3f processor seconds\n", i, loss, time.Since(start).Seconds(), used()-before)
	}
	fmt.Printf("median %.3f s, %.3f processor seconds a batch, with %d processors\n", median(wall), median(cpu), runtime.GOMAXPROCS(0))
	return nil
}

func sizesOf(fanouts string) (sizes []int, err error) {
	for _, text := range strings.Split(fanouts, ",") {
		k, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, k)
	}
	return sizes, nil
}

// used is the processor time of the process in seconds.
func used() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
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
