package main

import (
	"fmt"
	"os"
	"strings"

	"sagann/dataset"
)

// ringTable trains on growing numbers of devices, handing chunks around the ring and
// each loading for itself: the paper's Figure 16. The budget of each device is mem, or a
// tenth of what one device needs to hold everything.
func (b *bench) ringTable(d *dataset.Data, models, devices []string, mem int64) error {
	fmt.Println("| model | devices | ring | budget GiB | P, schedule, slots | epoch s | H2D GB | D2H GB | D2D GB | over one device | predicted s | error | loss apart | built in s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	failed := false
	for _, name := range models {
		budget := mem
		if budget == 0 {
			n, err := b.residentPeak(d, name)
			if err != nil {
				return err
			}
			budget = n / 10
		}
		var one *outcome
		for _, dev := range devices {
			for _, ring := range []bool{true, false} {
				b.device, b.noRing = dev, !ring
				k := 1 + strings.Count(dev, ",")
				if _, n, ok := strings.Cut(dev, ":"); ok && strings.HasPrefix(dev, "cpu") {
					fmt.Sscan(n, &k)
				}
				if k == 1 && !ring {
					continue
				}
				b.devices = k
				o, err := b.run(d, name, budget)
				if err != nil {
					fmt.Fprintf(os.Stderr, "%s on %s, ring %v: %v\n", name, dev, ring, err)
					failed = true
					continue
				}
				if one == nil {
					one = o
				}
				fmt.Printf("| %s | %d | %v | %.2f | %d, %s, %d | %.4f | %.2f | %.2f | %.2f | %.2f× | %.4f | %+.0f %% | %.1e | %.1f |\n",
					name, k, ring, gib(o.plan.Peak), o.plan.Cells.P, o.plan.Schedule, o.plan.Slots, o.seconds, float64(o.h2d)/1e9, float64(o.d2h)/1e9,
					float64(o.plan.D2D)/1e9, one.seconds/o.seconds, o.predict, 100*(o.predict/o.seconds-1), apart(o, one), o.ready)
			}
		}
	}
	if failed {
		return fmt.Errorf("some runs failed")
	}
	return nil
}
