package dataset

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
)

// joined makes one graph of a list of PyG's Data. The vertices of a graph follow those of the graph before. Every
// graph must have the same arrays; those that nothing reads are left out.
func (f *torchFile) joined(list []any) (*torchArrays, error) {
	out := &torchArrays{file: f, view: map[string]*tensor{}, held: map[string]*npy.Array{}}
	parts := map[string][]*npy.Array{}
	var of []uint32
	for g, x := range list {
		graph, slices, err := graphOf(x)
		if err == nil && slices != nil {
			err = fmt.Errorf("several graphs in one item of a list")
		}
		if err == nil && toPredict(graph) {
			err = fmt.Errorf("it has pairs to predict: RandomLinkSplit gives three Data, for training, validation and testing, and torch.save((train, val, test), \"split.pt\") keeps them together; here are %d", len(list))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: graph %d of %d: %w", f.pkl, g, len(list), err)
		}
		one, err := f.tensors(graph)
		if err != nil {
			return nil, err
		}
		if err := out.join(one, parts, &of, g); err != nil {
			return nil, fmt.Errorf("%s: graph %d of %d: %w", f.pkl, g, len(list), err)
		}
	}
	for _, name := range out.names {
		if len(parts[name]) == 0 { // known by name only
			continue
		}
		a, err := concatenated(parts[name], name == "edge_index")
		if err != nil {
			return nil, fmt.Errorf("%s: %s of %d graphs: %w", f.pkl, name, len(list), err)
		}
		out.held[name] = a
	}
	out.add("batch", npy.New(f.pkl+": batch", []int{len(of)}, of))
	out.add("num_nodes", npy.New(f.pkl+": num_nodes", []int{1}, []int64{int64(len(of))}))
	return out, nil
}

// join adds graph g to the parts. of is the graph of each vertex.
func (a *torchArrays) join(one *torchArrays, parts map[string][]*npy.Array, of *[]uint32, g int) error {
	if g > 0 && !slices.Equal(slices.Sorted(slices.Values(one.names)), slices.Sorted(slices.Values(a.names))) {
		return fmt.Errorf("it has %.200q, the graphs before have %.200q", one.names, a.names)
	}
	if g == 0 {
		a.names, a.skipped = slices.Clone(one.names), one.skipped
	}
	vertices := -1
	for _, name := range one.names {
		if ours := ourName(name); ours == "" && name != "num_nodes" || name == "batch" || strings.HasPrefix(ours, "link_") {
			continue
		}
		x, err := one.read(name)
		if err != nil {
			return err
		}
		if a.joined += int64(x.Len()); a.joined > maxJoined*(a.file.size+1<<16) {
			return fmt.Errorf("%s: the graphs up to here have %d numbers, in a file of %d bytes", name, a.joined, a.file.size)
		}
		if len(x.Shape) == 0 {
			x = x.Derived([]int{1}, x.Data)
		}
		switch ours := ourName(name); {
		case ours == "features":
			vertices = x.Shape[0]
		case name == "num_nodes" && vertices < 0:
			n, err := x.Int64s()
			if err != nil || len(n) != 1 || n[0] < 0 || n[0] > 1<<31 {
				return fmt.Errorf("%s: num_nodes is no number of vertices", x.Where(0))
			}
			vertices = int(n[0])
		}
		if name != "num_nodes" {
			parts[name] = append(parts[name], x)
		}
	}
	if vertices < 0 {
		return fmt.Errorf("its vertices are not given: it has no x and no num_nodes")
	}
	if ends := parts["edge_index"]; len(ends) > 0 {
		moved, err := shifted(ends[len(ends)-1], len(*of), vertices)
		if err != nil {
			return err
		}
		ends[len(ends)-1] = moved
	}
	for range vertices {
		*of = append(*of, uint32(g))
	}
	return nil
}

// maxJoined bounds how many numbers graphs of a list may have for each byte of the file, as graphs can share one
// tensor.
const maxJoined = 64

// read reads an array as a whole, from the file as it is open.
func (a *torchArrays) read(name string) (*npy.Array, error) {
	t := a.view[name]
	if t == nil {
		return readArray(a, name)
	}
	r, err := t.openIn(a.file, io.NopCloser(nil))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.All()
}

// add adds an array, in place of one of that name.
func (a *torchArrays) add(name string, x *npy.Array) {
	if !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
	a.held[name] = x
}

// shifted is the ends [2,E] of a graph of so many vertices, which follow first others.
func shifted(a *npy.Array, first, vertices int) (*npy.Array, error) {
	if len(a.Shape) != 2 || a.Shape[0] != 2 {
		return nil, fmt.Errorf("%s: shape %v of the edges: want [2 E]", a.Where(0), a.Shape)
	}
	x, err := a.Int64s()
	if err != nil {
		return nil, err
	}
	x = slices.Clone(x)
	for i, v := range x {
		if v < 0 || v >= int64(vertices) {
			return nil, fmt.Errorf("%s: vertex %d of a graph that has %d", a.Where(i), v, vertices)
		}
		x[i] += int64(first)
	}
	return a.With(x), nil
}

// concatenated is the arrays below each other or, if they are ends [2,E], beside each other.
func concatenated(list []*npy.Array, ends bool) (*npy.Array, error) {
	rest := list[0].Shape[1:]
	var rows int
	for _, a := range list {
		if len(a.Shape) != len(rest)+1 || !ends && !slices.Equal(a.Shape[1:], rest) {
			return nil, fmt.Errorf("shapes %v and %v do not go together", list[0].Shape, a.Shape)
		}
		rows += a.Shape[0]
	}
	if ends {
		var src, dst []int64
		for _, a := range list {
			x := a.Data.([]int64) // as shifted made it
			src, dst = append(src, x[:a.Shape[1]]...), append(dst, x[a.Shape[1]:]...)
		}
		return list[0].Derived([]int{2, len(src)}, append(src, dst...)), nil
	}
	shape := append([]int{rows}, rest...)
	switch list[0].Data.(type) {
	case []int64, []int32, []uint8, []bool:
		var out []int64
		for _, a := range list {
			x, err := a.Int64s()
			if err != nil {
				return nil, err
			}
			out = append(out, x...)
		}
		return list[0].Derived(shape, out), nil
	}
	var out []float32
	for _, a := range list {
		x, err := a.Float32s()
		if err != nil {
			return nil, err
		}
		out = append(out, x...)
	}
	return list[0].Derived(shape, out), nil
}

// listOf is a list of several graphs, nil if x is something else.
func listOf(x any) []any {
	list, ok := pickle.AsList(x)
	if _, tuple := x.(pickle.Tuple); !ok || tuple || len(list) < 2 {
		return nil
	}
	return list
}

// partFiles are the files in which PyG keeps the three splits of a data set such as ZINC or PPI; nil if they are not all there.
func partFiles(entries []os.DirEntry) (files []string) {
	for _, names := range [][]string{{"train.pt"}, {"val.pt", "valid.pt"}, {"test.pt"}} {
		for _, e := range entries {
			if slices.Contains(names, e.Name()) {
				files = append(files, e.Name())
				break
			}
		}
	}
	if len(files) < 3 {
		return nil
	}
	return files
}

// loadParts reads the files of the training, validation and test split and joins their graphs: those of a file follow those of the
// file before. Members of the splits are graphs if graphs have labels, else vertices.
func loadParts(dir string, files []string, opt Options) (all *Data, err error) {
	if s, err := openLinkParts(dir, files, opt); err != nil || s != nil {
		if err != nil {
			return nil, err
		}
		if all, err = s.collect(opt); err == nil {
			all.Name, all.Report.Form = filepath.Base(filepath.Clean(dir)), "PyG's .pt of three splits"
		}
		return all, err
	}
	for i, name := range files {
		s, err := openPT(filepath.Join(dir, name), opt)
		if err != nil {
			return nil, err
		}
		d, err := s.collect(opt)
		if err != nil {
			return nil, err
		}
		if d.GraphOf == nil {
			d.GraphOf = make([]uint32, d.Edges.V)
		}
		if d.HasIDs() {
			return nil, fmt.Errorf("%s: %s has ids of vertices, and the files of three splits do not", dir, name)
		}
		for _, k := range []LabelKind{VertexLabels, EdgeLabels, GraphLabels} {
			for _, ids := range d.parts(k) {
				*ids = nil
			}
		}
		if all == nil {
			all = d
		} else if err := all.join(d); err != nil {
			return nil, fmt.Errorf("%s: %s: %w, unlike the files before", dir, name, err)
		}
		k, last, first := VertexLabels, all.Edges.V, all.Edges.V-d.Edges.V
		if d.Labelled(GraphLabels) {
			k, last, first = GraphLabels, all.GraphRows(), all.GraphRows()-d.GraphRows()
		}
		ids := make([]uint32, 0, last-first)
		for v := first; v < last; v++ {
			ids = append(ids, uint32(v))
		}
		*all.parts(k)[i] = ids
	}
	all.Name, all.Report.Form = filepath.Base(filepath.Clean(dir)), "PyG's .pt of three splits"
	return all, nil
}

// join appends the graphs of x. Features stay sparse where those of both are.
func (d *Data) join(x *Data) error {
	e, y := d.Edges, x.Edges
	for _, k := range []LabelKind{VertexLabels, EdgeLabels, GraphLabels} { // numbers may happen to be whole in one file
		for _, ends := range [][2]*Data{{d, x}, {x, d}} {
			if ends[0].Targets.Of(k).Rows != nil && ends[1].classesOf(k) != nil {
				if err := ends[1].LabelsAsTargets(k); err != nil {
					return err
				}
			}
		}
		a, b := d.Targets.Of(k), x.Targets.Of(k)
		s, t := d.Sets(k), x.Sets(k)
		if a.Cols != b.Cols || s.Cols != t.Cols || (d.classesOf(k) == nil) != (x.classesOf(k) == nil) {
			return fmt.Errorf("the labels of %s are of another kind, or as many are not for each", k.Plural())
		}
	}
	if d.FeatureCols != x.FeatureCols || e.DataCols != y.DataCols || (e.Weight == nil) != (y.Weight == nil) || (e.Type == nil) != (y.Type == nil) {
		return fmt.Errorf("%d features, %d numbers of edges, weights %t, types %t", x.FeatureCols, y.DataCols, y.Weight != nil, y.Type != nil)
	}
	if d.Late.Sparse == nil || x.Late.Sparse == nil {
		d.HoldFeatures()
		x.HoldFeatures()
	}
	graphs := uint32(max(d.GraphRows(), int(slices.Max(append([]uint32{0}, d.GraphOf...)))+1))
	for i, u := range y.Src {
		e.Src, e.Dst = append(e.Src, u+uint32(e.V)), append(e.Dst, y.Dst[i]+uint32(e.V))
	}
	for _, g := range x.GraphOf {
		d.GraphOf = append(d.GraphOf, g+graphs)
	}
	e.V += y.V
	e.Weight, e.Type, e.Types, e.Data = append(e.Weight, y.Weight...), append(e.Type, y.Type...), max(e.Types, y.Types), append(e.Data, y.Data...)
	if rows := d.Late.Sparse; rows == nil {
		d.Features = append(d.Features, x.Features...)
	} else if err := d.SetSparse(rows.then(x.Late.Sparse), d.FeatureCols); err != nil {
		return err
	}
	d.Labels, d.MultiLabels = append(d.Labels, x.Labels...), append(d.MultiLabels, x.MultiLabels...)
	d.EdgeLabels, d.GraphLabels, d.Classes = append(d.EdgeLabels, x.EdgeLabels...), append(d.GraphLabels, x.GraphLabels...), max(d.Classes, x.Classes)
	t, s := &d.Targets, &x.Targets
	t.Vertex, t.Cols = append(t.Vertex, s.Vertex...), max(t.Cols, s.Cols)
	for _, p := range [][2]*Numbers{{&t.Edge, &s.Edge}, {&t.Graph, &s.Graph}, {&t.EdgeSets, &s.EdgeSets}, {&t.GraphSets, &s.GraphSets}} {
		p[0].Rows = append(p[0].Rows, p[1].Rows...)
	}
	d.Report.Changes, d.Report.Warnings = append(d.Report.Changes, x.Report.Changes...), append(d.Report.Warnings, x.Report.Warnings...)
	return nil
}
