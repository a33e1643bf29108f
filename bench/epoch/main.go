// Epoch times one full-graph training epoch on the CPU: forward, backward, Adam.
//
//	go run ./bench/epoch -model gcn -spec vertices=50000,edges=2000000,features=128,classes=16,seed=1 -hidden 64
//
// It prints one JSON line: median epoch seconds after a warm-up, peak device bytes
// without the graph and the features, and the losses.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/pprof"
	"slices"
	"sort"
	"strings"
	"time"

	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

func main() {
	model := flag.String("model", "gcn", "model name")
	spec := flag.String("spec", "vertices=50000,edges=2000000,features=128,classes=16,seed=1", "synthetic graph")
	data := flag.String("data", "", "a data folder instead of the synthetic graph")
	hidden := flag.Int("hidden", 64, "hidden width")
	epochs := flag.Int("epochs", 10, "timed epochs")
	warmup := flag.Int("warmup", 3, "epochs before timing")
	without := flag.String("without", "", "compiler passes to leave out, comma separated")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the timed epochs")
	write := flag.String("write", "", "write the graph as a folder of .npy files and stop")
	flag.Parse()
	d, err := load(*data, *spec)
	check(err)
	if *write != "" {
		check(dataset.WriteNpyFolder(*write, d))
		return
	}
	const heads = 8
	width := *hidden
	if slices.Contains(layers.Reading(layers.ReadsHeads), *model) {
		width /= heads // -hidden counts the columns of all heads, as in bench/peer
	}
	m, err := layers.New(*model, layers.Options{Features: d.FeatureCols, Hidden: width, Classes: d.Classes, Layers: 2, Steps: 2, Heads: heads})
	check(err)
	cfg := saga.Config{Seed: 1}
	if *without != "" {
		cfg.Without = strings.Split(*without, ",")
	}
	p, err := saga.Compile(m, d, cfg)
	check(err)
	defer p.Close()
	var times, losses []float64
	for i := range *warmup + *epochs {
		if i == *warmup && *profile != "" {
			f, err := os.Create(*profile)
			check(err)
			check(pprof.StartCPUProfile(f))
			defer pprof.StopCPUProfile()
		}
		start := time.Now()
		loss, err := p.Step()
		check(err)
		if i >= *warmup {
			times = append(times, time.Since(start).Seconds())
		}
		losses = append(losses, loss)
	}
	sort.Float64s(times)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"model": *model, "epoch_seconds": times[len(times)/2], "min_seconds": times[0],
		"first_loss": losses[0], "last_loss": losses[len(losses)-1], "tensor_bytes": p.TensorBytes(),
	}))
}

func load(path, spec string) (*dataset.Data, error) {
	if path != "" {
		return dataset.Load(path, dataset.Options{})
	}
	s, err := dataset.ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	return dataset.Synthetic(s)
}

func check(err error) {
	if err != nil {
		log.SetFlags(0)
		log.Fatal(fmt.Errorf("epoch: %w", err))
	}
}
