package dataflow_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow"
	"sagann/dataflow/plan"
)

// options are the ways of running one program that must not change its results beyond
// rounding: those that determine in which order sums are taken, or by which algebra, and
// planning, which may change nothing.
type options struct {
	p        int
	balanced bool // vertices re-encoded
	without  []string
	schedule string
	straight bool
	devices  int
	group    int    // intervals that a device visits at the same time
	byType   int    // Options.ByType
	bases    bool   // Options.Bases
	inside   bool   // Lowering.Inside
	storage  string // of rows that edges gather
	learn    bool   // steps write the rows of vertex inputs that gradients are wanted for
	planning
}

// planning are the options that must not even change the bits.
type planning struct {
	plain          []string // passes left out that change where or when something is computed, not how
	save           string   // what the backward pass finds stored
	late           bool     // values that could be made later are
	beside         bool     // what is computed again is stored
	stream, serial bool
	ring           bool
	whole          bool   // no row gathers
	more           bool   // slots beyond those asked for
	windows        bool   // parts of what streams stay from phase to phase
	packed         bool   // far ends of edges
	finish         bool   // gathers compute what follows them
	diagonal       bool   // diagonal cells read what the visit has loaded
	files          int    // what lies in files: bit k for the values whose number is k modulo 4
	evaluate       bool   // the program without gradients shares the memory and runs between two steps
	early          bool   // loads in the order of their deadlines
	procs          int    // GOMAXPROCS; 0: as it is
	apart          bool   // a rank is given the rows of its own intervals alone
	way            string // of messages of ranks: relay, through host memory, or direct, by the devices themselves
	slots          int
	slices         int   // of columns that gathers are split into
	slack          int64 // bytes above the smallest budget that would do; -1: no budget
}

// What an option may change on the CPU device.
const (
	rounding = "the order of sums or the algebra, so results beyond rounding agree"
	nothing  = "no bit of any result"
	unused   = "not drawn here"
)

// passBits says it of what Options.Without can name. A pass that computes the same number
// another way changes rounding; one that computes it elsewhere, or at another time, nothing.
// Commute asks whether invariants will be computed once before it moves a product, so
// invariant is one of the former.
var passBits = map[string]string{
	"hoist": rounding, "factor": rounding, "commute": rounding, "invariant": rounding,
	"fuse": nothing, "postpone": nothing, "recompute-on-load": nothing, "slice": nothing,
}

// compileBits says it of dataflow.Options.
var compileBits = map[string]string{
	"Without": "passBits says", "Storage": rounding, "Lowering": "its fields say",
	"Save": nothing, "Store": nothing, "Slices": nothing, "LeastSlice": nothing, "Packed": nothing, "ByType": rounding, "Bases": rounding,
	"Finish": nothing, "Inside": rounding, "Sizes": unused, // of sampled blocks; blocks_test.go has them
	"Dump": unused, "Print": unused,
}

// planBits says it of plan.Options. A row's edges are summed cell by cell in the order in
// which a device visits them, and sums over rows interval by interval and device by device.
var planBits = map[string]string{
	"P": rounding, "Group": rounding, "Groups": rounding, "Devices": rounding, "Schedule": rounding, "Straight": rounding,
	"Budget": nothing, "Slots": nothing, "Windows": nothing, "Diagonal": nothing, "More": nothing,
	"Serial": nothing, "Stream": nothing, "Ring": nothing, "Whole": nothing, "Beside": nothing, "Base": nothing,
	"MinP":     unused, // of an automatic P
	"Host":     unused, // which values lie in files: planning.files draws that directly
	"Topology": unused, // which device loads: Ring draws the one in the order of numbers
}

// Every option stands in a table that says whether it may change bits, and options and
// planning draw it accordingly. Beside them the order of vertices (balanced) changes
// rounding; GOMAXPROCS, values in files and an evaluation between steps change nothing.
func TestEveryOptionIsClassified(t *testing.T) {
	passes := dataflow.Passes()
	for _, w := range passes {
		if passBits[w] == "" {
			t.Errorf("passBits does not say what leaving out %s may change", w)
		}
	}
	if len(passes) != len(passBits) {
		t.Errorf("passBits has %d rows, there are %d passes", len(passBits), len(passes))
	}
	for _, c := range []struct {
		of    any
		table map[string]string
	}{{dataflow.Options{}, compileBits}, {plan.Options{}, planBits}} {
		n := 0
		for _, f := range reflect.VisibleFields(reflect.TypeOf(c.of)) {
			if !f.IsExported() {
				continue
			}
			n++
			if c.table[f.Name] == "" {
				t.Errorf("no table says what %T.%s may change", c.of, f.Name)
			}
		}
		if n != len(c.table) {
			t.Errorf("the table of %T has %d rows, it has %d fields", c.of, len(c.table), n)
		}
	}
}

func drawOptions(t *rapid.T) options {
	return options{p: rapid.IntRange(1, 5).Draw(t, "P"), balanced: rapid.Bool().Draw(t, "balanced"), planning: drawPlanning(t),
		schedule: rapid.SampledFrom([]string{plan.Sag, plan.Sag, plan.Stage, plan.DestOrder}).Draw(t, "schedule"),
		straight: rapid.Bool().Draw(t, "straight"), devices: rapid.SampledFrom([]int{1, 1, 2, 3, 4}).Draw(t, "devices"),
		learn:   rapid.Bool().Draw(t, "learn"),
		byType:  rapid.IntRange(0, 2).Draw(t, "by type"),
		bases:   rapid.Bool().Draw(t, "bases"),
		inside:  rapid.Bool().Draw(t, "inside"),
		group:   rapid.SampledFrom([]int{1, 1, 2, 3, 5}).Draw(t, "group"),
		without: drawWithout(t, rounding)}
}

func drawPlanning(t *rapid.T) planning {
	return planning{
		plain: drawWithout(t, nothing), save: rapid.SampledFrom([]string{dataflow.SaveSome, dataflow.SaveAll, dataflow.SaveNone}).Draw(t, "save"),
		late: rapid.Bool().Draw(t, "late"), beside: rapid.IntRange(0, 3).Draw(t, "store what is computed again") == 0,
		ring: rapid.Bool().Draw(t, "ring"), procs: rapid.SampledFrom([]int{2, 1, 5}).Draw(t, "GOMAXPROCS"),
		finish:  rapid.Bool().Draw(t, "finish"),
		windows: rapid.Bool().Draw(t, "windows"), diagonal: rapid.Bool().Draw(t, "diagonal"), packed: rapid.Bool().Draw(t, "packed"), files: rapid.SampledFrom([]int{0, 0, 15, 5, 10}).Draw(t, "files"), evaluate: rapid.Bool().Draw(t, "evaluate"),
		early: rapid.Bool().Draw(t, "early"), whole: rapid.Bool().Draw(t, "whole chunks"), more: rapid.Bool().Draw(t, "more slots"),
		stream: rapid.Bool().Draw(t, "stream"), serial: rapid.Bool().Draw(t, "serial"),
		slots: rapid.IntRange(0, 4).Draw(t, "slots"), slices: rapid.SampledFrom([]int{0, 2, 3, 4}).Draw(t, "slices"), slack: rapid.SampledFrom([]int64{-1, 0, 1000, 20000}).Draw(t, "slack"),
	}
}

// drawWithout draws passes to leave out, of those that may change what.
func drawWithout(t *rapid.T, what string) (list []string) {
	for _, w := range dataflow.Passes() {
		if passBits[w] == what && rapid.IntRange(0, 3).Draw(t, "without "+w) == 1 {
			list = append(list, w)
		}
	}
	return list
}
