package mine

import (
	"fmt"
	"strings"

	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/run"
)

// Explanation says what a count or a listing will do.
type Explanation struct {
	Pattern  string    `json:"pattern"`
	Name     string    `json:"name,omitempty"`
	Induced  bool      `json:"induced"`
	Where    string    `json:"where,omitempty"`
	Group    int       `json:"group"` // number of automorphisms that keep the condition: matches per subgraph
	Engine   Engine    `json:"engine"`
	Formula  string    `json:"formula,omitempty"`
	Plan     string    `json:"plan,omitempty"` // loops, one a line
	Matches  float64   `json:"estimated_matches"`
	Error    float64   `json:"estimated_error"`            // relative standard error of Matches
	Walks    int       `json:"walks"`                      // random walks behind the estimates
	Levels   []float64 `json:"estimated_levels,omitempty"` // vertices bound, by loop
	Device   string    `json:"device"`
	Threads  int       `json:"threads,omitempty"`           // of the CPU
	Resident float64   `json:"resident,omitempty"`          // share of the rows' bytes that lies on the GPUs
	Seconds  float64   `json:"estimated_seconds,omitempty"` // counting alone; 0: not estimated
	Bytes    int64     `json:"bytes"`                       // rows of the graph and memory of the work; of each GPU
}

// walkWork is the most elements that random walks read: for the estimates of an explanation, and
// to estimate how often each row is read if the rows do not all fit on the GPUs.
const walkWork = 1 << 24

// ExplainMotifs explains the counts that Motifs makes, one explanation per pattern. Patterns
// counted by formulas share sums: each sum's time is given with the first pattern that needs it.
func (g *Graph) ExplainMotifs(k int) ([]*Explanation, error) {
	all, err := pattern.Motifs(k)
	if err != nil {
		return nil, err
	}
	out := make([]*Explanation, len(all))
	var sums pattern.Formula
	before := 0.0
	jobs, err := g.jobs(all)
	if err != nil {
		return nil, err
	}
	for i, j := range jobs {
		if out[i], err = g.explain(j); err != nil {
			return nil, err
		}
		if j.engine == Formula {
			sums = append(sums, j.formula...)
			j.formula = sums
			all, err := g.seconds(j, plan.Estimate{})
			if err != nil {
				return nil, err
			}
			out[i].Seconds, before = all-before, all
			if !j.gpu {
				out[i].Seconds *= run.Speed()
			}
		}
	}
	return out, nil
}

// Explain says how Count would count, without counting.
func (g *Graph) Explain(p Pattern, options ...Option) (*Explanation, error) {
	prepared, err := g.Prepare(p, options...)
	if err != nil {
		return nil, err
	}
	return prepared.Explain()
}

// ExplainMatch says how Match would list, without listing. Its levels and matches are
// those of the whole listing, whatever its limit.
func (g *Graph) ExplainMatch(p Pattern, options ...Option) (*Explanation, error) {
	j, err := g.listing(p, options)
	if err != nil {
		return nil, err
	}
	return g.explain(j)
}

func (g *Graph) explain(j *job) (*Explanation, error) {
	q, p := j.query, j.asked
	x := &Explanation{Pattern: p.String(), Name: p.Name(), Induced: q.pattern.IsInduced() && !q.pattern.IsClique(),
		Group: len(q.pattern.Group(q.where)), Engine: j.engine, Device: "cpu", Threads: j.workers, Bytes: j.bytes}
	if j.gpu {
		x.Device, x.Resident = g.opt.Device, j.resident
	}
	if q.where != nil {
		x.Where = q.where.String()
	}
	sampled, r := j.plan, g.byID
	switch {
	case j.engine == Formula:
		x.Formula = j.formula.String()
	case j.engine == Maps:
		x.Formula = j.maps.String()
	case j.engine == Loops || j.engine == Join:
		x.Plan = j.plan.String()
	}
	if sampled == nil || sampled.Pair != plan.NoPair || j.estimate.Nodes != nil {
		ordered, err := g.ordered()
		if err != nil {
			return nil, err
		}
		r = ordered
	}
	if sampled == nil { // how many matches there will be, all the same
		var err error
		if sampled, _, err = plan.Choose(q.pattern, q.where, r.Stats(), int64(len(r.Col)), run.Sampler{Rows: r, Kinds: q.kinds, Seed: seed}); err != nil {
			return nil, err
		}
	}
	e := run.Sampler{Rows: r, Kinds: q.kinds, Seed: seed}.Sample(sampled, walkWork)
	x.Matches, x.Error, x.Walks = e.Nodes[len(e.Nodes)-1], e.Error, e.Walks
	if j.engine == Loops {
		x.Levels = e.Nodes
	}
	if j.listing || j.engine == Join {
		return x, nil
	}
	var err error
	if x.Seconds, err = g.seconds(j, e); !j.gpu {
		x.Seconds *= run.Speed()
	}
	return x, err
}

// String is the explanation for people.
func (x *Explanation) String() string {
	var b strings.Builder
	line := func(name, format string, a ...any) { fmt.Fprintf(&b, "%-10s%s\n", name, fmt.Sprintf(format, a...)) }
	name := x.Name
	if name != "" {
		name = " (" + name + ")"
	}
	line("pattern", "%s%s, %s, %d automorphisms", x.Pattern, name, inducedText(x.Induced), x.Group)
	if x.Where != "" {
		line("if", "%s", x.Where)
	}
	if x.Threads > 0 {
		line("engine", "%s, %d threads", x.Engine, x.Threads)
	} else {
		line("engine", "%s on %s", x.Engine, x.Device)
	}
	if x.Formula != "" {
		line("formula", "%s", x.Formula)
	}
	for i, l := range strings.Split(strings.TrimSpace(x.Plan), "\n") {
		if l != "" {
			line(map[bool]string{true: "plan"}[i == 0], "%s", l)
		}
	}
	for i, n := range x.Levels {
		line(map[bool]string{true: "loops"}[i == 0], "level %d binds about %.3g vertices", i, n)
	}
	line("matches", "about %.3g, standard error %.0f %%, from %d random walks", x.Matches, 100*x.Error, x.Walks)
	if x.Seconds > 0 {
		line("time", "about %.2g s", x.Seconds)
	}
	if x.Threads > 0 {
		line("memory", "%d bytes", x.Bytes)
	} else {
		line("memory", "%d bytes on each GPU, with %.0f %% of the rows", x.Bytes, 100*x.Resident)
	}
	return b.String()
}

func inducedText(induced bool) string {
	if induced {
		return "induced"
	}
	return "edge-induced"
}
