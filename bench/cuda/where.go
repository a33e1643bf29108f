package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sagann/saga"
)

// where prints the kernels that take most of an epoch; kernels of the same name and task are added up.
// It also prints which part of the epoch's time, in milliseconds, all kernels take.
func where(p *saga.Program, epoch float64, most int) error {
	list, err := p.KernelTimes()
	if err != nil {
		return err
	}
	var sum, floor time.Duration
	for _, t := range list {
		sum += t.Time
		if strings.HasPrefix(t.Kernel, "sgemm") || strings.HasPrefix(t.Kernel, "gather") {
			floor += t.Time
		}
	}
	slices.SortStableFunc(list, func(a, b saga.KernelTime) int { return cmp.Compare(b.Time, a.Time) })
	fmt.Printf("  %d kernels, %.3f ms, %.1f %% of the epoch; products and gathers %.3f ms\n", len(list), ms(sum), 100*ms(sum)/epoch, ms(floor))
	for _, t := range list[:min(len(list), most)] {
		fmt.Printf("  %8.3f ms %6.0f GB/s %6.1f TFLOP/s  %s  %s\n", ms(t.Time), float64(t.Bytes)/1e6/ms(t.Time), float64(t.Flops)/1e9/ms(t.Time), t.Kernel, t.Task)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// against compares the times of an epoch's tasks with the predictions of the machine model.
func against(p *saga.Program) error {
	if err := p.StartTrace(1); err != nil {
		return err
	}
	if _, err := p.Step(); err != nil {
		return err
	}
	list, err := p.TraceTotals()
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b saga.TaskTotal) int {
		return cmp.Compare((b.Measured - b.Predicted).Abs(), (a.Measured - a.Predicted).Abs())
	})
	fmt.Println("  measured predicted ms, tasks; the largest difference first")
	for _, t := range list {
		fmt.Printf("  %8.3f  %8.3f  %5d  phase %d %s %s %s %s\n", ms(t.Measured), ms(t.Predicted), t.Tasks, t.Phase, t.Sweep, t.Queue, t.Name, t.Layer)
	}
	return p.StartTrace(0)
}
