package report

import (
	"slices"
	"strings"

	"sagann/dataflow"
	"sagann/dataflow/plan"
	"sagann/internal/traceout"
	"sagann/kernel"
)

// scopes finds the parameter scope ("layer1") that a call belongs to. The compiler moves ops across
// layers freely, so the scope is found by following the flow of data to and from parameters.
type scopes struct {
	low    *dataflow.Lowered
	spec   *plan.Spec
	global map[int]string // by Global: the scope of a parameter, of its gradient, or of what is computed from it
	pos    map[int]string // by Global: the line that declares the parameter
	grads  map[int]bool   // by Global: it is the gradient of a parameter
	flow   *traceout.Flow
	made   map[int]string  // by value: the scope of the edge pass that computes it
	taken  map[string]bool // scopes that have an edge pass, with the prefix "grad " in the backward pass
}

// Nodes of the flow: (0, id) vertex tensors, (1, kernel, register), and (2, id) Globals.
func valueNode(id int) traceout.Node        { return traceout.Node{0, id} }
func regNode(kernel, reg int) traceout.Node { return traceout.Node{1, kernel, reg} }

func newScopes(r *Run) *scopes {
	s := &scopes{low: r.Low, spec: r.Plan.Spec, global: map[int]string{}, pos: map[int]string{}, grads: map[int]bool{},
		flow: traceout.NewFlow(), made: map[int]string{}, taken: map[string]bool{}}
	for _, q := range r.Params {
		scope := q.Name[:max(0, strings.LastIndexByte(q.Name, '.'))]
		for _, name := range []string{q.Name, "grad:" + q.Name} {
			if id, ok := s.low.Globals[name]; ok {
				s.global[id], s.pos[id], s.grads[id] = scope, q.Pos, name != q.Name
			}
		}
	}
	for _, ph := range s.spec.Phases {
		for _, st := range ph.Steps {
			for n := range st.Calls {
				c := &st.Calls[n]
				s.addFlow(c)
				for _, o := range c.Operands {
					if st.Kind == plan.Globals && o.Write && s.global[o.ID] == "" {
						s.global[o.ID] = s.direct(c)
					}
				}
			}
		}
	}
	for i := range s.spec.Values {
		if c := s.spec.Values[i].Derive; c != nil {
			s.addFlow(c)
		}
	}
	// The scope of an invariant had its edge pass before the first epoch.
	for in, id := range s.low.Inputs {
		if r.Extra[in.Name] {
			s.taken[s.flow.Nearest([]traceout.Node{valueNode(id)}, true)] = true
		}
	}
	return s
}

// addFlow adds the flow of data through the registers of c. It labels instructions that use a
// parameter, and results that are gradients, with the scope.
func (s *scopes) addFlow(c *plan.Call) {
	k := s.low.Kernels[c.Kernel]
	matrix := map[int]string{}
	for _, f := range k.Leaves {
		if f.From == kernel.Cell {
			continue
		}
		switch o := c.Operands[f.Operand]; {
		case vertex(o):
			s.flow.Edge(valueNode(o.ID), regNode(c.Kernel, f.Reg))
		case o.Kind == plan.GlobalRef:
			matrix[f.Reg] = s.global[o.ID]
		}
	}
	for _, in := range k.Instrs {
		for _, r := range in.In {
			s.flow.Edge(regNode(c.Kernel, r), regNode(c.Kernel, in.Dst))
			s.flow.Label(regNode(c.Kernel, in.Dst), matrix[r])
		}
	}
	for _, out := range k.Outs {
		switch o := c.Operands[out.Operand]; {
		case vertex(o):
			s.flow.Edge(regNode(c.Kernel, out.Reg), valueNode(o.ID))
		case o.Kind == plan.GlobalRef:
			to := traceout.Node{2, o.ID}
			s.flow.Edge(regNode(c.Kernel, out.Reg), to)
			if out.Acc == kernel.SumTN {
				s.flow.Edge(regNode(c.Kernel, out.Reg2), to)
			}
			s.flow.Label(to, s.global[o.ID])
		}
	}
}

func vertex(o plan.Operand) bool { return o.Kind == plan.OwnValue || o.Kind == plan.OtherValue }

// direct is the scope of the Globals that c reads and writes.
func (s *scopes) direct(c *plan.Call) string {
	var w []string
	for _, o := range c.Operands {
		if o.Kind == plan.GlobalRef {
			w = append(w, s.global[o.ID])
		}
	}
	return traceout.JoinSet(w)
}

// layers are the scopes of the calls of st. It must be called for steps in the order of the plan.
// A call belongs to the scope of the parameters that it uses. A call without parameters gets the
// scope of its step. If no call of the step uses parameters, that is, in this order: for an edge
// pass, the scope of the edge pass that its operands come from; the scope of the parameters that
// its operands met last; the scope of the parameters that its results meet next. The last also
// replaces the one before if that scope has an edge pass in this direction already.
func (s *scopes) layers(st *plan.Step) []string {
	out := make([]string, len(st.Calls))
	var reads, grads, writes []traceout.Node
	inherited, forward, backward := "", false, false
	for n := range st.Calls {
		out[n] = s.direct(&st.Calls[n])
		_, plain, grad := s.lines(&st.Calls[n])
		forward, backward = forward || plain, backward || grad
		for _, o := range st.Calls[n].Operands {
			switch {
			case !vertex(o):
			case o.Write:
				writes = append(writes, valueNode(o.ID))
			case isGrad(s.spec.Values[o.ID].Pos):
				grads = append(grads, valueNode(o.ID))
			default:
				reads = append(reads, valueNode(o.ID))
			}
			if vertex(o) && !o.Write && inherited == "" {
				inherited = s.made[o.ID]
			}
		}
	}
	direction := ""
	if backward && !forward {
		direction = "grad "
	}
	all := traceout.JoinSet(out)
	if all == "" && st.Kind == plan.Stream {
		all = inherited
	}
	if all == "" {
		if all = s.flow.Nearest(grads, false); all == "" {
			all = s.flow.Nearest(reads, false)
		}
		if next := s.flow.Nearest(writes, true); next != "" && (all == "" || st.Kind == plan.Stream && s.taken[direction+all]) {
			all = next
		}
	}
	if st.Kind == plan.Stream {
		s.taken[direction+all] = true
		for _, w := range writes {
			s.made[w[1]] = all
		}
	}
	for n := range out {
		if out[n] == "" {
			out[n] = all
		}
	}
	return out
}

const gradOf = "grad of "

func isGrad(pos string) bool { return strings.HasPrefix(pos, gradOf) }

// lines are the user's lines behind c: first those of what it computes, then those of the parameters
// that it uses. plain and grad tell whether c is known to compute something that is no gradient, and
// a gradient.
func (s *scopes) lines(c *plan.Call) (lines []string, plain, grad bool) {
	add := func(pos string) {
		if pos = strings.TrimPrefix(pos, gradOf); pos != "" && pos != "?" && !slices.Contains(lines, pos) {
			lines = append(lines, pos)
		}
	}
	result := func(pos string) {
		plain, grad = plain || !isGrad(pos), grad || isGrad(pos)
		add(pos)
	}
	for _, r := range s.low.Regions {
		if r.Kernel != c.Kernel {
			continue
		}
		for _, n := range r.Body {
			add(n.Pos())
		}
		for _, n := range r.Gathers {
			result(n.Pos())
		}
	}
	region := grad || plain
	for _, o := range c.Operands {
		switch {
		case vertex(o) && o.Write && !region:
			result(s.spec.Values[o.ID].Pos)
		case o.Kind == plan.GlobalRef && o.Write && s.grads[o.ID]:
			grad = true
		}
	}
	for _, o := range c.Operands {
		if o.Kind == plan.GlobalRef {
			add(s.pos[o.ID])
		}
	}
	return lines, plain, grad
}
