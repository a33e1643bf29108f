// Offload trains models with smaller and smaller budgets of device memory and prints the
// cost: epoch times compared with the resident run, the bytes that were moved, the least time that the
// links allow, and the planner's prediction.
//
//	go run -tags cuda ./bench/offload -device cuda -machine h200 -smallest \
//		-data synthetic:vertices=2200000,edges=571e6,features=300,classes=50 -hidden 128
//
// If the working set is larger than the GPU's memory, there is no resident run. Then budgets are given
// in bytes, and losses are compared with those of the first budget.
//
//	go run -tags cuda ./bench/offload -device cuda -machine h200 -resident=false -fractions "" \
//		-budget 138GiB,100GiB -models gcn -hidden 128 -epochs 3 -warmup 1 -loops -host 245GiB \
//		-data synthetic:vertices=111059956,edges=1615685872,features=128,classes=172
//
// With -host-mem, data beside the graph that does not fit into that much host memory is kept in files:
//
//	go run -tags cuda ./bench/offload -device cuda -machine h200 -resident=false -fractions "" \
//		-budget 32GiB -models gcn -host-mem 64GiB -scratch /mnt/disk -data synthetic:...
//
// With -ring it compares devices that pass chunks on around the ring with devices that each load their chunks
// from the host:
//
//	go run -tags cuda ./bench/offload -machine h200x4 -ring "cuda:0 cuda:0,1" -models ggcn,gcn \
//		-data synthetic:vertices=3200000,edges=222e6,features=300,classes=12
//
// Before it reports, it checks that losses agree with those of the resident run, that the counted bytes
// are those of the plan, and that running a configuration again gives the same bits.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sagann/dataflow/plan/sim"
	"sagann/dataset"
)

// bench is the settings of a run of this program.
type bench struct {
	device, machine string
	noRing          bool
	devices         int
	train           training
	without         []string
	parts           []float64 // budgets, as parts of the resident working set
	budgets         []int64   // and in bytes
	resident        bool      // also run with everything on the device
	smallest        bool
	repeat          bool
	tasks           bool // trace one more epoch and compare its tasks with the simulated ones
	host            hostLimits
	storage         string // of rows that edges gather: f32 or bf16
	least           int    // intervals, at least
	m               *sim.Machine
	ctx             context.Context // cancelled by a signal: runs then stop after the current epoch
	ready           []string        // lines of the table about the time before the epochs
}

// training says which models are trained and for how long.
type training struct {
	hidden, epochs, warm int
	lr                   float64
}

// hostLimits bound host memory, in bytes; 0: not at all.
type hostLimits struct {
	needs   int64  // most bytes that a run may need; more is an error
	bytes   int64  // most bytes beside the graph; the rest is kept in files
	scratch string // folder of the files
}

func main() {
	var b bench
	data := flag.String("data", "synthetic:vertices=200000,edges=4e6,features=64,classes=16", "generated graph, or a path")
	models := flag.String("models", "gcn,commnet,mpgcn,ggcn,ggnn,resgated", "models")
	fractions := flag.String("fractions", "0.5,0.25", "budgets, as parts of the resident working set; empty: none")
	budgets := flag.String("budget", "", "budgets in bytes, such as 8GiB,32GiB, without what the machine keeps for itself")
	without := flag.String("without", "invariant", "passes to leave out")
	loops := flag.Bool("loops", false, "add self loops to the graph once, for all models, instead of in a copy for each that wants them")
	flag.StringVar(&b.device, "device", "cpu", "device")
	flag.StringVar(&b.machine, "machine", "cpu", "machine model that plans are chosen by")
	flag.IntVar(&b.train.hidden, "hidden", 128, "columns between layers")
	flag.IntVar(&b.train.epochs, "epochs", 10, "epochs")
	flag.IntVar(&b.least, "chunks", 1, "intervals, at least")
	flag.Float64Var(&b.train.lr, "lr", 1e-4, "learning rate; sums over hundreds of neighbours make larger ones chaotic")
	flag.IntVar(&b.train.warm, "warmup", 2, "epochs before the median")
	ring := flag.String("ring", "", "instead: devices to compare, such as 'cuda:0 cuda:0,1', with the ring and without")
	mem := flag.String("mem", "", "with -ring: bytes of each device, such as 2GiB; empty: a tenth of what holds everything, or 1.05 times the smallest budget that works on all of them")
	flag.BoolVar(&b.smallest, "smallest", false, "also run with the smallest budget that works")
	flag.BoolVar(&b.resident, "resident", true, "run with everything on the device first; false for graphs that it does not hold")
	flag.BoolVar(&b.repeat, "repeat", true, "run the last configuration of each model again and compare losses bit by bit")
	flag.BoolVar(&b.tasks, "tasks", false, "run one epoch more, task by task, and print what its tasks took beside what the planner expected")
	host := flag.String("host", "", "refuse runs that need more host memory than this, such as 245GiB; empty: none")
	hostMem := flag.String("host-mem", "", "host memory for cells, inputs and stored values, such as 64GiB; what does not fit lies in files in -scratch; empty: no bound")
	flag.StringVar(&b.storage, "storage", "", "rows that edges gather from their far end: f32 (also empty) or bf16")
	flag.StringVar(&b.host.scratch, "scratch", "", "folder on a disk for those files; empty: the system's folder for temporary files")
	flag.Parse()
	log.SetFlags(0)
	if err := b.parse(*without, *fractions, *budgets); err != nil {
		log.Fatal(err)
	}
	var err error
	if b.host.needs, err = bytesIn(*host); err != nil {
		log.Fatalf("-host: %v", err)
	}
	if b.host.bytes, err = bytesIn(*hostMem); err != nil {
		log.Fatalf("-host-mem: %v", err)
	}
	ringMem, err := bytesIn(*mem)
	if err != nil {
		log.Fatalf("-mem: %v", err)
	}
	var stop context.CancelFunc
	b.ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(b.ctx, stop) // a second signal ends the process
	start := time.Now()
	d, err := load(*data)
	if err != nil {
		log.Fatal(err)
	}
	if *loops {
		d.Edges = d.Edges.WithSelfLoops()
	}
	if held := given(d) + 4*int64(d.Edges.V)*int64(d.FeatureCols); held > 8<<30 {
		debug.SetGCPercent(10) // the heap is large: by default garbage would be collected only when it has doubled
		debug.FreeOSMemory()
	}
	fmt.Printf("%d vertices, %d edges, %d features, %d classes; ready after %.1f s; host memory %.1f GiB at most so far\n\n",
		d.Edges.V, d.Edges.E(), d.FeatureCols, d.Classes, time.Since(start).Seconds(), gib(peakRSS()))
	names := strings.Split(*models, ",")
	if *ring != "" {
		err = b.ringTable(d, names, strings.Fields(*ring), ringMem)
	} else {
		err = b.table(d, names)
	}
	b.printReady()
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// parse parses the flags that the flag package cannot parse.
func (b *bench) parse(without, fractions, budgets string) error {
	var err error
	if b.m, err = sim.LoadMachine(b.machine); err != nil {
		return err
	}
	if b.train.warm < 0 || b.train.epochs <= b.train.warm {
		return fmt.Errorf("-epochs %d -warmup %d: want at least one epoch after the warm-up", b.train.epochs, b.train.warm)
	}
	if without != "" {
		b.without = strings.Split(without, ",")
	}
	for _, f := range fields(fractions) {
		x, err := strconv.ParseFloat(f, 64)
		if err != nil || !(x > 0) {
			return fmt.Errorf("-fractions %s: want numbers above 0", fractions)
		}
		b.parts = append(b.parts, x)
	}
	for _, f := range fields(budgets) {
		n, err := bytesIn(f)
		if err != nil || n == 0 {
			return fmt.Errorf("-budget %s: want sizes such as 8GiB,32GiB", budgets)
		}
		b.budgets = append(b.budgets, n)
	}
	if !b.resident && len(b.parts) > 0 {
		return fmt.Errorf("-resident=false: there is no resident working set to take parts of; give -fractions \"\" and -budget")
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

// bytesIn parses a size such as 8GiB, 500MiB or 2e9; "" is 0.
func bytesIn(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, scale := text, 1.0
	for suffix, n := range map[string]float64{"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			number, scale = rest, n
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x >= 0) || x*scale > 1<<50 {
		return 0, fmt.Errorf("%q is no size such as 8GiB or 2e9", text)
	}
	return int64(x * scale), nil
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
