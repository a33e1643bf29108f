package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sagann/saga"
)

// where prints the tasks that take most of an epoch.
func where(p *saga.Program) error {
	if err := p.StartTrace(1); err != nil {
		return err
	}
	begun := time.Now()
	if _, err := p.Step(); err != nil {
		return err
	}
	wall := time.Since(begun)
	tasks := p.TaskTimes()
	if err := p.StartTrace(0); err != nil {
		return err
	}
	var sum time.Duration
	for _, t := range tasks {
		sum += t.Time
	}
	slices.SortStableFunc(tasks, func(a, b saga.TaskTime) int { return cmp.Compare(b.Time, a.Time) })
	fmt.Printf("  traced epoch %.2f ms, tasks %.2f ms\n", ms(wall), ms(sum))
	for _, t := range tasks[:min(len(tasks), 16)] {
		fmt.Printf("  %8.3f ms  %s\n", ms(t.Time), t.Name)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
