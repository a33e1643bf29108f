package plan

import (
	"math"
	"slices"
)

// Residency policies that differ a little from another: the steps of a climb.

// special tells whether t is more than a rule.
func (t policy) special() bool {
	return t.ahead+t.group+len(t.first)+len(t.never)+len(t.price) > 0 || t.part || t.level != nil
}

// neighbours are the policies that differ by one key from t, the policy of pl: what stays is
// not to stay, what does not comes first.
func (t policy) neighbours(pl *Plan) []policy {
	var out []policy
	with := func(key int, in bool) {
		n := t
		n.first, n.never = slices.Clone(t.first), slices.Clone(t.never)
		drop := func(k int) bool { return k == key }
		n.first, n.never = slices.DeleteFunc(n.first, drop), slices.DeleteFunc(n.never, drop)
		if in {
			n.never = append(n.never, key)
		} else {
			n.first = append(n.first, key)
		}
		out = append(out, n)
	}
	for _, a := range []int{0, 2, 4, 8} {
		if n := t; a != t.ahead {
			n.ahead = a
			out = append(out, n)
		}
	}
	if t.group > 1 {
		for _, g := range []int{t.group - 1, t.group + 1} {
			n := t
			n.group = g
			out = append(out, n)
		}
		n := t
		n.even = !t.even
		out = append(out, n)
	}
	for id, v := range pl.Spec.Values {
		if v.Kind != Temp && v.RowBytes > 64 {
			with(id, pl.Resident[id])
		}
	}
	for d, b := range pl.Cells.Bytes {
		if b != nil {
			with(-1-d, pl.CellsIn[d])
		}
	}
	return out
}

// levels are the policies that balance by the kernels of pl: by windows, which several devices
// have not.
func (t policy) levels(pl *Plan, line *Timeline, m *Machine) (out []policy) {
	if pl.Devices > 1 {
		return nil
	}
	for _, ahead := range []float64{0.1, 0.5} {
		for _, hidden := range []float64{0.02, 0.2} {
			n := t
			n.lasting, n.level = true, newLevel(pl, line, m, ahead, hidden)
			out = append(out, n)
		}
	}
	return out
}

// prices are the policies that count copies by the phase they are in: more where they take
// longer than the kernels.
func (t policy) prices(pl *Plan, line *Timeline) []policy {
	part, lasting := t, t
	part.part, lasting.lasting = !t.part, !t.lasting
	out := []policy{part, lasting}
	kernels, copies := make([]float64, len(pl.Spec.Phases)), make([]float64, len(pl.Spec.Phases))
	for i := range pl.Tasks {
		k, ns := &pl.Tasks[i], float64(line.End[i]-line.Start[i])
		switch k.Queue {
		case Compute:
			kernels[k.Phase] += ns
		case H2D:
			copies[k.Phase] += ns
		}
	}
	for _, a := range []float64{0.5, 1, 2} {
		for _, p := range []bool{false, true} {
			n := t
			n.part, n.price = p, make([]float64, len(kernels))
			for q := range kernels {
				n.price[q] = t.worth(q) * math.Pow(min(10, max(0.1, copies[q]/max(1, kernels[q]))), a)
			}
			out = append(out, n)
		}
	}
	return out
}
