package tables

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"sagann/backend"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/saga"
)

// benchEpochs says how long runs of benchmarks are.
type benchEpochs struct {
	Warmup count `default:"1" placeholder:"N" help:"With --device: epochs before those that are timed (${default})."`
	Epochs count `default:"3" placeholder:"N" help:"With --device: epochs timed, whose median is printed (${default})."`
}

// benchRun says whether a benchmark is also run on a device, and on how large a graph.
type benchRun struct {
	Device string `placeholder:"NAME" help:"Also run each on cpu or, in a build for GPUs, cuda, on a graph that is generated: bytes counted, epochs timed. Where --machine describes the device (cpu, or h200 for cuda), predicted times stand beside, and budgets are on top of what the machine keeps for itself."`
	Scale  auto   `default:"auto" placeholder:"N" help:"The graph that is run has an N-th of the vertices and edges; auto: 10 on cpu, 1 on GPUs."`
	benchEpochs
}

// check refuses what cannot be run.
func (r *benchRun) check() error {
	if r.Device == "" {
		return nil
	}
	if r.Scale == 0 {
		if r.Scale = 1; backend.Of(r.Device).Host {
			r.Scale = 10
		}
	}
	return r.runnable(r.Device)
}

// unused tells which flags have no effect, of those of runs and of more.
func (r *benchRun) unused(a *app, more ...string) {
	if r.Device == "" {
		a.Idle("what is simulated, without --device", append(more, "scale", "warmup", "epochs")...)
	}
}

func (e *benchEpochs) runnable(spec string) error {
	if n, err := device.Count(spec); err != nil || !backend.Of(spec).Timed {
		return cli.Usagef("--device %s: cpu or, in a build for GPUs, cuda; several are cpu:2 or cuda:0,1", spec)
	} else if n < 1 || e.Epochs < 1 {
		return cli.Usagef("--epochs %d: at least 1", e.Epochs)
	}
	return nil
}

// graph generates an N-th of shape s, so many copies of it side by side.
func (r *benchRun) graph(s saga.Shape, copies int) (*dataset.Data, error) {
	s.Vertices, s.Edges = s.Vertices/int(r.Scale), s.Edges/int64(r.Scale)
	return graphOf(s, copies)
}

// graphOf generates copies of a graph of shape s.
func graphOf(s saga.Shape, copies int) (*dataset.Data, error) {
	spec := dataset.DefaultSpec()
	spec.Vertices, spec.Edges = max(2, s.Classes, s.Vertices), int(s.Edges)
	spec.Features, spec.Classes, spec.Copies, spec.Skew = s.Features, s.Classes, copies, s.Skew
	if most := spec.Vertices * (spec.Vertices - 1) / 4; spec.Edges > most {
		spec.Edges = most
	}
	return dataset.Synthetic(spec)
}

// modelled reports whether the simulator's machine is of the device's kind.
func (o *benchOutput) modelled(spec string) bool {
	return (o.Machine == backend.Default().Model) == backend.Of(spec).Host
}

// counted is the bytes that the executor moved in an epoch, and the time of the epoch.
type counted struct {
	h2d, d2h, d2d int64
	peak          int64 // peak bytes of the training plan
	held          int64 // most device memory held, including that of kernels
	chunks, slots int
	schedule      string
	seconds       float64 // median of the epochs that were timed
	predicted     float64 // seconds on the machine; 0: it is not one of the device's kind
	losses        []float64
}

// log writes the run to the log as soon as it is over, because tables are printed at the end, and a
// benchmark that is stopped early prints none.
func (c *counted) log(l *slog.Logger, what ...any) {
	predicted, off := c.forecast()
	l.Info("ran", append(what, "epoch_ms", ms(c.seconds), "predicted_ms", predicted, "off", off, "chunks", c.chunks,
		"h2d_bytes", c.h2d, "d2h_bytes", c.d2h, "d2d_bytes", c.d2d, "device_mib", mib(c.held))...)
}

func (c *counted) moved() int64 { return c.h2d + c.d2h }

// forecast is the predicted time, and by how much it is off, as text for tables.
func (c *counted) forecast() (predicted, off string) {
	if c.predicted == 0 {
		return "–", "–"
	}
	return ms(c.predicted), fmt.Sprintf("%+.0f %%", 100*(c.predicted/c.seconds-1))
}

// data is c as JSON.
func (c *counted) data() fields {
	return fields{{"chunks", c.chunks}, {"seconds", c.seconds}, {"predicted_seconds", c.predicted}, {"h2d_bytes", c.h2d}, {"d2h_bytes", c.d2h},
		{"d2d_bytes", c.d2d}, {"peak_device_bytes", c.peak}, {"held_device_bytes", c.held}, {"schedule", c.schedule}, {"loss", c.losses[len(c.losses)-1]}}
}

// slowLR is a small learning rate. Sums over hundreds of neighbours make training with larger steps chaotic,
// and then losses of different plans could not be compared.
const slowLR = 1e-4

// stopped returns an error after a signal has come. Runs then end after the current epoch, and the
// tables have the runs before it. A second signal ends the process.
func stopped(a *app) error {
	if a.Runs == nil {
		a.Runs, _ = cli.Interruptible(a) // until the process ends
	}
	return a.Runs.Err()
}

// count runs some epochs on data, without evaluation. c.Mem does not include the memory that the
// machine reserves. It is an error if the bytes that the executor moved in an epoch, or the memory that it
// held, are not those of its plan.
func (o *benchOutput) count(a *app, name string, d *dataset.Data, c saga.Config, e benchEpochs) (out *counted, err error) {
	if err := stopped(a); err != nil {
		return nil, err
	}
	m, err := o.model(name, saga.Shape{Features: d.FeatureCols, Classes: d.Classes})
	if err != nil {
		return nil, err
	}
	c.Optimizer, c.Seed = saga.Optimizer{Kind: "adam", LR: slowLR}, 1
	if o.modelled(c.Device) {
		reserve, err := o.machineOf()
		if err != nil {
			return nil, err
		}
		if c.Machine = o.Machine; c.Mem > 0 {
			c.Mem += reserve
		}
	}
	p, err := saga.Compile(m, d, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	pl := p.TrainPlan()
	out = &counted{peak: pl.Peak, chunks: pl.Cells.P, slots: pl.Slots, schedule: pl.Schedule, h2d: pl.H2D, d2h: pl.D2H, d2d: pl.D2D}
	if t := p.Predicted(); t != nil {
		out.predicted = t.Seconds()
	}
	var took []float64
	for i := range int(e.Warmup + e.Epochs) {
		if err := stopped(a); err != nil {
			return nil, err
		}
		took, err = timedStep(p, took, &out.losses)
		if err != nil {
			return nil, fmt.Errorf("%s: epoch %d: %w", name, i+1, err)
		}
	}
	out.held = p.DevicePeak()
	if most := p.PlannedPeak() + p.KernelBytes(); out.held > most {
		return nil, fmt.Errorf("%s: %d bytes of device memory held, the plans and kernels need %d", name, out.held, most)
	}
	out.seconds = middle(took[e.Warmup:])
	return out, nil
}

// timedStep trains for one epoch, appends its seconds to took and its loss to losses, and
// checks the bytes that it moved against the plan.
func timedStep(p *saga.Program, took []float64, losses *[]float64) ([]float64, error) {
	if err := p.Open(); err != nil {
		return nil, err
	}
	before, start := p.Moved(), time.Now()
	loss, err := p.Step()
	if err != nil {
		return nil, err
	}
	took = append(took, time.Since(start).Seconds())
	*losses = append(*losses, loss)
	after, pl := p.Moved(), p.TrainPlan()
	if h, u, x := after.H2D-before.H2D, after.D2H-before.D2H, after.D2D-before.D2D; h != pl.H2D || u != pl.D2H || x != pl.D2D {
		return nil, fmt.Errorf("the executor moved %d, %d and %d bytes down, up and between devices, the plan says %d, %d and %d", h, u, x, pl.H2D, pl.D2H, pl.D2D)
	}
	return took, nil
}

// lossApart is the largest relative difference of two loss curves.
func lossApart(one, other *counted) float64 {
	d := 0.0
	for i := range min(len(one.losses), len(other.losses)) {
		d = max(d, math.Abs(one.losses[i]-other.losses[i])/math.Max(1e-30, math.Abs(other.losses[i])))
	}
	return d
}

// middle is the median.
func middle(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// cannot says in a few words why a run has no numbers.
func cannot(err error) string {
	if errors.Is(err, context.Canceled) {
		return "not run: stopped"
	}
	if small(err) {
		return "does not fit: " + firstLine(err)
	}
	return "cannot run: " + firstLine(err)
}

// firstLine is the first line of err, shortened for a table.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if r := []rune(text); len(r) > 160 {
		text = string(r[:160]) + "…"
	}
	return text
}
