package main

import (
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"
)

// BenchmarkTrace runs the epochs of the job that needs no flag by turns with tracing and
// without, so that whatever else the machine does meets both alike:
//
//	go test ./cmd/saga -run '^$' -bench Trace -benchtime 200x
//
// It reports how much longer the median traced epoch takes than the median of the others,
// in percent, and the same of the lower quartiles, which other work on the machine disturbs
// less. That is to stay below 2.
func BenchmarkTrace(b *testing.B) {
	var cli commands
	if _, err := newParser(&cli, io.Discard, io.Discard).Parse([]string{"train"}); err != nil {
		b.Fatal(err)
	}
	j, err := prepare(&cli.Train.settings, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	if err := j.prog.Open(); err != nil {
		b.Fatal(err)
	}
	defer j.prog.Close()
	var took [2][]float64
	epoch := func(traced int) {
		if err := j.prog.StartTrace(traced); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if _, err := j.prog.Step(); err != nil {
			b.Fatal(err)
		}
		took[traced] = append(took[traced], time.Since(start).Seconds())
	}
	for i := range b.N {
		epoch(i % 2)
		epoch(1 - i%2)
	}
	var median, quartile [2]float64
	for i, x := range took {
		slices.Sort(x)
		median[i], quartile[i] = x[len(x)/2], x[len(x)/4]
	}
	tasks := len(j.prog.TrainPlan().Tasks)
	b.ReportMetric(100*(median[1]/median[0]-1), "%overhead")
	b.ReportMetric(100*(quartile[1]/quartile[0]-1), "%overhead(quartile)")
	b.ReportMetric(1e3*median[0], "ms/epoch")
	b.ReportMetric(float64(tasks), "tasks/epoch")
	b.ReportMetric(1e9*(median[1]-median[0])/float64(tasks), "ns/task")
}
