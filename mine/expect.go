package mine

import (
	"slices"

	"sagann/mine/cuda"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/run"
)

// seconds estimates how long counting takes, from measured rates. e is the estimate of the
// job's plan, or of any plan for its pattern.
func (g *Graph) seconds(j *job, e plan.Estimate) (float64, error) {
	if j.engine == Maps {
		return j.maps.expected, nil
	}
	r, err := g.ordered()
	if err != nil {
		return 0, err
	}
	w := r.Work()
	rates, workers := g.rates(j.place)
	if j.gpu {
		host, all := j.layout.HostReads(r)
		w.Host = float64(host)
		if j.engine == Loops { // loops read every set that they intersect, 4 bytes an element
			w.Host = 4 * e.Work * float64(host) / float64(max(all, 1))
		}
	}
	t, kernels, listed := 0.0, 1, 0.0
	switch j.engine {
	case Bits:
		w.Cliques = append([]float64{0}, e.Nodes...)
		t = rates.Clique(w, j.query.pattern.Vertices())
	case Loops:
		t, listed = rates.Loops(e, w), cuda.Tasks(r)
	default:
		triangles, err := plan.New(pattern.Must("triangle"), nil, []int{0, 1, 2}, plan.Options{})
		if err != nil {
			return 0, err
		}
		w.Cliques = append([]float64{0}, run.Sampler{Rows: r, Seed: seed}.Sample(triangles, walkWork).Nodes...)
		for _, t := range j.formula {
			switch t.Of {
			case pattern.FiveWalks:
				w.Five, w.Listed = run.FiveWork(r), run.Listed(r)
			case pattern.FourCycles:
				w.Listed = run.Listed(r)
			}
		}
		t, kernels = rates.Formula(j.formula, w), cuda.Counted(j.formula)
		if j.gpu && slices.ContainsFunc(j.formula, func(t pattern.Term) bool { return t.Of == pattern.EdgePairs || t.Of == pattern.Tails }) {
			workers /= float64(len(g.gpus.list)) // every GPU counts the triangles at all edges
			listed = w.Vertices / 2
		}
	}
	return t/workers + rates.Host(kernels, listed) + g.starting(rates, j.place), nil
}

// starting is the seconds that starting threads and taking their memory cost.
func (g *Graph) starting(rates plan.Rates, at place) float64 {
	return rates.Threads(float64(max(at.workers-1, 0)), float64(max(at.bytes-g.rowsNeed(), 0)))
}

// rates returns the rates of one processor, and the factor by which all processors of the place
// are faster than that one.
func (g *Graph) rates(at place) (plan.Rates, float64) {
	if !at.gpu {
		n := float64(at.workers)
		return plan.Core, n / (1 + plan.Crowd*(n-1))
	}
	return plan.H200, float64(len(g.gpus.list)*cuda.ChipOf(g.gpus.list[0]).Processors) / plan.H200Processors
}
