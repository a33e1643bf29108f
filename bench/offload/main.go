// Offload trains models with a shrinking budget of device memory and prints what that
// costs: epoch times beside the resident run's, the bytes that were moved, what the
// links allow, and what the planner predicted.
//
//	go run -tags cuda ./bench/offload -device cuda -machine h200 \
//		-data synthetic:vertices=2200000,edges=571e6,features=300,classes=50 -hidden 128
//
// It checks before it reports: losses agree with the resident run's, and the bytes
// counted are those of the plan.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

type bench struct {
	device, machine string
	noRing          bool
	devices         int
	hidden, epochs  int
	warm            int
	lr              float64
	without         []string
	smallest        bool
	least           int     // intervals, at least
	skew            float64 // of statistics
	m               *plan.Machine
}

func main() {
	var b bench
	data := flag.String("data", "synthetic:vertices=200000,edges=4e6,features=64,classes=16", "generated graph, or a path")
	models := flag.String("models", "gcn,commnet,mpgcn,ggcn,ggnn,resgated", "models")
	fractions := flag.String("fractions", "0.5,0.25", "budgets, as parts of the resident working set")
	without := flag.String("without", "invariant", "passes to leave out")
	flag.StringVar(&b.device, "device", "cpu", "device")
	flag.StringVar(&b.machine, "machine", "cpu", "machine model that plans are chosen by")
	flag.IntVar(&b.hidden, "hidden", 128, "columns between layers")
	flag.IntVar(&b.epochs, "epochs", 10, "epochs")
	flag.IntVar(&b.least, "chunks", 1, "intervals, at least")
	flag.Float64Var(&b.skew, "skew", 0, "skew of the statistics that intervals are chosen by")
	flag.Float64Var(&b.lr, "lr", 1e-4, "learning rate; sums over hundreds of neighbours make larger ones chaotic")
	flag.IntVar(&b.warm, "warmup", 2, "epochs before the median")
	ring := flag.String("ring", "", "instead: devices to compare, such as 'cuda:0 cuda:0,1', with the ring and without")
	mem := flag.Int64("mem", 0, "with -ring: bytes of each device; 0: a tenth of what holds everything")
	flag.BoolVar(&b.smallest, "smallest", false, "also run with the smallest budget that works")
	flag.Parse()
	log.SetFlags(0)
	var err error
	if b.m, err = plan.LoadMachine(b.machine); err != nil {
		log.Fatal(err)
	}
	if *without != "" {
		b.without = strings.Split(*without, ",")
	}
	var parts []float64
	for _, f := range strings.Split(*fractions, ",") {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil || x <= 0 {
			log.Fatalf("-fractions %s: want numbers above 0", *fractions)
		}
		parts = append(parts, x)
	}
	start := time.Now()
	d, err := load(*data)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d vertices, %d edges, %d features, %d classes; ready after %.1f s\n\n", d.Edges.V, d.Edges.E(), d.FeatureCols, d.Classes, time.Since(start).Seconds())
	if *ring != "" {
		if err := b.ringTable(d, strings.Split(*models, ","), strings.Fields(*ring), *mem); err != nil {
			log.Fatal(err)
		}
		return
	}
	fmt.Println("| model | budget GiB | P, schedule, slots | epoch s | H2D GB | D2H GB | links allow s | ÷ bound | penalty | predicted s | error | loss apart | built in s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	failed := false
	for _, name := range strings.Split(*models, ",") {
		if err := b.model(d, name, parts); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func load(spec string) (*dataset.Data, error) {
	if kind, rest, _ := strings.Cut(spec, ":"); kind == "synthetic" {
		s, err := dataset.ParseSpec(rest)
		if err != nil {
			return nil, err
		}
		return dataset.Synthetic(s)
	}
	return dataset.Load(spec, dataset.Options{})
}

// outcome is one run.
type outcome struct {
	plan     *plan.Plan
	seconds  float64 // median epoch
	losses   []float64
	predict  float64
	ready    float64 // seconds until the first epoch could begin
	h2d, d2h int64
}

func (b *bench) model(d *dataset.Data, name string, parts []float64) error {
	resident, err := b.run(d, name, 0)
	if err != nil {
		return err
	}
	b.row(name, "resident", resident, resident)
	for _, f := range parts {
		o, err := b.run(d, name, int64(f*float64(resident.plan.Peak)))
		var small *plan.BudgetError
		if errors.As(err, &small) {
			fmt.Printf("| %s | %.2f | does not fit: %.2f GiB would do |\n", name, f*gib(resident.plan.Peak), gib(small.Smallest))
			continue
		}
		if err != nil {
			return err
		}
		b.row(name, strconv.FormatFloat(f, 'g', 3, 64), o, resident)
	}
	if !b.smallest {
		return nil
	}
	_, err = b.run(d, name, 1)
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		return fmt.Errorf("a budget of one byte: %v", err)
	}
	o, err := b.run(d, name, small.Smallest)
	if err != nil {
		return err
	}
	b.row(name, "smallest", o, resident)
	return nil
}

func gib(n int64) float64 { return float64(n) / (1 << 30) }

// run trains with so many bytes for the plan; 0 is no bound.
func (b *bench) run(d *dataset.Data, name string, mem int64) (*outcome, error) {
	m, shape, c, err := b.config(d, name, mem)
	if err != nil {
		return nil, err
	}
	// Statistics choose the number of intervals and the schedule; the plan itself is made
	// for the real cells.
	choice, err := saga.Plan(m, shape, c)
	if err != nil {
		return nil, err
	}
	best := choice.TrainPlan()
	k := max(1, b.devices) // every device owns as many intervals as the others
	c.Chunks, c.Schedule = (max(best.Cells.P, b.least)+k-1)/k*k, best.Schedule
	start := time.Now()
	p, err := saga.Compile(m, d, c)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	o := &outcome{plan: p.TrainPlan(), predict: p.Predicted().Seconds(), ready: time.Since(start).Seconds()}
	var times []float64
	for e := range b.epochs {
		before := p.Moved()
		start := time.Now()
		loss, err := p.Step()
		if err != nil {
			return nil, err
		}
		if e >= b.warm {
			times = append(times, time.Since(start).Seconds())
		}
		o.losses = append(o.losses, loss)
		after := p.Moved()
		o.h2d, o.d2h = after.H2D-before.H2D, after.D2H-before.D2H
	}
	if o.h2d != o.plan.H2D || o.d2h != o.plan.D2H {
		return nil, fmt.Errorf("moved %d and %d bytes in an epoch; the plan says %d and %d", o.h2d, o.d2h, o.plan.H2D, o.plan.D2H)
	}
	slices.Sort(times)
	o.seconds = times[len(times)/2]
	return o, nil
}

func (b *bench) row(name, budget string, o, resident *outcome) {
	h, u := float64(o.h2d), float64(o.d2h)
	bound := max(resident.seconds, h/55e9, u/55e9, (h+u)/92e9)
	fmt.Printf("| %s | %.2f (%s) | %d, %s, %d | %.4f | %.2f | %.2f | %.4f | %.2f | %.2f | %.4f | %+.0f %% | %.1e | %.1f |\n",
		name, gib(o.plan.Peak), budget, o.plan.Cells.P, o.plan.Schedule, o.plan.Slots, o.seconds, h/1e9, u/1e9, bound, o.seconds/bound,
		o.seconds/resident.seconds, o.predict, 100*(o.predict/o.seconds-1), apart(o, resident), o.ready)
}

// apart is the largest relative difference of two loss curves.
func apart(o, other *outcome) float64 {
	d := 0.0
	for i, l := range o.losses {
		d = max(d, math.Abs(l-other.losses[i])/math.Max(1e-30, math.Abs(other.losses[i])))
	}
	return d
}

// config is that of a run with so many bytes for the plan; 0 is no bound.
func (b *bench) config(d *dataset.Data, name string, mem int64) (saga.Model, saga.Shape, saga.Config, error) {
	m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: b.hidden, Classes: d.Classes, Layers: 2})
	c := saga.Config{Device: b.device, NoRing: b.noRing, Mem: mem, Seed: 1, Without: b.without, Schedule: plan.Auto, Machine: b.machine,
		Optimizer: saga.Optimizer{Kind: "adam", LR: float32(b.lr)}}
	if mem > 0 {
		c.Mem += int64(b.m.Kind(0).Memory.Value) - b.m.Budget(0) // a machine keeps some for itself
	}
	return m, saga.Shape{Vertices: d.Edges.V, Edges: int64(d.Edges.E()), Features: d.FeatureCols, Classes: d.Classes, Skew: b.skew}, c, err
}

// residentPeak is the memory in which everything stays on one device.
func (b *bench) residentPeak(d *dataset.Data, name string) (int64, error) {
	m, shape, c, err := b.config(d, name, 0)
	if err != nil {
		return 0, err
	}
	c.Device = ""
	p, err := saga.Plan(m, shape, c)
	if err != nil {
		return 0, err
	}
	return p.TrainPlan().Peak, nil
}
