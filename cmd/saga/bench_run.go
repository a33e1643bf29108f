package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sagann/dataset"
	"sagann/saga"
)

// benchRun says whether and how large a benchmark is also run on the CPU device.
type benchRun struct {
	Device string `placeholder:"cpu" help:"Also run each on the CPU, on a graph that is generated, and count the bytes."`
	Scale  count  `default:"10" placeholder:"N" help:"The graph that is run has an N-th of the vertices and edges (${default})."`
}

// check refuses what cannot be run.
func (r *benchRun) check() error {
	if r.Device != "" && r.Device != "cpu" {
		return usagef("--device %s: bytes are counted on cpu", r.Device)
	}
	if r.Scale < 1 {
		return usagef("--scale %d: at least 1", r.Scale)
	}
	return nil
}

// graph generates an N-th of shape s, so many copies of it side by side.
func (r *benchRun) graph(s saga.Shape, copies int) (*dataset.Data, error) {
	spec := dataset.DefaultSpec()
	spec.Vertices, spec.Edges = max(s.Classes, s.Vertices/int(r.Scale)), int(s.Edges)/int(r.Scale)
	spec.Features, spec.Classes, spec.Copies = s.Features, s.Classes, copies
	if most := spec.Vertices * (spec.Vertices - 1) / 4; spec.Edges > most {
		spec.Edges = most
	}
	return dataset.Synthetic(spec)
}

// counted is what the executor moved in an epoch, and how long it took.
type counted struct {
	h2d, d2h, peak int64
	chunks         int
	seconds        float64 // median of the epochs after the first, or of the only one
}

func (c *counted) moved() int64 { return c.h2d + c.d2h }

// count runs some epochs on data, without an evaluation. It is an error when what the
// executor moved in one is not what its plan says, or the memory it held.
func (o *benchOutput) count(name string, d *dataset.Data, c saga.Config, epochs int) (out *counted, err error) {
	m, err := o.model(name, saga.Shape{Features: d.FeatureCols, Classes: d.Classes})
	if err != nil {
		return nil, err
	}
	c.Epochs, c.EvalEvery = epochs+1, epochs+1 // stopped before the last, which is evaluated
	p, err := saga.Compile(m, d, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	out = &counted{peak: p.TrainPlan().Peak, chunks: p.Chunks()}
	out.h2d, out.d2h = p.Moves()
	var took []float64
	done := errors.New("enough epochs were run")
	_, err = p.Train(context.Background(), saga.TrainOptions{OnEpoch: func(e saga.Epoch) error {
		if e.H2D != out.h2d || e.D2H != out.d2h {
			return fmt.Errorf("the executor moved %d and %d bytes, the plan says %d and %d", e.H2D, e.D2H, out.h2d, out.d2h)
		}
		if planned := p.PlannedPeak(); e.Peak > planned {
			return fmt.Errorf("%d bytes of device memory held, the plan says %d", e.Peak, planned)
		}
		if took = append(took, e.Seconds); len(took) == epochs {
			return done
		}
		return nil
	}})
	if !errors.Is(err, done) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if epochs > 1 {
		took = took[1:]
	}
	slices.Sort(took)
	out.seconds = (took[(len(took)-1)/2] + took[len(took)/2]) / 2
	return out, nil
}
