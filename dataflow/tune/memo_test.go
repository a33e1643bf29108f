package tune_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/sim"
	"sagann/dataflow/tune"
)

// Searches that share a Memo, side by side, find what each finds alone.
func TestMemo(t *testing.T) {
	m, err := sim.LoadMachine("h200")
	if err != nil {
		t.Fatal(err)
	}
	cells := plantest.SyntheticCells(200_000, 4e6)
	find := func(o plan.Options, cols int, memo *tune.Memo) string {
		o.Devices = 1
		var out string
		_, line, d, err := tune.Search(&tune.Problem{Machine: m, Options: o, Packed: []bool{false}, Slices: []int{1}, Saves: []string{"all"}, Work: 200_000, Memo: memo,
			Program: func(tune.Key) (*tune.Program, error) {
				return &tune.Program{Spec: plantest.Synthetic(3, cols), Budget: 96 << 20, Cells: cells}, nil
			},
			Log: func(move string, e *tune.Eval) { out += fmt.Sprintln(move, e.Decision, e.Wall, e.InOrder, e.Tasks) }})
		if err != nil {
			t.Error(err)
			return ""
		}
		return out + fmt.Sprintln(line.Wall, d)
	}
	rows := []plan.Options{{Schedule: plan.Auto}, {Schedule: plan.Auto}, {Schedule: plan.Auto, Whole: true}, {Schedule: plan.Auto, Straight: true}, {Schedule: plan.Auto, Group: 1},
		{Schedule: plan.Sag}, {Schedule: plan.Auto, Serial: true}, {Schedule: plan.Auto, Stream: true}}
	memo := tune.NewMemo()
	var wg sync.WaitGroup
	for i, o := range rows {
		cols := 64 - 16*min(i, 1)
		wg.Go(func() {
			if alone, together := find(o, cols, nil), find(o, cols, memo); alone != together {
				t.Errorf("row %d: found alone\n%s\nwith others\n%s", i, alone, together)
			}
		})
	}
	wg.Wait()
}

// What a Memo tells plans apart by is written as JSON, which leaves out fields that are not exported.
func TestMemoSeesAll(t *testing.T) {
	var walk func(x reflect.Type)
	seen := map[reflect.Type]bool{}
	walk = func(x reflect.Type) {
		if seen[x] {
			return
		}
		seen[x] = true
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(x.Elem())
		case reflect.Struct:
			for i := range x.NumField() {
				if f := x.Field(i); !f.IsExported() || f.Tag.Get("json") == "-" {
					t.Errorf("%v.%s is not in its JSON", x, f.Name)
				} else if f.Name != "Topology" && f.Name != "Base" { // settingOf has its own text of the first; searches have no second
					walk(f.Type)
				}
			}
		}
	}
	walk(reflect.TypeFor[plan.Spec]())
	walk(reflect.TypeFor[plan.Cells]())
	walk(reflect.TypeFor[plan.Options]())
}
