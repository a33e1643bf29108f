package offload

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"sagann/dataset"
)

// table runs every model with every budget. If a budget is too small, the row says which one
// works; if a run fails, the row has the error.
func (b *bench) table(d *dataset.Data, models []string) error {
	fmt.Println("| model | budget GiB | P, schedule, slots | epoch s | H2D GB | D2H GB | sources read | links allow s | ÷ bound | penalty | predicted s | error | loss apart | built in s |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	var failed []error
	for _, name := range models {
		if err := b.model(d, name); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

func (b *bench) model(d *dataset.Data, name string) error {
	at := func(mem int64) func() (*outcome, error) {
		return func() (*outcome, error) { return b.run(d, name, mem) }
	}
	var resident, first, last *outcome
	var again func() (*outcome, error)
	var failed []error
	do := func(label string, run func() (*outcome, error)) *outcome {
		o, err := run()
		if n, p, small := b.needed(err); small {
			fmt.Printf("| %s | %s | does not fit: %s GiB would do, with %d intervals |\n", name, label, sized(n), p)
			return nil
		}
		if err != nil {
			text, _, _ := strings.Cut(err.Error(), "\n")
			fmt.Printf("| %s | %s | cannot run: %s |\n", name, label, text)
			failed = append(failed, fmt.Errorf("%s: %w", label, err))
			return nil
		}
		if label == "resident" {
			resident = o
		}
		if first == nil {
			first = o
		}
		b.row(name, label, o, resident, first)
		b.note(name, label, o)
		b.noteTasks(name, label, o)
		last, again = o, run
		return o
	}
	if b.Resident && do("resident", at(0)) == nil {
		return errors.Join(append(failed, errors.New("there is no resident run to compare with: give --resident=false --fractions \"\" and --budget"))...)
	}
	for _, f := range b.parts {
		do(strconv.FormatFloat(f, 'g', 3, 64), at(int64(f*float64(resident.plan.Peak))))
	}
	for _, n := range b.Budget {
		do(sized(int64(n))+" GiB", at(int64(n)))
	}
	if b.Smallest {
		run := func() (*outcome, error) { return b.runSmallest(d, name) }
		if o := do("smallest", run); o != nil {
			again = at(o.mem)
			b.ready = append(b.ready, fmt.Sprintf("%s: the smallest budget that works is %d bytes (%s GiB); the plan takes %d, kernels the rest, and what the machine keeps for itself comes on top.", name, o.mem, sized(o.mem), o.plan.Peak))
		}
	}
	if b.Repeat && last != nil {
		if err := b.again(name, last, again); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// row prints a run compared with the resident one. Without a resident run, times can be compared only with
// the least time that the links allow, and losses are compared with those of the first run.
func (b *bench) row(name, budget string, o, resident, first *outcome) {
	h, u := float64(o.h2d), float64(o.d2h)
	bound, penalty := max(h/55e9, u/55e9, (h+u)/92e9), "–"
	if resident != nil {
		bound = max(bound, resident.seconds)
		penalty = fmt.Sprintf("%.2f", o.seconds/resident.seconds)
	}
	over := "–"
	if bound > 0 {
		over = fmt.Sprintf("%.2f", o.seconds/bound)
	}
	fmt.Printf("| %s | %s (%s) | %d, %s, %d | %.4f | %.2f | %.2f | %.1f | %.4f | %s | %s | %.4f | %+.0f %% | %.1e | %.1f |\n",
		name, sized(o.plan.Peak), budget, o.plan.Cells.P, o.plan.Schedule, o.plan.Slots, o.seconds, h/1e9, u/1e9, o.plan.SourceReads(), bound, over,
		penalty, o.predict, 100*(o.predict/o.seconds-1), apart(o, first), o.ready)
}

// note records the time and memory before the epochs of a run, for the last table.
func (b *bench) note(name, what string, o *outcome) {
	s := o.stages
	b.ready = append(b.ready, fmt.Sprintf("| %s | %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %s | %s |", name, what,
		s.Order.Seconds(), s.Count.Seconds(), s.Plan.Seconds(), s.Grid.Seconds(), s.Layout.Seconds(), s.Open.Seconds(), gib(o.needs), gib(o.disk), gib(o.pinned), gib(o.host),
		sized(o.card), sized(max(0, o.mem)+b.kept())))
}

// printReady prints the records of note, tables before text.
func (b *bench) printReady() {
	var rows, text []string
	for _, line := range b.ready {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, line)
		} else {
			text = append(text, line)
		}
	}
	if len(rows) > 0 {
		fmt.Println("\nBefore the epochs: seconds for the vertex order, counting cells, planning, the grid, laying inputs out, and opening (memory, pinning, kernels); host memory in GiB: what plan and graph account for, what lies in files instead, what is pinned, the most the process held; memory of the card in use by its driver, context and libraries too, and the budget.\n\n| model | run | order | count | plan | grid | layout | open | accounted | in files | pinned | process, at most | card | budget |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
		fmt.Println(strings.Join(rows, "\n"))
	}
	if len(text) > 0 {
		fmt.Println("\n" + strings.Join(text, "\n"))
	}
}

func gib(n int64) float64 { return float64(n) / (1 << 30) }

// sized is so many bytes in GiB, with three digits if they are few.
func sized(n int64) string {
	if g := gib(n); g < 1 {
		return fmt.Sprintf("%.3g", g)
	}
	return fmt.Sprintf("%.2f", gib(n))
}
