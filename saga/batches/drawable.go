package batches

import (
	"errors"
	"fmt"
	"slices"

	"sagann/dataflow"
	"sagann/dataflow/exec"
	"sagann/dataset"
	"sagann/device"
	"sagann/saga/rows"
	"sagann/sample"
)

// What a GPU must have to draw the batches that it trains on.

// madeThere lists the inputs that the GPU computes from the blocks it has drawn.
var madeThere = map[string]exec.Made{dataflow.IDInput: exec.IDs, dataflow.InDegree: exec.InDegrees, rows.InvDegree: exec.InvDegrees}

// drawsThere returns the device memory in bytes that drawing on the GPU takes, or an error that says why the host must
// draw.
func (r *Rooms) drawsThere(low *dataflow.Lowered) (int64, error) {
	d, w := r.d, low.Want.Of(0)
	switch {
	case d.Kinds != nil:
		return 0, errors.New("a GPU draws from one type of vertices and one relation")
	case d.Past != "":
		return 0, errors.New("a GPU draws edges of any time")
	case d.Without("draw"):
		return 0, errors.New("drawing on the GPU is left out")
	case d.Sampler.Output != sample.Layers || !d.kind.there():
		return 0, errors.New("a GPU draws only blocks of neighbours, each with equal probability, or of the vertices that walks visit most")
	case d.Task != dataset.VertexLabels:
		return 0, fmt.Errorf("a GPU draws for labels of vertices, not for the task %s", d.Task)
	case w.Data:
		return 0, errors.New("edges have vectors")
	case w.Weight && !Weighs(&d.Sampler) && d.In.Edges.Weight == nil:
		return 0, errors.New("weights of edges are computed with the batch")
	case w.Type && d.In.Edges.Type == nil:
		return 0, errors.New("edges have no types")
	}
	deepest := len(r.Most.Vertices)
	for in, id := range low.Inputs {
		v, name := &low.Spec.Values[id], in.Name
		table := d.stays(name) && (v.RowBytes%16 == 0 && int(v.Set) == deepest || v.RowBytes == 4)
		if name == dataflow.BlockOutDegree || d.learned(name) || madeThere[name] == exec.NotMade && !table && v.Set != 1 {
			return 0, fmt.Errorf("the host makes the rows of %s of a batch", name)
		}
	}
	n, err := d.program().GPUBytes(d.Batch, len(d.items))
	if err != nil {
		return 0, err
	}
	for _, is := range []bool{w.Weight && !Weighs(&d.Sampler), w.Rank, w.Type} {
		if is {
			n += 4*int64(d.In.Edges.E()) + device.Align
		}
	}
	return n + int64(len(d.numbersThere(low)))*(4*int64(d.In.Edges.V)+device.Align), nil
}

// numbersThere lists the inputs with one number per vertex that the GPU reads from a table of all vertices. Inputs of
// seeds are not among them: they come from the host.
func (j *Job) numbersThere(low *dataflow.Lowered) (names []string) {
	for in, id := range low.Inputs {
		v, name := &low.Spec.Values[id], in.Name
		if v.RowBytes == 4 && v.Set != 1 && j.stays(name) && madeThere[name] == exec.NotMade && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
