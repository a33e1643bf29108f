package layers

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/dataset"
	"sagann/saga"
)

// fitting is what Weights.For has found so far.
type fitting struct {
	w       *Weights
	left    map[string]*dataset.Tensor
	values  map[string][]float32
	taken   map[string]bool
	missing []string
	wrong   []string
}

// units finds the tensors of each unit, those with most parameters first, as others may have names like theirs.
func (f *fitting) units(m saga.Model, o Options, params []saga.Param, parts []saga.Part) error {
	units, alone := unitsOf(m, o, params, parts)
	if alone != nil {
		return noCounterpart(m, alone, parts != nil)
	}
	f.w.idle = nil
	byName := map[string]saga.Param{}
	for _, q := range params {
		byName[q.Name] = q
	}
	slices.SortStableFunc(units, func(a, b *unit) int { return cmp.Compare(b.depth(), a.depth()) })
	for _, u := range units {
		prefix, found, fits := f.prefix(u)
		if bare := u.bare(); bare != nil && !fits {
			if at, has, good := f.prefix(bare); good || has && !found {
				u, prefix, found = bare, at, has
			}
		}
		if u.order = f.orderOf(u, prefix); len(u.order) > 1 && strings.HasSuffix(f.w.path, ".safetensors") {
			return fmt.Errorf("%s: %s stacks the matrices of relations in the order in which it was made, and a .safetensors keeps no order: save the state_dict as a .pt", f.w.path, strings.TrimSuffix(prefix, "."))
		}
		for _, r := range u.rows {
			q := byName[u.full(r.ours)]
			name := ""
			if found {
				name = f.named(prefix, r)
			}
			if name == "" {
				f.missing = append(f.missing, fmt.Sprintf("%s (in PyG %s%s %v)", q.Name, prefix, strings.Join(r.theirs[:min(2, len(r.theirs))], " or "), r.piece(u, q.Rows, q.Cols).shape))
				continue
			}
			f.take(q, name, r.piece(u, q.Rows, q.Cols))
		}
		if f.drop(); found {
			f.idle(u, prefix)
		}
	}
	return nil
}

func noCounterpart(m saga.Model, names []string, typed bool) error {
	among := ""
	if typed {
		among = " over several types"
	}
	return fmt.Errorf("layers: model %s: PyTorch Geometric's layers have nothing like %s%s", m.Name, strings.Join(names, ", "), among)
}

// depth is larger for units whose names say more.
func (u *unit) depth() int {
	n := 0
	for _, r := range u.rows {
		n += 1 + 100*strings.Count(r.theirs[0], ".")
	}
	return n
}

// prefix is where the tensors of u begin: the first place, in the order of the file, that has all of them in their shapes; else the
// first that has their names; else, for the error that names the others, the first that has most of them in their shapes. fits tells whether it
// has all.
func (f *fitting) prefix(u *unit) (prefix string, found, fits bool) {
	part, most := "", 0
	for _, at := range f.candidates(u) {
		all, shaped, n := true, true, 0
		u.order = f.orderOf(u, at)
		for _, r := range u.rows {
			x := f.left[f.named(at, r)]
			if all = all && x != nil; x != nil {
				size := u.sizes[r.ours]
				if slices.Equal(r.piece(u, size[0], size[1]).shape, x.Shape) {
					n++
				} else {
					shaped = false
				}
			}
		}
		if n > most {
			part, most = at, n
		}
		switch {
		case all && shaped:
			return at, true, true
		case all && !found:
			prefix, found = at, true
		}
	}
	if !found && most > 0 {
		return part, true, false
	}
	return prefix, found, false
}

// candidates are the places, in the order of the file, behind which the name of some tensor of u stands.
func (f *fitting) candidates(u *unit) (list []string) {
	known := map[string]bool{}
	for _, t := range f.w.list {
		if f.left[t.Name] == nil {
			continue
		}
		for _, r := range u.rows {
			for _, ending := range r.theirs {
				if at, ok := strings.CutSuffix(t.Name, ending); ok && !known[at] && (at == "" || strings.HasSuffix(at, ".")) {
					known[at], list = true, append(list, at)
				}
			}
		}
	}
	return list
}

// named is the name of a tensor of a row behind a prefix, or "".
func (f *fitting) named(prefix string, r placed) string {
	for _, name := range r.theirs {
		if f.left[prefix+name] != nil {
			return prefix + name
		}
	}
	return ""
}

// piece is the part at of so many, along the first axis, of a tensor of a shape, and tells whether it is the transpose of a parameter.
type piece struct {
	shape     []int
	at, parts int
	turned    bool
}

// piece is what the parameter of r, of rows×cols, is in its tensor.
func (r *placed) piece(u *unit, rows, cols int) piece {
	shape, turned := r.form(u, rows, cols)
	x := piece{slices.Clone(shape), 0, 1, turned}
	if r.share != nil {
		x.at, x.parts = r.share(u, r.of, 0)
		x.shape[0] *= x.parts
	}
	return x
}

// take makes a piece of the tensor name the parameter q.
func (f *fitting) take(q saga.Param, name string, x piece) {
	t := f.left[name]
	switch {
	case t == nil || x.at < 0:
		f.missing = append(f.missing, fmt.Sprintf("%s [%d×%d]", q.Name, q.Rows, q.Cols))
		return
	case !slices.Equal(t.Shape, x.shape):
		f.wrong = append(f.wrong, fmt.Sprintf("%.80s has shape %v; %s [%d×%d] needs %v", name, t.Shape, q.Name, q.Rows, q.Cols, x.shape))
	default:
		if i := slices.IndexFunc(t.Values, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }); i >= 0 {
			f.wrong = append(f.wrong, fmt.Sprintf("%.80s: number %d is %v; weights are finite", name, i, t.Values[i]))
			break
		}
		n := len(t.Values) / x.parts
		if f.values[q.Name] = t.Values[x.at*n : (x.at+1)*n]; x.turned {
			f.values[q.Name] = turn(f.values[q.Name], q.Cols, q.Rows)
		}
	}
	f.taken[name] = true
}

// drop has no other unit find the tensors that were taken.
func (f *fitting) drop() {
	for name := range f.taken {
		delete(f.left, name)
	}
	clear(f.taken)
}

// mostNamed is how many weights of a kind an error names.
const mostNamed = 20

// err lists both sides of what does not fit.
func (f *fitting) err() error {
	var over []string
	for _, t := range f.w.list {
		if f.left[t.Name] != nil {
			over = append(over, fmt.Sprintf("%.80s %v", t.Name, t.Shape))
		}
	}
	var errs []error
	for _, x := range []struct {
		what string
		list []string
	}{{"of another shape, or not finite", f.wrong}, {"of the model, and not in the file", f.missing}, {"in the file, and not of the model", over}} {
		if n := len(x.list); n > mostNamed {
			x.list[mostNamed] = fmt.Sprintf("and %d more", n-mostNamed)
			x.list = x.list[:mostNamed+1]
		}
		if x.list != nil {
			errs = append(errs, fmt.Errorf("%s: weights that are %s: %s", f.w.path, x.what, strings.Join(x.list, "; ")))
		}
	}
	return errors.Join(errs...)
}
