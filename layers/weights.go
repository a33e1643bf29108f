package layers

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sagann/dataset"
	"sagann/internal/safetensors"
	"sagann/saga"
)

// Weights are tensors with names, as a file has them.
type Weights struct {
	path string
	idle []string     // tensors of types and relations on which no label depends (For)
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

// Idle are the tensors that the last call of For did not read, as no label depends on the types and relations that they are of.
func (w *Weights) Idle() []string { return w.idle }

// For gives the weights the names and shapes of the parameters of model m, which New made with o. parts are those of the graph
// (saga.PartsOf), nil for one type and relation. Layers find theirs, within prefixes
// such as convs.0., by the names that PyG's layers have; of several that fit the first is taken for the first layer. Weights that
// are missing or left over, of another shape or not finite are errors that name them.
func (w *Weights) For(m saga.Model, o Options, params []saga.Param, parts []saga.Part) (map[string][]float32, error) {
	all := params
	params = trained(params)
	fit := &fitting{w: w, left: map[string]*dataset.Tensor{}, values: map[string][]float32{}, taken: map[string]bool{}}
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
			fit.take(q, q.Name, piece{[]int{q.Rows, q.Cols}, 0, 1, false})
		}
		fit.drop()
	} else if err := fit.units(m, o, params, parts); err != nil {
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

// WriteWeights writes parameters of model m, which New made with o, under the names and in the shapes of PyG's layers: layers of
// PyG's models as convs.0., convs.1. and so on, linear layers as lins.0., norms as norms.0., and the layer of Between.Jump as lin. Over several
// types (parts, of saga.Stored.Parts) layers are HeteroConv of them, HGTConv and HANConv. The
// ending of path says how: .pt as torch.save writes a state_dict, or .safetensors. value gives a parameter.
func WriteWeights(w io.Writer, ending string, m saga.Model, o Options, params []saga.Param, parts []saga.Part, value func(name string) ([]float32, error)) error {
	units, alone := unitsOf(m, o, trained(params), parts)
	if alone != nil {
		return noCounterpart(m, alone, parts != nil)
	}
	var list []dataset.Tensor
	at := map[string]int{}
	tensor := func(name string, shape []int) *dataset.Tensor {
		if _, ok := at[name]; !ok {
			size := 1
			for _, n := range shape {
				size *= n
			}
			at[name], list = len(list), append(list, dataset.Tensor{Name: name, Shape: shape, Values: make([]float32, size)})
		}
		return &list[at[name]]
	}
	for _, u := range units {
		if bare := u.bare(); bare != nil {
			u = bare
		}
		for _, name := range u.ordered() { // which have the order of what is stacked
			tensor(u.next+name, []int{1, u.heads})
		}
		for _, r := range u.rows {
			size := u.sizes[r.ours]
			x, err := value(u.full(r.ours))
			if err != nil {
				return err
			}
			of := r.piece(u, size[0], size[1])
			if of.turned {
				x = turn(x, size[0], size[1])
			}
			copy(tensor(u.next+r.theirs[0], of.shape).Values[of.at*len(x):], x)
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
