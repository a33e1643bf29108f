package saga_test

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"sagann/dataset"
)

var typedFormulas = []func(_, _ int, x float64) float64{
	func(_, _ int, x float64) float64 { return x },
	func(_, _ int, x float64) float64 { return math.Tanh(x) },
	func(_, _ int, x float64) float64 { return max(x, 0) },
	func(_, _ int, x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	func(_, _ int, x float64) float64 { return max(x, math.Expm1(min(x, 0))) },
}

// typedRelation is a relation with its edges, and the self loops that the model adds.
type typedRelation struct {
	name            string
	from, to        int
	src, dst, types []int
	weights         []float64
	data            *matrix
	idle            bool // no label depends on it
}

// typedOracle computes layers of typedLayer in float64, on whole matrices.
type typedOracle struct {
	n         []int
	names     []string
	x         []*matrix
	relations []typedRelation
	layers    []typedLayer
	target    int
	labels    []int32
	train     []uint32
	params    map[string]*matrix
	read      map[string]bool

	// of the layer that is computed
	layer int
	rows  [][]*matrix // behind each layer, by type
	data  []*matrix   // numbers of edges, by relation
}

func newTypedOracle(h *dataset.Hetero, target, layers int, loops bool) *typedOracle {
	o := &typedOracle{target: target, params: map[string]*matrix{}, read: map[string]bool{}, labels: h.Types[target].Rows.Labels, train: h.Types[target].Rows.Train}
	wide := func(x []float32, rows, cols int) *matrix {
		if cols == 0 {
			return nil
		}
		return newMatrix(rows, cols).each(func(i, j int, _ float64) float64 { return float64(x[i*cols+j]) })
	}
	for _, t := range h.Types {
		d := t.Rows
		o.n, o.names, o.x = append(o.n, d.Edges.V), append(o.names, t.Name), append(o.x, wide(d.Features, d.Edges.V, d.FeatureCols))
	}
	_, reached := h.Within([]int{target}, layers)
	for i, x := range h.Relations {
		e := x.Links.Edges
		r := typedRelation{name: x.Name, from: x.Source, to: x.Target, data: wide(e.Data, e.E(), e.DataCols), idle: !reached[i]}
		loop := map[int]bool{}
		for k := range e.Src {
			r.src, r.dst = append(r.src, int(e.Src[k])), append(r.dst, int(e.Dst[k]))
			if e.Weight != nil {
				r.weights = append(r.weights, float64(e.Weight[k]))
			}
			if e.Type != nil {
				r.types = append(r.types, int(e.Type[k]))
			}
			if e.Src[k] == e.Dst[k] {
				loop[int(e.Src[k])] = true
			}
		}
		for v := range o.n[x.Source] {
			if loops && x.Source == x.Target && !loop[v] {
				r.src, r.dst = append(r.src, v), append(r.dst, v)
				if e.Weight != nil {
					r.weights = append(r.weights, 1)
				}
			}
		}
		o.relations = append(o.relations, r)
	}
	return o
}

// param is a parameter of the layer: its name has the relation or type in it, unless labels depend on one alone.
func (o *typedOracle) param(scope, name string) *matrix {
	full := fmt.Sprintf("layer%d.%s.%s", o.layer+1, scope, name)
	if o.params[full] == nil {
		full = fmt.Sprintf("layer%d.%s", o.layer+1, name)
	}
	o.read[full] = true
	return o.params[full]
}

// ends are the rows of sources and of destinations.
func (o *typedOracle) ends(r *typedRelation, layer int) (src, dst *matrix) {
	return o.rows[layer][r.from].at(r.src), o.rows[layer][r.to].at(r.dst)
}

func (o *typedOracle) message(m typedMessage, r *typedRelation, data *matrix) *matrix {
	src, dst := o.ends(r, o.layer)
	h := src.times(o.param([]string{r.name, "", o.names[r.from]}[m.weight], m.name+"W"))
	if m.dst {
		h = h.plus(dst.times(o.param(r.name, m.name+"V")))
	}
	if m.data && data != nil {
		h = h.plus(data.times(o.param(r.name, m.name+"D")))
	}
	if m.byType && r.types != nil {
		w := o.param(r.name, m.name+"T")
		h = h.each(func(e, j int, x float64) float64 {
			for k, y := range src.row(e) {
				x += y * w.row(r.types[e]*src.cols + k)[j]
			}
			return x
		})
	}
	if m.early >= 0 {
		a, b := o.ends(r, m.early)
		if m.ofDst {
			a = b
		}
		h = h.plus(a.times(o.param(r.name, m.name+"E")))
	}
	h = h.each(typedFormulas[m.act])
	if by := o.scale(m, r, h, src, dst); by != nil {
		h = h.scaled(by)
	}
	return h
}

// scale is what messages h are multiplied by; nil: nothing.
func (o *typedOracle) scale(m typedMessage, r *typedRelation, h, src, dst *matrix) []float64 {
	by := make([]float64, len(r.src))
	switch {
	case m.scale == 1:
		in, out := counts(r.dst, o.n[r.to]), counts(r.src, o.n[r.from])
		if r.from == r.to {
			out = in
		}
		for e := range by {
			if d := in[r.dst[e]] * out[r.src[e]]; d > 0 {
				by[e] = 1 / math.Sqrt(d)
			}
		}
	case m.scale == 2 && r.weights != nil:
		return r.weights
	case m.scale == 3:
		for e, gate := 0, dst.times(o.param(r.name, m.name+"G")); e < len(by); e++ {
			for j, y := range gate.row(e) {
				by[e] += y * h.row(e)[j]
			}
			by[e] = 1 / (1 + math.Exp(-by[e]))
		}
	case m.scale == 4:
		return shares(src.times(o.param(r.name, m.name+"S")), r.dst, o.n[r.to]).x
	case m.scale == 5 && r.types != nil:
		of := map[[2]int]float64{}
		for e, v := range r.dst {
			of[[2]int{v, r.types[e]}]++
		}
		for e, v := range r.dst {
			by[e] = 1 / of[[2]int{v, r.types[e]}]
		}
	default:
		return nil
	}
	return by
}

func counts(ends []int, n int) []float64 {
	list := make([]float64, n)
	for _, v := range ends {
		list[v]++
	}
	return list
}

// shares is the softmax of scores over the edges of each of n vertices.
func shares(score *matrix, dst []int, n int) *matrix {
	sum := newMatrix(n, score.cols)
	for e, v := range dst {
		for j, s := range score.row(e) {
			sum.row(v)[j] += math.Exp(s)
		}
	}
	return score.each(func(e, j int, s float64) float64 { return math.Exp(s) / sum.row(dst[e])[j] })
}

// gathered is what gather number acc makes of messages h at n vertices.
func gathered(acc int, h, score *matrix, dst []int, n int) *matrix {
	if acc >= 5 {
		share, wide := shares(score, dst, n), h.cols/score.cols
		return gathered(0, h.each(func(e, j int, x float64) float64 { return x * share.row(e)[j/wide] }), nil, dst, n)
	}
	degree := counts(dst, n)
	return newMatrix(n, h.cols).each(func(v, j int, _ float64) float64 {
		var list []float64
		sum, squares := 0.0, 0.0
		for e, d := range dst {
			if x := h.row(e)[j]; d == v {
				list, sum, squares = append(list, x), sum+x, squares+x*x
			}
		}
		switch k := degree[v]; {
		case k == 0 || acc == 0:
			return sum
		case acc == 1:
			return sum / k
		case acc == 2:
			return slices.Max(list)
		case acc == 3:
			return slices.Min(list)
		default:
			return squares/k - sum/k*sum/k
		}
	})
}

func (o *typedOracle) score(r *typedRelation) *matrix {
	src, dst := o.ends(r, o.layer)
	return src.times(o.param(r.name, "Q")).plus(dst.times(o.param(r.name, "K"))).each(func(_, _ int, x float64) float64 { return max(x, 0.2*x) })
}

// one is a gather of a relation.
func (o *typedOracle) one(acc int, m typedMessage, i, out int) *matrix {
	r := &o.relations[i]
	var score *matrix
	if acc >= 5 {
		score = o.score(r)
	}
	return gathered(acc, o.message(m, r, o.data[i]), score, r.dst, o.n[r.to])
}

// sum is a gather of each of the relations, summed, or the softmax across them.
func (o *typedOracle) sum(acc int, m typedMessage, relations []int, out int) (all *matrix) {
	if acc < 6 {
		for _, i := range relations {
			all = all.plus(o.one(acc, m, i, out))
		}
		return all
	}
	var score *matrix
	var dst []int
	for _, i := range relations {
		r := &o.relations[i]
		all, score, dst = stacked(all, o.message(m, r, o.data[i])), stacked(score, o.score(r)), append(dst, r.dst...)
	}
	if all == nil {
		return nil
	}
	return gathered(5, all, score, dst, o.n[o.relations[relations[0]].to])
}

// second is what the second gather adds.
func (o *typedOracle) second(l typedLayer, relations []int) (all *matrix) {
	switch l.way {
	case 1:
		return o.sum(l.second, l.message, relations, l.out).each(typedFormulas[1])
	case 2:
		return o.sum(l.second, l.other, relations, l.out)
	case 3:
		for _, i := range relations {
			y := o.one(l.second, l.message, i, l.out)
			if all = max2(all, y); all != y {
				all = all.each(func(v, j int, x float64) float64 { return max(x, y.row(v)[j]) })
			}
		}
	case 4:
		for _, i := range relations {
			all = all.plus(o.one(l.second, l.message, i, l.out).each(typedFormulas[1]))
		}
	}
	return all
}

// degrees are 1/(1+d), with d the in- or out-degrees of vertices of type t, of one relation or of all that labels depend on; nil: there are none.
func (o *typedOracle) degrees(l typedLayer, t int, relations []int) []float64 {
	var d []float64
	for i, r := range o.relations {
		ends, of := r.dst, r.to
		if l.degree == 2 {
			ends, of = r.src, r.from
		}
		if of != t || r.idle || l.per && i != relations[0] || l.degree == 1 && o.rows[o.layer][r.from] == nil {
			continue
		}
		if d == nil {
			d = make([]float64, o.n[t])
		}
		for _, v := range ends {
			d[v]++
		}
	}
	for v := range d {
		d[v] = 1 / (1 + d[v])
	}
	return d
}

// vertex is ApplyVertex for type t and these relations into it.
func (o *typedOracle) vertex(l typedLayer, t int, relations []int, scope string) *matrix {
	x := o.sum(l.gather, l.message, relations, l.out).plus(o.second(l, relations))
	if l.degree > 0 {
		if d := o.degrees(l, t, relations); d != nil {
			x = x.scaled(d)
		} else {
			x = nil
		}
	}
	if l.self {
		x = x.plus(o.rows[o.layer][t].times(o.param(scope, "own")))
	}
	if l.first {
		x = x.plus(o.rows[0][t].times(o.param(scope, "first")))
	}
	if l.after {
		return x
	}
	return x.each(typedFormulas[l.act])
}

// needed are the types whose rows behind each layer the results of the target may read.
func (o *typedOracle) needed() []map[int]bool {
	list := []map[int]bool{{o.target: true}}
	for range o.layers {
		next := maps.Clone(list[0])
		for _, r := range o.relations {
			if list[0][r.to] {
				next[r.from] = true
			}
		}
		list = slices.Insert(list, 0, next)
	}
	return list
}

// forward is the logits.
func (o *typedOracle) forward() *matrix {
	o.rows, o.data = [][]*matrix{o.x}, nil
	for _, r := range o.relations {
		o.data = append(o.data, r.data)
	}
	needed := o.needed()
	for k, l := range o.layers {
		o.layer = k
		next := make([]*matrix, len(o.n))
		live := func(r *typedRelation, at map[int]bool) bool {
			return at[r.to] && o.rows[k][r.from] != nil && o.rows[k][r.to] != nil
		}
		for t := range next {
			if o.rows[k][t] == nil || !needed[k+1][t] {
				continue
			}
			var in []int
			for i := range o.relations {
				if r := &o.relations[i]; r.to == t && live(r, needed[k+1]) {
					in = append(in, i)
				}
			}
			if l.per {
				for _, i := range in {
					next[t] = next[t].plus(o.vertex(l, t, []int{i}, o.relations[i].name))
				}
			} else {
				next[t] = o.vertex(l, t, in, o.names[t])
			}
			if l.after && next[t] != nil {
				b := o.param(o.names[t], "bias")
				next[t] = next[t].each(func(_, j int, x float64) float64 { return x + b.x[j] }).each(typedFormulas[l.act])
			}
		}
		if l.update && k+1 < len(o.layers) {
			o.update(func(r *typedRelation) bool { return live(r, needed[k+2]) })
		}
		o.rows = append(o.rows, next)
	}
	return o.rows[len(o.layers)][o.target]
}

// update is UpdateEdge, for the relations that later layers read and whose numbers any of them has use for.
func (o *typedOracle) update(later func(r *typedRelation) bool) {
	for i := range o.relations {
		r := &o.relations[i]
		before := o.data[i]
		if o.data[i] = nil; !later(r) || o.params[fmt.Sprintf("layer%d.%s.U", o.layer+1, r.name)] == nil && o.params[fmt.Sprintf("layer%d.U", o.layer+1)] == nil {
			continue
		}
		src, dst := o.ends(r, o.layer)
		both := newMatrix(src.rows, src.cols+dst.cols)
		for e := range both.rows {
			copy(both.row(e), src.row(e))
			copy(both.row(e)[src.cols:], dst.row(e))
		}
		h := both.times(o.param(r.name, "U"))
		if before != nil && before.cols == 2 {
			h = h.plus(before)
		}
		o.data[i] = h.each(typedFormulas[1])
	}
}

func (o *typedOracle) loss() (sum float64) {
	z := o.forward()
	for _, v := range o.train {
		row, total := z.row(int(v)), 0.0
		for _, x := range row {
			total += math.Exp(x - row[o.labels[v]])
		}
		sum += math.Log(total) / float64(len(o.train))
	}
	return sum
}

// gradients are those of the loss by differences, and the size of the largest number.
func (o *typedOracle) gradients() (grads map[string][]float64, most float64) {
	const step = 1e-5
	grads, most = map[string][]float64{}, 1e-3
	for name, w := range o.params {
		for i, was := range w.x {
			w.x[i] = was + step
			up := o.loss()
			w.x[i] = was - step
			g := (up - o.loss()) / (2 * step)
			w.x[i] = was
			grads[name], most = append(grads[name], g), max(most, math.Abs(g))
		}
	}
	return grads, most
}
