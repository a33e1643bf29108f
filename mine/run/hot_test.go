package run

import (
	"cmp"
	"slices"
	"testing"

	"sagann/dataset"
	"sagann/mine/pattern"
	"sagann/mine/plan"
	"sagann/mine/rows"
)

// TestHotRows counts how often each row is read by loops of plans, and what of it comes
// from the host if a quarter, or a tenth, of the rows' bytes lie on a GPU: those of most
// neighbours, those that are read most, and those that samples say are.
func TestHotRows(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, seconds")
	}
	best := 1.0
	for _, spec := range []string{
		"vertices=512,edges=7000,kind=rmat,features=1",
		"vertices=2048,edges=10000,kind=rmat,features=1",
		"vertices=2048,edges=20000,features=1",
	} {
		s, err := dataset.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		d, err := dataset.Synthetic(s)
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := rows.FromEdges(d.Edges.Symmetric())
		if err != nil {
			t.Fatal(err)
		}
		r = r.ByDegree()
		for _, text := range []string{"0-1-2-3-0 4-0 4-1 4-2 4-3", "diamond", "0-1-2-3-0 0-4-3 1-5-2", "house", "cycle5"} {
			p, _, err := plan.Choose(pattern.Must(text), nil, r.Stats(), int64(len(r.Col)), Sampler{Rows: r, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			e := Sampler{Rows: r, Seed: 1}.Sample(p, 1<<22)
			reads := readsOf(p, r)
			for _, share := range []float64{0.25, 0.1} {
				by := func(key func(v uint32) float64) float64 { return cold(r, reads, share, key) }
				degree := by(func(v uint32) float64 { return float64(r.Degree(v)) })
				known := by(func(v uint32) float64 { return reads[v] })
				sampled := by(func(v uint32) float64 { return e.Reads[r.Class(v)] })
				t.Logf("%s, %s, %.0f %% on the GPU: of the bytes read %.3f come from the host by degree, %.3f by samples, %.3f by reads", spec, text, 100*share, degree, sampled, known)
				if sampled > 1.05*degree || sampled > 1.15*known {
					t.Error("samples are off")
				}
				best = min(best, sampled/degree)
			}
		}
	}
	if best > 0.9 {
		t.Errorf("samples spare %.0f %% at most: degrees would do", 100*(1-best))
	}
}

// readsOf is how often each row is read to make a set.
func readsOf(p *plan.Plan, r *rows.Rows) []float64 {
	reads := make([]float64, r.V())
	n := newNest(p, r, nil, &newPool(r, uncut).stop)
	var visit func(l int, list []uint32)
	visit = func(l int, list []uint32) {
		level := &p.Levels[l]
		if l > 0 {
			list = within(list, n.span(level.Above, level.Below))
			n.enter(l, len(list))
			defer n.leave(l)
		}
		for _, v := range list {
			if !n.fits(l, v) {
				continue
			}
			n.bind(l, v)
			for _, o := range n.ops[l] {
				reads[n.bound[p.Sets[o.set].Of]]++
				if b := p.Sets[o.set].Base; p.Sets[b].Base == plan.None {
					reads[n.bound[p.Sets[b].Of]]++
				}
			}
			if n.makeSets(l) && l+1 < p.Loops() {
				visit(l+1, n.set[p.Levels[l+1].From])
			}
		}
	}
	all := make([]uint32, r.V())
	for v := range all {
		all[v] = uint32(v)
	}
	visit(0, all)
	return reads
}

// cold is the share of what is read that is of rows that are not among the first, in
// descending order of the key, that fit into a share of the bytes.
func cold(r *rows.Rows, reads []float64, share float64, key func(v uint32) float64) float64 {
	by := make([]uint32, r.V())
	for v := range by {
		by[v] = uint32(v)
	}
	slices.SortStableFunc(by, func(a, b uint32) int { return cmp.Compare(key(b), key(a)) })
	left := int(share * float64(len(r.Col)))
	from, all := 0.0, 0.0
	for _, v := range by {
		d := r.Degree(v)
		all += reads[v] * float64(d)
		if d <= left {
			left -= d
		} else {
			from += reads[v] * float64(d)
		}
	}
	return from / all
}
