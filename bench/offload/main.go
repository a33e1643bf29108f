// Package offload trains models with smaller and smaller budgets of device memory and prints the
// cost: epoch times compared with the resident run, the bytes that were moved, the least time that the
// links allow, and the planner's prediction.
//
//	go run -tags cuda ./bench offload --device cuda --machine h200 --smallest \
//		--data synthetic:vertices=2200000,edges=571e6,features=300,classes=50 --hidden 128
//
// If the working set is larger than the GPU's memory, there is no resident run. Then budgets are given
// in bytes, and losses are compared with those of the first budget.
//
//	go run -tags cuda ./bench offload --device cuda --machine h200 --resident=false --fractions "" \
//		--budget 138GiB,100GiB --models gcn --hidden 128 --epochs 3 --warmup 1 --loops --host 245GiB \
//		--data synthetic:vertices=111059956,edges=1615685872,features=128,classes=172
//
// With --host-mem, data beside the graph that does not fit into that much host memory is kept in files:
//
//	go run -tags cuda ./bench offload --device cuda --machine h200 --resident=false --fractions "" \
//		--budget 32GiB --models gcn --host-mem 64GiB --scratch /mnt/disk --data synthetic:...
//
// With --ring it compares devices that pass chunks on around the ring with devices that each load their chunks
// from the host:
//
//	go run -tags cuda ./bench offload --machine h200x4 --ring "cuda:0 cuda:0,1" --models ggcn,gcn \
//		--data synthetic:vertices=3200000,edges=222e6,features=300,classes=12
//
// Before it reports, it checks that losses agree with those of the resident run, that the counted bytes
// are those of the plan, and that running a configuration again gives the same bits.
package offload

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"sagann/dataflow/plan/sim"
	"sagann/dataset"
	"sagann/internal/cli"
)

// Command is bench offload.
type Command struct {
	Data    string   `default:"synthetic:vertices=200000,edges=4e6,features=64,classes=16" placeholder:"PATH" help:"Generated graph, or a path (${default})."`
	Models  []string `default:"gcn,commnet,mpgcn,ggcn,ggnn,resgated" placeholder:"NAME" help:"Models (${default})."`
	Device  string   `default:"cpu" placeholder:"NAME" help:"Device (${default})."`
	Machine string   `default:"cpu" placeholder:"NAME|FILE" help:"Machine model that plans are chosen by (${default})."`
	Without string   `default:"invariant" placeholder:"PASS" help:"Passes to leave out (${default})."`
	Loops   bool     `help:"Add self loops to the graph once, for all models, instead of in a copy for each that wants them."`
	Chunks  int      `default:"1" placeholder:"N" help:"Intervals, at least (${default})."`
	Storage string   `placeholder:"TYPE" help:"Rows that edges gather from their far end: f32 or bf16."`
	Repeat  bool     `default:"true" negatable:"" help:"Run the last configuration of each model again and compare losses bit by bit (${default})."`
	Tasks   bool     `help:"Run one epoch more, task by task, and print what its tasks took beside what the planner expected."`
	Train   training `embed:""`
	Memory  limits   `embed:""`
	budgets
	Ring string     `placeholder:"LIST" help:"Instead: devices to compare, such as 'cuda:0 cuda:0,1', with the ring and without."`
	Mem  cli.Memory `placeholder:"SIZE" help:"With --ring: bytes of each device; default: a tenth of what holds everything, or 1.05 times the smallest budget that works on all of them."`
}

// training says for how long models are trained.
type training struct {
	Hidden int     `default:"128" placeholder:"N" help:"Columns between layers (${default})."`
	Epochs int     `default:"10" placeholder:"N" help:"Epochs (${default})."`
	Warmup int     `default:"2" placeholder:"N" help:"Epochs before the median (${default})."`
	LR     float64 `name:"lr" default:"1e-4" placeholder:"RATE" help:"Learning rate; sums over hundreds of neighbours make larger ones chaotic (${default})."`
}

// budgets are those of a model's rows.
type budgets struct {
	Fractions string       `default:"0.5,0.25" placeholder:"PART" help:"Budgets, as parts of the resident working set; empty: none (${default})."`
	Budget    []cli.Memory `placeholder:"SIZE" help:"Budgets in bytes, such as 8GiB,32GiB, without what the machine keeps for itself."`
	Smallest  bool         `help:"Also run with the smallest budget that works."`
	Resident  bool         `default:"true" negatable:"" help:"Run with everything on the device first; false for graphs that it does not hold (${default})."`
}

// limits bound host memory.
type limits struct {
	Host    cli.Memory `placeholder:"SIZE" help:"Refuse runs that need more host memory than this, such as 245GiB."`
	HostMem cli.Memory `placeholder:"SIZE" help:"Host memory for cells, inputs and stored values, such as 64GiB; what does not fit lies in files in --scratch."`
	Scratch string     `placeholder:"FOLDER" help:"Folder on a disk for those files; default: the system's folder for temporary files."`
}

// bench is a run of the command.
type bench struct {
	*Command
	device  string // of the row at hand
	noRing  bool
	devices int
	without []string
	parts   []float64 // budgets, as parts of the resident working set
	m       *sim.Machine
	ctx     context.Context // cancelled by a signal: runs then stop after the current epoch
	ready   []string        // lines of the table about the time before the epochs
}

// Run prints the tables.
func (c *Command) Run(a *cli.App) error {
	b := &bench{Command: c, device: c.Device, without: fields(c.Without)}
	if err := b.check(); err != nil {
		return cli.Usage(err)
	}
	ctx, stop := cli.Interruptible(a)
	defer stop()
	b.ctx = ctx
	start := time.Now()
	d, err := load(c.Data)
	if err != nil {
		return err
	}
	if c.Loops {
		d.Edges = d.Edges.WithSelfLoops()
	}
	if held := given(d) + 4*int64(d.Edges.V)*int64(d.FeatureCols); held > 8<<30 {
		debug.SetGCPercent(10) // the heap is large: by default garbage would be collected only when it has doubled
		debug.FreeOSMemory()
	}
	fmt.Printf("%d vertices, %d edges, %d features, %d classes; ready after %.1f s; host memory %.1f GiB at most so far\n\n",
		d.Edges.V, d.Edges.E(), d.FeatureCols, d.Classes, time.Since(start).Seconds(), gib(peakRSS()))
	if c.Ring != "" {
		err = b.ringTable(d, c.Models, strings.Fields(c.Ring), int64(c.Mem))
	} else {
		err = b.table(d, c.Models)
	}
	b.printReady()
	return err
}

// check reads the machine and the parts, and refuses what cannot be run.
func (b *bench) check() (err error) {
	if b.m, err = sim.LoadMachine(b.Machine); err != nil {
		return err
	}
	if b.Train.Warmup < 0 || b.Train.Epochs <= b.Train.Warmup {
		return fmt.Errorf("--epochs %d --warmup %d: want at least one epoch after the warm-up", b.Train.Epochs, b.Train.Warmup)
	}
	for _, f := range fields(b.Fractions) {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil || !(x > 0) {
			return fmt.Errorf("--fractions %s: want numbers above 0", b.Fractions)
		}
		b.parts = append(b.parts, x)
	}
	if !b.Resident && len(b.parts) > 0 {
		return fmt.Errorf("--resident=false: there is no resident working set to take parts of; give --fractions \"\" and --budget")
	}
	return nil
}

// fields are the items of a comma-separated list; nil for an empty one.
func fields(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// load reads or generates the graph. Generated features are made when they are laid out in memory.
func load(spec string) (*dataset.Data, error) {
	if kind, rest, _ := strings.Cut(spec, ":"); kind == "synthetic" {
		s, err := dataset.ParseSpec(rest)
		if err != nil {
			return nil, err
		}
		return dataset.SyntheticLate(s)
	}
	return dataset.Load(spec, dataset.Options{})
}
