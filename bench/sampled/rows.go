package sampled

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"sagann/bench/measure"
	"sagann/dataset"
	"sagann/device"
	"sagann/sample"
)

// line times a run and prints a row of a table.
func (e *epochs) line(d *dataset.Data, name string) (err error) {
	p, err := e.program(d)
	if err != nil {
		return err
	}
	var list, losses []float64
	var last turn
	err = e.turns(p, func(n int, t turn) error {
		if losses, last = append(losses, t.loss), t; n > 0 {
			list = append(list, 1e3*t.wall.Seconds())
		}
		return nil
	})
	peak := p.DevicePeak()
	if err = errors.Join(err, p.Close()); err != nil {
		return err
	}
	fresh()
	slices.Sort(list)
	s, ms := last.now, measure.Median(list)
	drawing, by := 1e3*(s.Drawing-last.before.Drawing).Seconds(), "host, of all processors; the share is what steps waited"
	share := 1e3 * (s.Waiting - last.before.Waiting).Seconds() / ms
	if s.Drawn {
		if drawing, err = e.drawAlone(d); err != nil {
			return err
		}
		share, by = drawing/ms, "card, alone"
	}
	far, kept := s.FarRows, ""
	for i := range far {
		far[i] -= last.before.FarRows[i]
	}
	if all := far[0] + far[1] + far[2]; all > 0 {
		kept = fmt.Sprintf("%.1f %% hot, %.1f %% matched", 100*float64(far[1])/float64(all), 100*float64(far[2])/float64(all))
	}
	row(name, s.Batches, s.Expected[len(s.Expected)-1], fmt.Sprintf("%.1f", ms), least(list), fmt.Sprintf("%.1f", drawing), fmt.Sprintf("%.1f %%", 100*share), by,
		fmt.Sprintf("%.2f", float64(far[0])*float64(4*d.FeatureCols)/1e9), kept, fmt.Sprintf("%.0f", float64(peak)/1e6), fmt.Sprintf("%.4f", losses), fmt.Sprintf("%x", last.bits))
	return nil
}

// drawAlone is the milliseconds that a GPU takes to draw and renumber the batches of an epoch when it does nothing else.
func (e *epochs) drawAlone(d *dataset.Data) (ms float64, err error) {
	_, index, err := device.Parse(e.With.Device)
	if err != nil {
		return 0, err
	}
	d, how, _, err := e.sampling(d)
	if err != nil {
		return 0, err
	}
	p, err := sample.Compile(how.Rows, how.Sampler)
	if err != nil {
		return 0, err
	}
	bytes, err := p.GPUBytes(how.Batch, len(d.Train))
	if err != nil {
		return 0, err
	}
	gpu, err := device.OpenCUDA(index[0], bytes)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, gpu.Close()) }()
	on, err := p.OnGPU(gpu.(device.GPU))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	return fastest(on, d.Train, how.Batch)
}

// fastest is the least milliseconds of three epochs of draws.
func fastest(on *sample.GPU, seeds []uint32, size int) (least float64, err error) {
	for i := range 3 {
		start := time.Now()
		if _, _, err := on.Epoch(seeds, size, sample.Key{Seed: 1}); err != nil {
			return 0, err
		}
		if ms := 1e3 * time.Since(start).Seconds(); i == 0 || ms < least {
			least = ms
		}
	}
	return least, nil
}
