package tune_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
	"sagann/dataflow/tune"
	"sagann/internal/golden"
)

// The scripts search plans for the program of plantest.Synthetic: three layers of 64 columns
// with their gradients, over 200,000 vertices and 4 million edges, on one H200.
//
//	search mem=MIB [p=N] [schedule=NAME]
//
// prints the decision that the search begins with, each move that found a faster one with
// what it changed, and the end: simulated milliseconds, intervals, schedule, slots, group,
// and the rule. Each script runs with one, two and five processors and prints the same.
func TestScripts(t *testing.T) {
	golden.Walk(t, "testdata", ".txt", func(t *testing.T, path string) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		golden.Run(t, path, func(t *testing.T, cmd *golden.Cmd) string {
			var out string
			for i, procs := range []int{1, 2, 5} {
				runtime.GOMAXPROCS(procs)
				got := search(t, cmd)
				if i > 0 && got != out {
					t.Errorf("%s: %d processors:\n%s\none:\n%s", cmd.Pos, procs, got, out)
				}
				out = got
			}
			return out
		})
	})
}

func search(t *testing.T, cmd *golden.Cmd) string {
	budget := int64(cmd.Int(t, "mem", 0)) << 20
	o := plan.Options{Schedule: cmd.String(t, "schedule", plan.Auto), Devices: 1, P: cmd.Int(t, "p", 0), Budget: budget}
	m, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	show := func(move string, d tune.Decision, seconds float64) {
		fmt.Fprintf(&b, "%-11s %8.3f ms  p=%d %s slots=%d group=%d", move, seconds*1e3, d.P, d.Schedule, d.Slots, d.Group)
		fmt.Fprintf(&b, " %s\n", rule(d.Rule))
	}
	_, line, d, err := tune.Search(&tune.Problem{Machine: m, Options: o, Packed: []bool{false}, Slices: []int{1}, Saves: []string{"all"},
		Program: func(tune.Key) (*tune.Program, error) {
			return &tune.Program{Spec: plantest.Synthetic(3, 64), Budget: budget, Cells: plantest.SyntheticCells(200_000, 4e6)}, nil
		},
		Log: func(move string, e *tune.Eval) { show(move, e.Decision, float64(e.Wall)*1e-9) }})
	var small *plan.BudgetError
	if errors.As(err, &small) {
		return fmt.Sprintf("the smallest budget is about %d MiB\n", small.Smallest>>20)
	}
	if err != nil {
		t.Fatal(err)
	}
	show("chosen", d, line.Seconds())
	return b.String()
}

// rule lists what r says.
func rule(r plan.Rule) string {
	var list []string
	for _, x := range []struct {
		on   bool
		text string
	}{{r.First == plan.WindowsFirst, "windows first"}, {r.First == plan.SlotsFirst, "slots first"}, {r.Brief, "brief"}, {r.Ahead > 0, fmt.Sprint("ahead=", r.Ahead)}, {r.Over, "over"}, {r.Move, "move"}, {r.Price != nil, "price"}} {
		if x.on {
			list = append(list, x.text)
		}
	}
	return strings.Join(list, " ")
}
