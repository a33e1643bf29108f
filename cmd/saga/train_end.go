package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"sagann/internal/cli"
	"sagann/internal/runpage"
	"sagann/saga"
)

// report prints how a run ended: text for people to text, JSON to stdout.
func (c *trainCmd) report(text, stdout io.Writer, j *job, r *running, res *saga.Result) error {
	multi, score := j.multi, j.metric.of
	s, f, kept := j.prog.Summary(), res.Final, res.Epochs
	if c.Training.Patience > 0 && res.BestEpoch > 0 {
		kept = res.BestEpoch
	}
	r.log.Debug("done", "epochs", res.Epochs, "train", score(f.Train), "validation", score(f.Val), "test", score(f.Test))
	_, err := fmt.Fprintf(text, "\n%s", c.learned(j, r, res))
	if err != nil || !c.JSON {
		return err
	}
	out := fields{
		{"model", c.Model.Name}, {"vertices", s.Vertices}, {"edges", s.Edges}, {"chunks", s.Chunks}, {"schedule", s.Schedule},
		{"budget_bytes", s.Budget}, {"peak_device_bytes", res.Peak}, {"h2d_bytes", res.H2D}, {"d2h_bytes", res.D2H}, {"d2d_bytes", res.D2D},
		{"epoch_seconds", res.EpochSeconds}, {"epochs", res.Epochs}, {"loss", res.Loss},
	}
	for i, x := range []struct {
		split string
		m     saga.Metrics
	}{{"train", f.Train}, {"val", f.Val}, {"test", f.Test}} {
		if !j.has(i) {
			out = append(out, field{x.split + "_" + j.metric.key, nil})
			continue
		}
		out = append(out, field{x.split + "_" + j.metric.key, score(x.m)})
		switch {
		case multi:
			out = append(out, field{x.split + "_macro_f1", x.m.MacroF1})
		case j.metric.key == auc.key:
			out = append(out, field{x.split + "_ap", x.m.AP}, field{x.split + "_mrr", x.m.MRR}, field{x.split + "_hits@50", x.m.Hits[1]})
		case j.metric.key == fitR2.key:
			out = append(out, field{x.split + "_mse", x.m.MSE}, field{x.split + "_mae", x.m.MAE})
		}
	}
	out = append(out, field{"best_epoch", res.BestEpoch}, field{"epoch", kept}, field{"host_bytes", s.Host}, field{"disk_bytes", s.Disk}, field{"slices", j.prog.Slices()}, field{"packed", j.prog.Packed()}, field{"run", r.folder.Dir})
	return cli.PrintJSON(stdout, out)
}

// learned tells what a run has learned, what it took, and where it lies.
func (c *trainCmd) learned(j *job, r *running, res *saga.Result) string {
	var b strings.Builder
	scores := func(title string, s saga.Scores, from string) {
		var texts [3]string
		for i, m := range []saga.Metrics{s.Train, s.Val, s.Test} {
			if texts[i] = "-"; j.has(i) {
				texts[i] = scoreText(j.metric.of(m))
			}
		}
		fmt.Fprintf(&b, "%-9s train %s  validation %s  test %s  (%s)\n", title, texts[0], texts[1], texts[2], from)
	}
	if c.Training.Patience > 0 && res.BestEpoch > 0 {
		scores(j.metric.name, res.Final, fmt.Sprintf("parameters of epoch %d of %d", res.BestEpoch, res.Epochs))
	} else {
		scores(j.metric.name, res.Final, fmt.Sprintf("after epoch %d", res.Epochs))
		if res.BestEpoch > 0 && j.has(1) {
			from := fmt.Sprintf("epoch %d, of the lowest validation loss", res.BestEpoch)
			if res.BestEpoch < res.Epochs {
				from += "; not kept: --patience keeps it"
			}
			scores("best", res.Best, from)
		}
	}
	switch ran := res.Epochs - r.done; {
	case ran > 0:
		of := [2]string{}
		if c.Training.Patience > 0 && res.BestEpoch > 0 && res.BestEpoch != res.Epochs {
			of = [2]string{fmt.Sprintf(" (epoch %d)", res.Epochs), fmt.Sprintf(" (epoch %d)", res.BestEpoch)}
		}
		fmt.Fprintf(&b, "loss      %.4g in training%s", res.Loss, of[0])
		if j.has(1) {
			fmt.Fprintf(&b, ", %.4g in validation%s", res.Final.Val.Loss, of[1])
		}
		b.WriteByte('\n')
		fmt.Fprintf(&b, "time      %s an epoch (median); %s in all for %d, with evaluation\n", timeText(res.EpochSeconds), timeText(r.took.Seconds()), ran)
		fmt.Fprintf(&b, "moved     %s to the device and %s back, an epoch\n", cli.SizeText(res.H2D), cli.SizeText(res.D2H))
		if c.net != nil && j.prog.SampledPlan() == nil {
			fmt.Fprintf(&b, "network   %s between %d ranks, an epoch\n", cli.SizeText(crossing(j.prog.Traffic())), c.net.Ranks())
		}
	case res.Stopped:
		fmt.Fprintf(&b, "time      no epoch was run: the run stopped early after epoch %d of %d, as the validation loss had not improved for %d evaluations; a larger --patience in a new run goes further\n", r.done, r.epochs, c.Training.Patience)
	default:
		fmt.Fprintf(&b, "time      no epoch was run: the run had %d of %d already\n", r.done, r.epochs)
	}
	fmt.Fprintf(&b, "memory    peak %s of %s\n", cli.SizeText(res.Peak), cli.SizeText(j.prog.Summary().Budget))
	fmt.Fprintf(&b, "run       %s\ncheckpoint %s\nreport    %s\n", r.folder.Dir, r.opt.Checkpoint, r.folder.Path(runpage.PageFile))
	return b.String()
}

// timeText prints a time for people: three digits and a unit.
func timeText(seconds float64) string {
	switch {
	case seconds >= 60:
		return time.Duration(seconds * 1e9).Round(time.Second).String()
	case seconds >= 1:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds >= 1e-3:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	}
	return fmt.Sprintf("%.3g µs", seconds*1e6)
}
