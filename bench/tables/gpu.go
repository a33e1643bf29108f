package tables

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/backend"
	"sagann/bench/measure"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
	"sagann/sample"
)

// gpuBench is the flags of the benchmarks that run epochs.
type gpuBench struct {
	Models   []string     `type:"lowercase" default:"gcn,commnet,ggnn,resgated,mpgcn" placeholder:"NAME" help:"Models (${default})."`
	Data     string       `placeholder:"PATH" help:"Graph; default: a generated one of --shape."`
	Shape    string       `placeholder:"NAME" help:"Shape of the generated graph: ${model_shapes}; default: reddit_middle, without a GPU a tenth of its vertices and edges."`
	Uniform  bool         `help:"Generate edges between any two vertices, as peer.py of bench/cuda does, and no communities."`
	Device   string       `default:"auto" placeholder:"NAME" help:"Where epochs run; auto: on a GPU where there is one, otherwise on the CPU."`
	Mem      memory       `default:"auto" placeholder:"SIZE" help:"Device memory; auto: what it takes."`
	Machine  string       `placeholder:"NAME|FILE" help:"Choose plans by this machine model: one of ${machines}, a file, or none: the fewest intervals that fit. Default: on GPUs as saga train, but nothing is measured, else none."`
	Hidden   count        `default:"128" placeholder:"N" help:"Columns between layers (${default})."`
	Layers   count        `default:"2" placeholder:"N" help:"Number of layers (${default})."`
	Heads    count        `default:"8" placeholder:"N" help:"Heads of gat, each of --hidden columns (${default})."`
	Between  betweenFlags `embed:""`
	Epochs   count        `default:"10" placeholder:"N" help:"Epochs timed, after three (${default})."`
	Without  []string     `default:"invariant" placeholder:"PASS" help:"Passes to leave out (${default}: what never changes is computed again in every epoch); none: all run."`
	Storage  string       `default:"f32" placeholder:"TYPE" help:"Rows that edges gather: f32 or bf16 (${default})."`
	TF32     bool         `name:"tf32" help:"Round the operands of dense products to TF32."`
	Markdown bool         `help:"Print Markdown."`
	JSON     bool         `name:"json" help:"Print one JSON object on the last line of standard output, the tables on standard error."`
	Over     batchFlags   `embed:""`
}

// betweenFlags say what happens between layers.
type betweenFlags struct {
	Norm    string  `placeholder:"NAME" help:"Between layers: batch or layer."`
	Dropout float32 `default:"0" placeholder:"P" help:"Dropout on the input of every layer (${default})."`
}

// batchFlags say what an epoch goes over.
type batchFlags struct {
	Undirected bool  `help:"Add the reverse of every edge of --data that has none."`
	Sample     []int `placeholder:"N" help:"Instead of the whole graph, in-edges that a vertex draws for each layer, as 15,10; an epoch is then a batch."`
	Batch      count `default:"1024" placeholder:"N" help:"Seeds of a batch (${default})."`
}

// timed is a program after its epochs.
type timed struct {
	name    string
	prog    *saga.Program
	seconds float64 // the median epoch
	best    float64
	loss    float64
	ready   time.Duration
}

// look completes the options from the machine. It is an error if the device does not exist. It runs before
// anything is generated.
func (c *gpuBench) look() error {
	if c.Device == "auto" {
		c.Device = backend.Present()
	}
	_, index, err := device.Parse(c.Device)
	if err != nil {
		return cli.Usagef("--device: %w", err)
	}
	switch c.Machine {
	case "":
		c.Machine = cli.PlannedMachine(c.Device)
	case "none":
		c.Machine = ""
	}
	k := backend.Of(c.Device)
	if err := c.graph(k.GPU()); err != nil {
		return cli.Usage(err)
	}
	if k.System == nil {
		return nil
	}
	sys, err := k.System()
	if err != nil {
		return fmt.Errorf("--device %s: %w", c.Device, err)
	}
	if n := slices.Max(index); n >= sys.GPUs() {
		return cli.Usagef("--device %s: there are GPUs 0 to %d", c.Device, sys.GPUs()-1)
	}
	return nil
}

// graph sets Data to the generated graph of the flags, unless it is given.
func (c *gpuBench) graph(gpu bool) error {
	if c.Data != "" {
		if c.Shape != "" || c.Uniform {
			return errors.New("--data names a graph, --shape and --uniform are of one that is generated")
		}
		return nil
	}
	s, err := measure.ShapeOf(cmp.Or(c.Shape, "reddit_middle"))
	if err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if !measure.Rows(s) {
		return fmt.Errorf("--shape %s: of %s", c.Shape, measure.Shapes(measure.Rows))
	}
	if c.Shape == "" && !gpu { // a smaller graph, so that it takes minutes and not hours
		s.Vertices, s.Edges = s.Vertices/10, s.Edges/10
	}
	c.Data = fmt.Sprintf("synthetic:vertices=%d,edges=%d,features=%d,classes=%d", s.Vertices, s.Edges, s.Features, s.Classes)
	return nil
}

// each runs the epochs of every model and calls f with the result.
func (c *gpuBench) each(a *app, f func(t *timed) error) error {
	if c.Epochs < 1 {
		return cli.Usagef("--epochs %d: at least 1", c.Epochs)
	}
	d, err := cli.OpenTarget(c.Data, "", dataset.Options{Undirected: c.Over.Undirected})
	if err != nil {
		return err
	}
	if c.Uniform {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range d.Edges.Src {
			d.Edges.Src[i], d.Edges.Dst[i] = r.Uint32N(uint32(d.Edges.V)), r.Uint32N(uint32(d.Edges.V))
		}
	}
	a.Log.Info("graph", "data", cli.Describe(d))
	for _, name := range c.Models {
		if err := c.one(name, d, f); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (c *gpuBench) one(name string, d *dataset.Data, f func(t *timed) error) (err error) {
	without := slices.DeleteFunc(slices.Clone(c.Without), func(s string) bool { return s == "none" })
	cfg := saga.Config{Device: c.Device, Machine: c.Machine, Mem: int64(c.Mem), Seed: 1, Without: without, Storage: c.Storage, TF32: c.TF32}
	if err := cfg.Validate(); err != nil {
		return cli.Usage(err)
	}
	m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Classes: d.Classes, Hidden: int(c.Hidden), Layers: int(c.Layers), Heads: int(c.Heads), Dropout: c.Between.Dropout,
		Between: layers.Between{Norm: c.Between.Norm}, EdgeData: d.Edges.DataCols, EdgeTypes: d.Edges.Types})
	if err != nil {
		return cli.Usage(err)
	}
	begun := time.Now()
	p, err := c.compile(m, d, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	t := &timed{name: name, prog: p}
	var times []float64
	for i := range 3 + int(c.Epochs) {
		if i == 3 {
			t.ready = time.Since(begun)
		}
		begun := time.Now()
		if t.loss, err = p.Step(); err != nil {
			return err
		}
		if i >= 3 {
			times = append(times, time.Since(begun).Seconds())
		}
	}
	slices.Sort(times)
	t.seconds, t.best = times[len(times)/2], times[0]
	return f(t)
}

// compile compiles m over the whole of d or, with --sample, over batches, which evaluation, that is never timed, would draw too.
func (c *gpuBench) compile(m saga.Model, d *dataset.Data, cfg saga.Config) (*saga.Program, error) {
	if len(c.Over.Sample) == 0 {
		return saga.Compile(m, d, cfg)
	}
	return saga.CompileSampled(m, d, cfg, saga.Sampling{Sampler: sample.Neighbours(c.Over.Sample...), Batch: int(c.Over.Batch), Eval: c.Over.Sample})
}

func (c *gpuBench) print(a *app, sheets ...*sheet) error {
	return (&benchOutput{Machine: c.Device, Markdown: c.Markdown, JSON: c.JSON}).print(a, sheets...)
}

// idle tells which flags have no effect.
func (c *gpuBench) idle(a *app) {
	if with := layers.Reading(layers.ReadsHeads); !slices.ContainsFunc(c.Models, func(name string) bool { return slices.Contains(with, name) }) {
		a.Idle("these models, which have no heads", "heads")
	}
	if len(c.Over.Sample) == 0 {
		a.Idle("whole graphs", "batch")
	}
	if c.Layers < 2 {
		a.Idle("a single layer", "norm", "hidden")
	}
	if !backend.Of(c.Device).GPU() {
		a.Idle("a CPU", "tf32")
	}
}

// Epoch is saga bench epoch.
type Epoch struct{ gpuBench }

// Run prints a line for each model.
func (c *Epoch) Run(a *app) error {
	if err := c.look(); err != nil {
		return err
	}
	c.idle(a)
	s := &sheet{key: "epochs", title: fmt.Sprintf("Training epochs on %s: forward, backward, Adam; %s, %d columns between %d layers, without %v, storage %s, TF32 %v", c.Device, c.Data, c.Hidden, c.Layers, c.Without, c.Storage, c.TF32),
		head: table.Row{"model", "epoch ms", "best ms", "P", "device memory", "ready after s", "loss"}}
	err := c.each(a, func(t *timed) error {
		peak := t.prog.DevicePeak()
		s.add(table.Row{t.name, fmt.Sprintf("%.3f", 1e3*t.seconds), fmt.Sprintf("%.3f", 1e3*t.best), t.prog.TrainPlan().Cells.P, cli.SizeText(peak), fmt.Sprintf("%.1f", t.ready.Seconds()), fmt.Sprintf("%.5f", t.loss)},
			fields{{"model", t.name}, {"epoch_seconds", t.seconds}, {"best_seconds", t.best}, {"chunks", t.prog.TrainPlan().Cells.P}, {"peak_device_bytes", peak}, {"tensor_bytes", t.prog.TensorBytes()}, {"loss", t.loss}})
		return nil
	})
	if err != nil {
		return err
	}
	s.notes = []string{fmt.Sprintf("Medians of %d epochs after three; the memory is the arena's, without the GPU's context and libraries.", c.Epochs)}
	return c.print(a, s)
}

// Kernels is saga bench kernels.
type Kernels struct {
	gpuBench
	Most count `default:"20" placeholder:"N" help:"Kernels listed a model, those that take longest (${default})."`
}

// Run prints a table for each model, with a roofline line for every kernel.
func (c *Kernels) Run(a *app) error {
	if err := c.look(); err != nil {
		return err
	}
	if !backend.Of(c.Device).GPU() {
		return cli.Usagef("--device %s: kernels are timed on GPUs; saga bench epoch runs anywhere", c.Device)
	}
	c.idle(a)
	top, err := measureCeilings(c.Device)
	if err != nil {
		return err
	}
	var sheets []*sheet
	err = c.each(a, func(t *timed) error {
		s, err := roofline(t, top, int(c.Most))
		sheets = append(sheets, s)
		return err
	})
	if err != nil {
		return err
	}
	last := sheets[len(sheets)-1]
	last.notes = append(last.notes, fmt.Sprintf("Ceilings, measured before: copies within the device %.0f GB/s read and written, products of 8192×8192 matrices %.1f TFLOP/s. "+
		"Bytes are those of a kernel's operands, a row that edges gather once an edge, so that what the cache serves goes beyond the copy. "+
		"Operations are two a multiply and add of products, and one a column of every other instruction. Kernels are timed by events around each, one at a time.", top.copied, top.product))
	return c.print(a, sheets...)
}

// roofline is the table of one model. Kernels with the same name and task are one line.
func roofline(t *timed, top *ceilings, most int) (*sheet, error) {
	list, err := t.prog.KernelTimes()
	if err != nil {
		return nil, err
	}
	all := map[string]*saga.KernelTime{}
	var order []*saga.KernelTime
	var sum time.Duration
	for _, k := range list {
		sum += k.Time
		key := k.Task + "\n" + k.Kernel
		if all[key] == nil {
			all[key] = &saga.KernelTime{Task: k.Task, Kernel: k.Kernel}
			order = append(order, all[key])
		}
		one := all[key]
		one.Time, one.Bytes, one.Flops = one.Time+k.Time, one.Bytes+k.Bytes, one.Flops+k.Flops
	}
	slices.SortStableFunc(order, func(a, b *saga.KernelTime) int { return cmp.Compare(b.Time, a.Time) })
	explained := 100 * sum.Seconds() / t.seconds
	s := &sheet{key: t.name, title: fmt.Sprintf("%s: epoch %.3f ms; %d kernels take %.3f ms, %.1f %% of it", t.name, 1e3*t.seconds, len(list), 1e3*sum.Seconds(), explained),
		head: table.Row{"kernel", "task", "ms", "MB", "GB/s", "of copy", "GFLOP", "TFLOP/s", "of product", "bound by"}}
	if z := t.prog.SampledPlan(); z != nil {
		s.notes = append(s.notes, fmt.Sprintf("Over all batches: hosts drew and filled for %.1f s on all threads together, steps waited for %.1f s; the next batch comes ahead: %t; rows in tables: %s.",
			z.Drawing.Seconds(), z.Waiting.Seconds(), z.Ahead, cli.SizeText(z.Tables)))
	}
	for _, k := range order[:min(len(order), most)] {
		sec := k.Time.Seconds()
		gb, tf := float64(k.Bytes)/1e9/sec, float64(k.Flops)/1e12/sec
		bound := "bytes"
		if tf/top.product > gb/top.copied {
			bound = "arithmetic"
		}
		s.add(table.Row{k.Kernel, k.Task, fmt.Sprintf("%.3f", 1e3*sec), fmt.Sprintf("%.1f", float64(k.Bytes)/1e6), fmt.Sprintf("%.0f", gb), percent(100 * gb / top.copied),
			fmt.Sprintf("%.2f", float64(k.Flops)/1e9), fmt.Sprintf("%.1f", tf), percent(100 * tf / top.product), bound},
			fields{{"kernel", k.Kernel}, {"task", k.Task}, {"seconds", sec}, {"bytes", k.Bytes}, {"flops", k.Flops}, {"bound", bound}})
	}
	return s, nil
}

// ceilings are the highest rates that the device reaches.
type ceilings struct {
	copied  float64 // GB/s read and written
	product float64 // TFLOP/s
}

// measureCeilings times copies of a GiB and products of 8192×8192 matrices.
func measureCeilings(spec string) (c *ceilings, err error) {
	devices, err := device.Open(spec, 2<<30+1<<20)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, d := range devices {
			err = errors.Join(err, d.Close())
		}
	}()
	d, ok := devices[0].(device.GPU)
	if !ok {
		return nil, cli.Usagef("--device %s: kernels are timed on GPUs; saga bench epoch runs anywhere", spec)
	}
	q, err := d.NewQueue("compute")
	if err != nil {
		return nil, err
	}
	const bytes, side = 1 << 30, 8192
	m, err := d.Alloc(2 * bytes)
	if err != nil {
		return nil, err
	}
	defer d.Free(m)
	at, err := d.Address(m)
	if err != nil {
		return nil, err
	}
	h, err := d.HostAlloc(8 * side * side)
	if err != nil {
		return nil, err
	}
	defer d.HostFree(h)
	noise := device.View[float32](h.Bytes())
	for i := range noise {
		noise[i] = float32((i*7+i/31)%1000)/1000 - 0.5
	}
	if err := d.CopyH2D(q, m, 0, h.Bytes()); err != nil {
		return nil, err
	}
	step := uint64(4 * side * side)
	b, err := d.Prepare([]device.Command{{Gemm: &device.Gemm{A: at, B: at + step, C: at + 2*step, M: side, N: side, K: side, LDA: side, LDB: side, LDC: side}}})
	if err != nil {
		return nil, err
	}
	product := device.GPUFunc("product", func(device.GPU) (device.Batch, error) { return b, nil })
	med := func(f func() error) (time.Duration, error) {
		var times []time.Duration
		for i := range 8 {
			if i == 3 {
				d.SetTrace(func(s device.Span) { times = append(times, s.End-s.Start) })
			}
			if err := f(); err != nil {
				return 0, err
			}
		}
		d.SetTrace(nil)
		slices.Sort(times)
		return times[len(times)/2], nil
	}
	tp, err := med(func() error { return d.Launch(q, product) })
	if err != nil {
		return nil, err
	}
	tc, err := med(func() error { return d.CopyD2D(q, m, 0, d, m, bytes, bytes) })
	if err != nil {
		return nil, err
	}
	return &ceilings{copied: 2 * bytes / 1e9 / tc.Seconds(), product: 2 * side * side * side / 1e12 / tp.Seconds()}, nil
}
