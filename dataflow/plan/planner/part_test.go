package planner_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/order"
	"sagann/dataflow/plan/plantest"
	"sagann/internal/draw"
)

// The parts of a plan have each of its tasks once, on the rank of its device. Every operand is where a task looks for
// it, in every interleaving of all ranks' queues that dependences and messages allow. Take a dependence out, and it
// no longer is, unless others imply it.
func TestParts(t *testing.T) {
	draw.Check(t, func(t *rapid.T) {
		p, parts, of := drawParts(t)
		all := join(t, p, parts, of)
		if err := plantest.Check(all, nil); err != nil {
			t.Fatal(err)
		}
		for r, q := range parts {
			if err := q.Verify(); err != nil {
				t.Fatalf("rank %d: %v", r, err)
			}
			if len(q.Deps) == 0 || len(p.Spec.EdgeTemps) > 0 { // whose room is waited for where a cell has too few edges to use it
				continue
			}
			out := rapid.IntRange(0, len(q.Deps)-1).Draw(t, "taken out")
			others := slices.Clone(parts)
			others[r] = without(q, out)
			short := join(t, p, others, of)
			of := numbers(short, r, of)
			i := slices.IndexFunc(q.Tasks, func(t plan.Task) bool { return int(t.Deps[0]) <= out && out < int(t.Deps[1]) })
			if q.Tasks[i].Kind == plan.Update || q.Tasks[q.Deps[out]].Kind == plan.Update {
				continue // waits for whoever touches a Global, read or not
			}
			if err := plantest.Check(short, nil); err == nil && !implied(short, of[q.Deps[out]], of[i]) {
				t.Fatalf("rank %d: nobody misses that %s waits for %s", r, q.Describe(i), q.Describe(int(q.Deps[out])))
			}
		}
	})
}

// drawParts draws a plan for two to four devices and its parts; of is the rank of a device.
func drawParts(t *rapid.T) (p *plan.Plan, parts []*plan.Plan, of func(int) int) {
	s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
	o := plantest.DrawOptions(t, c)
	k := rapid.SampledFrom([][2]int{{2, 2}, {3, 3}, {4, 2}, {4, 4}}).Draw(t, "devices and ranks")
	o.Devices = k[0]
	p, err := o.Plan(s, plantest.Always(c))
	if err != nil {
		t.Fatal(err)
	}
	for r := range k[1] {
		q, err := order.Part(p, r, k[1])
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, q)
	}
	return p, parts, func(d int) int { return order.RankOf(d, k[0], k[1]) }
}

func join(t *rapid.T, p *plan.Plan, parts []*plan.Plan, of func(int) int) *plan.Plan {
	tasks, _ := order.Turns(p, len(parts))
	all, err := plantest.Joined(p, tasks, parts, of)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// without is p without its k-th dependence.
func without(p *plan.Plan, k int) *plan.Plan {
	q := *p
	q.Tasks, q.Deps = slices.Clone(p.Tasks), slices.Delete(slices.Clone(p.Deps), k, k+1)
	for i := range q.Tasks {
		for e, at := range q.Tasks[i].Deps {
			if int(at) > k {
				q.Tasks[i].Deps[e]--
			}
		}
	}
	return &q
}

// numbers are those of a rank's tasks in the plan that all ranks' tasks are joined to.
func numbers(all *plan.Plan, rank int, of func(int) int) (list []int) {
	for i := range all.Tasks {
		if of(int(all.Tasks[i].Device)) == rank {
			list = append(list, i)
		}
	}
	return list
}

// implied tells whether queues and dependences have task i of p begin after task goal is over.
func implied(p *plan.Plan, goal, i int) bool {
	after := map[int]bool{goal: true}
	last := map[int]int{} // by queue: its latest task
	for n := range p.Tasks[:i+1] {
		t := &p.Tasks[n]
		before, ok := last[t.Lane()]
		after[n] = n == goal || ok && after[before] || slices.ContainsFunc(p.Deps[t.Deps[0]:t.Deps[1]], func(d int32) bool { return after[int(d)] })
		last[t.Lane()] = n
	}
	return after[i]
}
