package quality

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"sagann/dataflow/plan/sim"
)

// problem is one case to plan. Mem is the budget of each device in bytes, as in saga plan --mem: it includes
// the memory that the machine reserves.
type problem struct {
	name, model       string
	vertices, edges   int64
	features, classes int
	skew              float64
	hidden, layers    int
	machine           string
	devices           int
	without           string // passes that are left out, separated by spaces
	mem               int64
}

const problemHead = "name,model,vertices,edges,features,classes,skew,hidden,layers,machine,devices,without,mem"

func (p *problem) fields() []any {
	return []any{&p.name, &p.model, &p.vertices, &p.edges, &p.features, &p.classes, &p.skew, &p.hidden, &p.layers, &p.machine, &p.devices, &p.without, &p.mem}
}

// result is the result of planning one case. Seconds are those of the simulated epoch; 0: the
// budget is too small. Wall, cpu and peak are those of a process that plans only this case.
type result struct {
	name      string
	seconds   float64
	wall, cpu float64 // seconds
	peak      int64   // bytes of resident memory
}

const resultHead = "name,seconds,wall,cpu,peak"

func (r *result) fields() []any { return []any{&r.name, &r.seconds, &r.wall, &r.cpu, &r.peak} }

// frozen are the committed cases, sorted by planning time.
//
//go:embed cases.csv
var frozen string

// row is fields as text.
func row(fields []any) []string {
	var out []string
	for _, f := range fields {
		switch f := f.(type) {
		case *string:
			out = append(out, *f)
		case *int:
			out = append(out, fmt.Sprint(*f))
		case *int64:
			out = append(out, fmt.Sprint(*f))
		case *float64:
			out = append(out, fmt.Sprint(*f))
		}
	}
	return out
}

// readTable reads a file of comma-separated values. fields returns pointers to the fields of the next row.
func readTable(from, head string, r io.Reader, fields func() []any) error {
	in := csv.NewReader(r)
	rows, err := in.ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if len(rows) == 0 || strings.Join(rows[0], ",") != head {
		return fmt.Errorf("%s: the first line is not %q", from, head)
	}
	names := map[string]bool{}
	for i, text := range rows[1:] {
		if names[text[0]] {
			return fmt.Errorf("%s, row %d: %s stands twice", from, i+2, text[0])
		}
		names[text[0]] = true
		for k, to := range fields() {
			if s, ok := to.(*string); ok {
				*s = text[k]
			} else if n, _ := fmt.Sscan(text[k], to, new(string)); n != 1 { // 0: no number; 2: more behind it
				return fmt.Errorf("%s, row %d, column %d: %q is not a number", from, i+2, k+1, text[k])
			}
		}
	}
	return nil
}

func readProblems(from string, r io.Reader) (list []*problem, err error) {
	err = readTable(from, problemHead, r, func() []any {
		list = append(list, &problem{})
		return list[len(list)-1].fields()
	})
	return list, err
}

func readResults(from string, r io.Reader) (map[string]*result, error) {
	var list []*result
	err := readTable(from, resultHead, r, func() []any {
		list = append(list, &result{})
		return list[len(list)-1].fields()
	})
	byName := map[string]*result{}
	for _, x := range list {
		byName[x.name] = x
	}
	return byName, err
}

// draw makes n random cases from a seed. They do not depend on the planner, so every build draws the
// same cases. The budget is a share of a rough estimate of the memory in which everything is resident.
func draw(n int, seed uint64) ([]*problem, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	between := func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) }
	var list []*problem
	for i := range n {
		at := []struct {
			machine string
			devices int
		}{{"h200", 1}, {"h200", 1}, {"h200", 1}, {"p100x8", 1}, {"h200x4", 2}, {"h200x4", 4}, {"p100x8", 8}}[rng.IntN(7)]
		p := &problem{model: pick(rng, "gcn", "commnet", "ggnn", "ggcn", "resgated", "mpgcn", "sage", "gin", "gat"), machine: at.machine, devices: at.devices,
			vertices: int64(between(1e5, 3e7)), features: int(between(16, 1024)), classes: int(between(2, 200)),
			hidden: pick(rng, 32, 64, 128, 128, 256), layers: pick(rng, 2, 2, 2, 3), without: pick(rng, "invariant", "invariant", "", "invariant slice")}
		p.edges = min(2e9, int64(float64(p.vertices)*between(4, 400)))
		if rng.IntN(4) == 0 {
			p.skew = 0.5
		}
		if p.model == "gat" { // hidden is the columns of each head
			p.hidden /= 8
		}
		m, err := sim.LoadMachine(p.machine)
		if err != nil {
			return nil, err
		}
		memory := float64(m.Kind(0).Memory.Value)
		reserve := memory - float64(m.Budget(0))
		resident := 8*float64(p.edges) + 4*float64(p.vertices)*float64(p.features+p.classes+(p.layers+1)*128)
		p.mem = int64(min(memory, reserve+resident*between(0.1, 0.8)))
		p.name = fmt.Sprintf("random/%d/%d/%s", seed, i+1, p.model)
		list = append(list, p)
	}
	return list, nil
}

func pick[T any](rng *rand.Rand, list ...T) T { return list[rng.IntN(len(list))] }

// passes are the passes that are left out.
func (p *problem) passes() []string { return slices.Clone(strings.Fields(p.without)) }
