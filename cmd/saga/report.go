package main

import (
	"fmt"
	"io"

	"sagann/internal/cli"
	"sagann/saga"
)

// report prints how a run ended: text for people to text, JSON to stdout.
func (c *trainCmd) report(text, stdout io.Writer, j *job, r *running, res *saga.Result) error {
	multi := j.multi
	s, f := j.prog.Summary(), res.Final
	name := "accuracy"
	if multi {
		name = "micro-F1"
	}
	from := fmt.Sprintf("after epoch %d", res.Epochs)
	if c.Training.Patience > 0 {
		from = fmt.Sprintf("parameters of epoch %d of %d", res.BestEpoch, res.Epochs)
	}
	r.log.Info("done", "epochs", res.Epochs, "train", score(f.Train, multi), "validation", score(f.Val, multi), "test", score(f.Test, multi))
	_, err := fmt.Fprintf(text, "\n%-9s train %.4f  validation %.4f  test %.4f  (%s)\nepoch     %.3f s median\nmemory    peak %s of %s\nmoved     %s to the device, %s back, an epoch\nrun       %s\n",
		name, score(f.Train, multi), score(f.Val, multi), score(f.Test, multi), from, res.EpochSeconds,
		cli.SizeText(res.Peak), cli.SizeText(s.Budget), cli.SizeText(res.H2D), cli.SizeText(res.D2H), r.folder.Dir)
	if err != nil || !c.JSON {
		return err
	}
	out := fields{
		{"model", c.Model.Name}, {"vertices", s.Vertices}, {"edges", s.Edges}, {"chunks", s.Chunks}, {"schedule", s.Schedule},
		{"budget_bytes", s.Budget}, {"peak_device_bytes", res.Peak}, {"h2d_bytes", res.H2D}, {"d2h_bytes", res.D2H}, {"d2d_bytes", res.D2D},
		{"epoch_seconds", res.EpochSeconds}, {"epochs", res.Epochs}, {"loss", res.Loss},
	}
	key := "accuracy"
	if multi {
		key = "f1"
	}
	for _, x := range []struct {
		split string
		m     saga.Metrics
	}{{"train", f.Train}, {"val", f.Val}, {"test", f.Test}} {
		out = append(out, field{x.split + "_" + key, score(x.m, multi)})
		if multi {
			out = append(out, field{x.split + "_macro_f1", x.m.MacroF1})
		}
	}
	out = append(out, field{"best_epoch", res.BestEpoch}, field{"host_bytes", s.Host}, field{"disk_bytes", s.Disk}, field{"slices", j.prog.Slices()}, field{"packed", j.prog.Packed()}, field{"run", r.folder.Dir})
	return cli.PrintJSON(stdout, out)
}
