package tables

import (
	"fmt"
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/saga"
)

// programParts are the parts of the compiler: they change which programs a model is compiled to, and what plans are made of.
// The others are parts of the planner and the search, which change what becomes of the same programs.
var programParts = []string{"hoist", "commute", "factor", "fuse", "invariant", "postpone", "recompute-on-load"}

// programs is a text of all that the search plans for a model: its programs with all, some or no values stored, and with
// one, two or four slices, before and after lowering.
func (o *benchOutput) programs(name string, s saga.Shape, c saga.Config) (string, error) {
	c.Machine, c.Chunks = "", 4 // no search
	var text strings.Builder
	passes := dataflow.Steps()
	for _, c.Save = range []string{saga.SaveAll, "some", saga.SaveNone} {
		for _, c.Outcome.Slices = range []int{1, 2, 4} {
			m, err := o.model(name, s)
			if err != nil {
				return "", err
			}
			p, err := saga.Plan(m, s, c)
			if err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
			if err := p.Dump(&text, passes[len(passes)-1]); err != nil {
				return "", err
			}
			if err := p.Explain(&text); err != nil {
				return "", err
			}
			for _, k := range p.Kernels() {
				fmt.Fprintln(&text, k.Name, k.Widths, k.Leaves, k.Outs)
			}
		}
	}
	return text.String(), nil
}

// idle tells whether leaving out some parts changes none of a model's programs, which are those of the text. Then the search
// would find what it finds without leaving out anything.
func (o *benchOutput) idle(name string, s saga.Shape, c saga.Config, programs string) (bool, error) {
	for _, part := range c.Without {
		if !slices.Contains(programParts, part) {
			return false, nil
		}
	}
	text, err := o.programs(name, s, c)
	return text == programs, err
}
