package offload

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"sagann/dataflow/plan"
	"sagann/dataset"
	"sagann/layers"
	"sagann/saga"
)

// outcome is the measurements of one run.
type outcome struct {
	mem      int64 // the budget
	plan     *plan.Plan
	seconds  float64 // median time of an epoch
	losses   []float64
	predict  float64
	ready    float64 // seconds until the first epoch could begin, without opening
	h2d, d2h int64
	stages   saga.Stages
	pinned   int64 // bytes of host memory
	host     int64 // most bytes of host memory in use
	needs    int64 // the part of host that the plan and the graph explain
	disk     int64 // bytes in files instead
	tasks    []saga.TaskTotal
	card     int64 // bytes in use on the first GPU, as its driver says, with context and libraries
}

// config is the configuration of a run with so many bytes for the plan; 0: no bound.
func (b *bench) config(d *dataset.Data, name string, mem int64) (saga.Model, saga.Config, error) {
	m, err := layers.New(name, layers.Options{Features: d.FeatureCols, Hidden: b.Train.Hidden, Classes: d.Classes, Layers: 2})
	c := saga.Config{Device: b.device, NoRing: b.noRing, Mem: mem, HostMem: int64(b.Memory.HostMem), Scratch: b.Memory.Scratch, Storage: b.Storage, Seed: 1, Without: b.without, Schedule: plan.Auto, Machine: b.Machine,
		Optimizer: saga.Optimizer{Kind: "adam", LR: float32(b.Train.LR)}}
	if mem > 0 {
		c.Mem += b.kept()
	}
	return m, c, err
}

// kept is the bytes of a device's memory that the machine reserves.
func (b *bench) kept() int64 { return int64(b.m.Kind(0).Memory.Value) - b.m.Budget(0) }

// needed is the smallest budget that err names, without the memory that the machine reserves, and its
// number of intervals.
func (b *bench) needed(err error) (bytes int64, intervals int, ok bool) {
	var small *plan.BudgetError
	if !errors.As(err, &small) {
		return 0, 0, false
	}
	return small.Smallest - b.kept(), small.P, true
}

// compile plans with a budget of so many bytes.
func (b *bench) compile(d *dataset.Data, name string, mem int64) (*saga.Program, error) {
	m, c, err := b.config(d, name, mem)
	if err != nil {
		return nil, err
	}
	c.MinChunks = b.Chunks
	return saga.Compile(m, d, c)
}

// learn is the smallest budget that works with the real cells. It is taken from the error for a budget of one
// byte.
func (b *bench) learn(d *dataset.Data, name string) (int64, error) {
	m, c, err := b.config(d, name, 1)
	if err != nil {
		return 0, err
	}
	c.HostMem = 0
	_, err = saga.Compile(m, d, c)
	n, _, ok := b.needed(err)
	if !ok {
		return 0, fmt.Errorf("a budget of one byte: %v", err)
	}
	return n, nil
}

// runSmallest runs with the smallest budget that works: the one that an error names or, if that
// is not enough, the one that the next error names.
func (b *bench) runSmallest(d *dataset.Data, name string) (*outcome, error) {
	mem, err := b.learn(d, name)
	if err != nil {
		return nil, err
	}
	for range 8 {
		o, err := b.run(d, name, mem)
		n, _, small := b.needed(err)
		if !small || n <= mem {
			return o, err
		}
		fmt.Fprintf(os.Stderr, "%s: %d bytes were said to do; now %d are\n", name, mem, n)
		mem = n
	}
	return nil, fmt.Errorf("no budget found that works; the last tried is %d bytes", mem)
}

// run trains with so many bytes for the plan; 0: no bound.
func (b *bench) run(d *dataset.Data, name string, mem int64) (*outcome, error) {
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if given(d) > 8<<30 {
		debug.FreeOSMemory() // frees the memory of the previous run
	} else {
		runtime.GC() // its memory serves this one: fresh pages take time
	}
	resetPeak()
	start := time.Now()
	p, err := b.compile(d, name, mem)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	o := &outcome{mem: mem, plan: p.TrainPlan(), ready: time.Since(start).Seconds()}
	if t := p.Predicted(); t != nil {
		o.predict = t.Seconds()
	}
	graph, inputs, stored := p.HostBytes()
	if b.Memory.HostMem > 0 { // the rest is in files
		all := p.Summary().Host
		graph = min(graph, all)
		inputs = min(inputs, all-graph)
		stored, o.disk = all-graph-inputs, p.Summary().Disk
	}
	heap := given(d) + graph + inputs // stored values lie outside Go's heap
	if o.needs = heap + stored; heap > 8<<30 {
		debug.SetMemoryLimit(heap + heap/16) // what building leaves behind goes back to the system at once
	}
	if b.Memory.Host > 0 && o.needs > int64(b.Memory.Host) {
		return nil, fmt.Errorf("the plan, with %d intervals, needs %.1f GiB of host memory with the graph as it was given; --host allows %.1f", o.plan.Cells.P, gib(o.needs), gib(int64(b.Memory.Host)))
	}
	var times []float64
	for e := range b.Train.Epochs {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		before := p.Moved()
		start := time.Now()
		loss, err := p.Step()
		if err != nil {
			return nil, err
		}
		if e >= b.Train.Warmup {
			times = append(times, time.Since(start).Seconds())
		}
		o.losses = append(o.losses, loss)
		after := p.Moved()
		o.h2d, o.d2h = after.H2D-before.H2D, after.D2H-before.D2H
	}
	if o.h2d != o.plan.H2D || o.d2h != o.plan.D2H {
		return nil, fmt.Errorf("moved %d and %d bytes in an epoch; the plan says %d and %d", o.h2d, o.d2h, o.plan.H2D, o.plan.D2H)
	}
	o.stages, o.pinned, o.host = p.Stages(), p.PinnedBytes(), peakRSS()
	if b.Tasks {
		if err := o.traceTasks(p); err != nil {
			return nil, err
		}
	}
	if o.card, err = b.inUse(); err != nil {
		return nil, err
	}
	if allowed := mem + b.kept(); mem > 0 && o.card > allowed {
		b.ready = append(b.ready, fmt.Sprintf("%s: the driver says that %d bytes are in use; the budget is %d.", name, o.card, allowed))
	}
	slices.Sort(times)
	n := len(times)
	o.seconds = (times[(n-1)/2] + times[n/2]) / 2
	return o, nil
}

// apart is the largest relative difference of two loss curves.
func apart(o, other *outcome) float64 {
	d := 0.0
	for i, l := range o.losses {
		d = max(d, math.Abs(l-other.losses[i])/math.Max(1e-30, math.Abs(other.losses[i])))
	}
	return d
}

// again runs a configuration once more, and is an error if its losses have other bits.
func (b *bench) again(name string, o *outcome, run func() (*outcome, error)) error {
	twin, err := run()
	if err != nil {
		return fmt.Errorf("%s, again: %w", name, err)
	}
	for i, l := range o.losses {
		if math.Float64bits(l) != math.Float64bits(twin.losses[i]) {
			return fmt.Errorf("%s, again: epoch %d has loss %v, had %v before", name, i+1, twin.losses[i], l)
		}
	}
	b.ready = append(b.ready, fmt.Sprintf("%s: the last configuration run again gives the same %d losses, bit by bit.", name, len(o.losses)))
	return nil
}

// residentPeak is the device memory with which everything is resident on one device.
func (b *bench) residentPeak(d *dataset.Data, name string) (int64, error) {
	m, c, err := b.config(d, name, 0)
	if err != nil {
		return 0, err
	}
	shape := saga.Shape{Vertices: d.Edges.V, Edges: int64(d.Edges.E()), Features: d.FeatureCols, Classes: d.Classes}
	c.Device, c.Machine, c.Schedule, c.HostMem = "", "", "", 0
	p, err := saga.Plan(m, shape, c)
	if err != nil {
		return 0, err
	}
	return p.TrainPlan().Peak, nil
}
