package layers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"sagann/dataset"
	"sagann/internal/safetensors"
	"sagann/saga"
)

// Weights are tensors with names, as a file has them.
type Weights struct {
	path string
	run  *saga.Stored // a checkpoint of this program: the list has its names
	list []dataset.Tensor
	mean []dataset.Tensor // averages of parameters (saga.Model.Average), under the names of these
}

// Averaged replaces the parameters of a checkpoint by their averages, as evaluation has them with keep as saga.Model.Average.
func (w *Weights) Averaged(keep float32) {
	for _, mean := range w.mean {
		for _, t := range w.list {
			if t.Name == mean.Name && len(t.Values) == len(mean.Values) {
				for i, x := range mean.Values {
					t.Values[i] = x + (t.Values[i]-x)*(1-keep)
				}
			}
		}
	}
	w.mean = nil
}

// Run is the checkpoint of this program that the weights come from, nil if they come from elsewhere.
func (w *Weights) Run() *saga.Stored { return w.run }

// Place gives a parameter with a row for each vertex the rows of other vertices: row rows[v] for vertex v, or if that is negative
// the one in fresh. It is an error if the weights have no such parameter with as many columns.
func (w *Weights) Place(name string, rows []int, fresh []float32) error {
	for i := range w.list {
		t := &w.list[i]
		if t.Name != name {
			continue
		}
		if len(t.Shape) != 2 || len(rows)*t.Shape[1] != len(fresh) {
			return fmt.Errorf("%s: parameter %s has shape %v; the model has %d numbers for %d vertices", w.path, name, t.Shape, len(fresh), len(rows))
		}
		cols := t.Shape[1]
		values := slices.Clone(fresh)
		for v, r := range rows {
			if r >= t.Shape[0] {
				return fmt.Errorf("%s: parameter %s has %d rows, not %d", w.path, name, t.Shape[0], r+1)
			}
			if r >= 0 {
				copy(values[v*cols:(v+1)*cols], t.Values[r*cols:])
			}
		}
		t.Shape, t.Values = []int{len(rows), cols}, values
		return nil
	}
	return fmt.Errorf("%s: no parameter %s", w.path, name)
}

// Params lists the parameters of a checkpoint, and gives them by name.
func (w *Weights) Params() (params []saga.Param, value func(name string) ([]float32, error)) {
	for _, t := range w.list {
		if len(t.Shape) == 2 {
			params = append(params, saga.Param{Name: t.Name, Rows: t.Shape[0], Cols: t.Shape[1]})
		}
	}
	return params, func(name string) ([]float32, error) {
		for _, t := range w.list {
			if t.Name == name {
				return t.Values, nil
			}
		}
		return nil, fmt.Errorf("%s: no parameter %s", w.path, name)
	}
}

// Delta is the δ that a PNAConv among the weights was made with (Own.Delta), or 0.
func (w *Weights) Delta() float32 {
	for _, t := range w.list {
		if strings.HasSuffix(t.Name, ".avg_deg_log") && len(t.Values) == 1 {
			return t.Values[0]
		}
	}
	return 0
}

// unread are endings of names of PyG's tensors that no parameter is made of.
var unread = []string{"num_batches_tracked", "aggr_module.avg_deg_lin", "aggr_module.avg_deg_log"}

// For gives the weights the names and shapes of the parameters of model m, which New made with o. Layers find theirs, within prefixes
// such as convs.0., by the names that PyG's layers have; of several that fit the first is taken for the first layer. Weights that
// are missing or left over, of another shape or not finite are errors that name them.
func (w *Weights) For(m saga.Model, o Options, params []saga.Param) (map[string][]float32, error) {
	all := params
	params = trained(params)
	fit := &fitting{w: w, left: map[string]*dataset.Tensor{}, values: map[string][]float32{}}
	for i := range w.list {
		t := &w.list[i]
		if !slices.ContainsFunc(unread, func(end string) bool { return strings.HasSuffix(t.Name, end) }) || w.run != nil {
			fit.left[t.Name] = t
		}
	}
	if w.run != nil {
		if err := w.run.Suits(&m); err != nil {
			return nil, err
		}
		for _, q := range params {
			fit.take(q, q.Name, []int{q.Rows, q.Cols}, false)
		}
	} else if err := fit.units(m, o, params); err != nil {
		return nil, err
	}
	for _, q := range all { // averages begin as their parameters do
		if of, ok := strings.CutPrefix(q.Name, saga.AverageOf); ok {
			fit.values[q.Name] = fit.values[of]
		}
	}
	return fit.values, fit.err()
}

// trained are params without averages of others.
func trained(params []saga.Param) []saga.Param {
	return slices.DeleteFunc(slices.Clone(params), func(q saga.Param) bool { return strings.HasPrefix(q.Name, saga.AverageOf) })
}

// fitting is what Weights.For has found so far.
type fitting struct {
	w       *Weights
	left    map[string]*dataset.Tensor
	values  map[string][]float32
	missing []string
	wrong   []string
}

// units finds the tensors of each unit, those with most parameters first, as others may have names like theirs.
func (f *fitting) units(m saga.Model, o Options, params []saga.Param) error {
	units, alone := unitsOf(m, o, params)
	if alone != nil {
		return noCounterpart(m, alone)
	}
	byName := map[string]saga.Param{}
	for _, q := range params {
		byName[q.Name] = q
	}
	slices.SortStableFunc(units, func(a, b *unit) int { return cmp.Compare(b.depth(), a.depth()) })
	for _, u := range units {
		prefix, found := f.prefix(u)
		for _, r := range u.rows {
			q := byName[u.full(r.ours)]
			shape, turned := r.form(u, q.Rows, q.Cols)
			name := ""
			if found {
				name = f.named(prefix, r)
			}
			if name == "" {
				f.missing = append(f.missing, fmt.Sprintf("%s (in PyG %s%s %v)", q.Name, prefix, strings.ReplaceAll(r.theirs, "|", " or "), shape))
				continue
			}
			f.take(q, name, shape, turned)
		}
	}
	return nil
}

func noCounterpart(m saga.Model, names []string) error {
	return fmt.Errorf("layers: model %s: PyTorch Geometric's layers have nothing like %s", m.Name, strings.Join(names, ", "))
}

// depth is larger for units whose names say more.
func (u *unit) depth() int {
	n := 0
	for _, r := range u.rows {
		n += 1 + 100*strings.Count(strings.Split(r.theirs, "|")[0], ".")
	}
	return n
}

// prefix is where the tensors of u begin: the first place, in the order of the file, that has all of them in their shapes; else the
// first that has their names; else, for the error that names the others, the first that has most of them in their shapes.
func (f *fitting) prefix(u *unit) (prefix string, found bool) {
	part, most := "", 0
	for _, t := range f.w.list {
		if f.left[t.Name] == nil {
			continue
		}
		for _, ending := range strings.Split(u.rows[0].theirs, "|") {
			at, ok := strings.CutSuffix(t.Name, ending)
			if !ok || at != "" && !strings.HasSuffix(at, ".") {
				continue
			}
			all, shaped, n := true, true, 0
			for _, r := range u.rows {
				x := f.left[f.named(at, r)]
				if all = all && x != nil; x != nil {
					size := u.sizes[r.ours]
					want, _ := r.form(u, size[0], size[1])
					if slices.Equal(want, x.Shape) {
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
				return at, true
			case all && !found:
				prefix, found = at, true
			}
		}
	}
	if !found && most > 0 {
		return part, true
	}
	return prefix, found
}

// named is the name of a tensor of a row behind a prefix, or "".
func (f *fitting) named(prefix string, r row) string {
	for _, name := range strings.Split(r.theirs, "|") {
		if f.left[prefix+name] != nil {
			return prefix + name
		}
	}
	return ""
}

// take makes the tensor name the parameter q.
func (f *fitting) take(q saga.Param, name string, shape []int, turned bool) {
	t := f.left[name]
	switch {
	case t == nil:
		f.missing = append(f.missing, fmt.Sprintf("%s [%d×%d]", q.Name, q.Rows, q.Cols))
		return
	case !slices.Equal(t.Shape, shape):
		f.wrong = append(f.wrong, fmt.Sprintf("%.80s has shape %v; %s [%d×%d] needs %v", name, t.Shape, q.Name, q.Rows, q.Cols, shape))
	default:
		if i := slices.IndexFunc(t.Values, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }); i >= 0 {
			f.wrong = append(f.wrong, fmt.Sprintf("%.80s: number %d is %v; weights are finite", name, i, t.Values[i]))
		} else if f.values[q.Name] = t.Values; turned {
			f.values[q.Name] = turn(t.Values, q.Cols, q.Rows)
		}
	}
	delete(f.left, name)
}

// turn is the transpose of x [rows×cols].
func turn(x []float32, rows, cols int) []float32 {
	y := make([]float32, len(x))
	for i := range rows {
		for j := range cols {
			y[j*rows+i] = x[i*cols+j]
		}
	}
	return y
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

// WriteWeights writes parameters of model m, which New made with o, under the names and in the shapes of PyG's layers: layers of
// PyG's models as convs.0., convs.1. and so on, linear layers as lins.0., norms as norms.0., and the layer of Between.Jump as lin. The
// ending of path says how: .pt as torch.save writes a state_dict, or .safetensors. value gives a parameter.
func WriteWeights(w io.Writer, ending string, m saga.Model, o Options, params []saga.Param, value func(name string) ([]float32, error)) error {
	units, alone := unitsOf(m, o, trained(params))
	if alone != nil {
		return noCounterpart(m, alone)
	}
	var list []dataset.Tensor
	for _, u := range units {
		for _, r := range u.rows {
			size := u.sizes[r.ours]
			x, err := value(u.full(r.ours))
			if err != nil {
				return err
			}
			shape, turned := r.form(u, size[0], size[1])
			if turned {
				x = turn(x, size[0], size[1])
			}
			name, _, _ := strings.Cut(r.theirs, "|")
			list = append(list, dataset.Tensor{Name: u.next + name, Shape: shape, Values: x})
		}
	}
	if ending == ".pt" {
		return dataset.WriteTensors(w, list)
	}
	var tensors []safetensors.Tensor
	for _, t := range list {
		tensors = append(tensors, safetensors.Tensor{Name: t.Name, Shape: t.Shape, Data: t.Values})
	}
	return safetensors.Write(w, tensors, nil)
}
