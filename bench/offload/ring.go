package offload

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"sagann/dataset"
	"sagann/device"
)

// enoughReads is how often one device should read its sources for a meaningful table. With fewer reads
// devices have little to pass on.
const enoughReads = 3

// ringTable trains on growing numbers of devices, with the ring and with
// each device loading its own chunks: the paper's Figure 16. The budget of each device is mem, or
// ringBudget.
func (b *bench) ringTable(d *dataset.Data, models, devices []string, mem int64) error {
	counts := make([]int, len(devices))
	for i, dev := range devices {
		var err error
		if counts[i], err = device.Count(dev); err != nil {
			return fmt.Errorf("--ring: %w", err)
		}
	}
	fmt.Println("| model | devices | ring | budget GiB | P, schedule, slots | epoch s | H2D GB | D2H GB | D2D GB | sources read | over the first | predicted s | error | loss apart | built in s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	var failed []error
	for _, name := range models {
		if err := b.ringModel(d, name, devices, counts, mem); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

func (b *bench) ringModel(d *dataset.Data, name string, devices []string, counts []int, budget int64) error {
	if budget == 0 {
		var err error
		if budget, err = b.ringBudget(d, name, devices, counts); err != nil {
			return err
		}
	}
	var one, last *outcome
	var failed []error
	for i, dev := range devices {
		for _, ring := range []bool{true, false} {
			k := counts[i]
			if k == 1 && !ring {
				continue
			}
			b.device, b.noRing, b.devices = dev, !ring, k
			o, err := b.run(d, name, budget)
			if n, p, small := b.needed(err); small {
				fmt.Printf("| %s | %d | %v | %s | does not fit: %s GiB would do, with %d intervals |\n", name, k, ring, sized(budget), sized(n), p)
				continue
			}
			if err != nil {
				text, _, _ := strings.Cut(err.Error(), "\n")
				fmt.Printf("| %s | %d | %v | %s | cannot run: %s |\n", name, k, ring, sized(budget), text)
				failed = append(failed, fmt.Errorf("%s, ring %v: %w", dev, ring, err))
				continue
			}
			if one == nil {
				one = o
			}
			last = o
			reads := o.plan.SourceReads()
			fmt.Printf("| %s | %d | %v | %s | %d, %s, %d | %.4f | %.2f | %.2f | %.2f | %.1f | %.2f× | %.4f | %+.0f %% | %.1e | %.1f |\n",
				name, k, ring, sized(o.plan.Peak), o.plan.Cells.P, o.plan.Schedule, o.plan.Slots, o.seconds, float64(o.h2d)/1e9, float64(o.d2h)/1e9,
				float64(o.plan.D2D)/1e9, reads, one.seconds/o.seconds, o.predict, 100*(o.predict/o.seconds-1), apart(o, one), o.ready)
			b.note(name, fmt.Sprintf("%d, ring %v", k, ring), o)
			b.noteTasks(name, fmt.Sprintf("%d, ring %v", k, ring), o)
			if k == 1 && reads < enoughReads {
				b.ready = append(b.ready, fmt.Sprintf("%s: one device reads its sources %.1f times only, below %d: the budget leaves little to hand on (--mem sets a smaller one).", name, reads, enoughReads))
			}
		}
	}
	if b.Repeat && last != nil {
		if err := b.again(name, last, func() (*outcome, error) { return b.run(d, name, budget) }); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// ringBudget is a tenth of the memory in which one device holds everything or, if that is
// more, 1.05 times the smallest budget that works for every number of devices.
func (b *bench) ringBudget(d *dataset.Data, name string, devices []string, counts []int) (int64, error) {
	n, err := b.residentPeak(d, name)
	if err != nil {
		return 0, err
	}
	budget, why := n/10, "a tenth of what one device needs for everything"
	for i, dev := range devices {
		b.device, b.noRing, b.devices = dev, false, counts[i]
		least, err := b.learn(d, name)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", dev, err)
		}
		if n := least + least/20; n > budget {
			budget, why = n, "1.05 times the smallest that works on "+dev
		}
	}
	b.ready = append(b.ready, fmt.Sprintf("%s: %s GiB for the plan on each device: %s.", name, sized(budget), why))
	return budget, nil
}
