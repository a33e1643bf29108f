package dataset

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/internal/regular"
)

// numbers converts the values of an element from any stored type to float64.
func (e matElement) numbers() ([]float64, error) {
	size := matTypeSize[e.kind]
	if size == 0 || len(e.data)%size != 0 {
		return nil, fmt.Errorf("byte %d: %d bytes of type %d do not make whole numbers", e.at, len(e.data), e.kind)
	}
	out := make([]float64, len(e.data)/size)
	le := binary.LittleEndian
	for i := range out {
		b := e.data[i*size:]
		switch e.kind {
		case miInt8:
			out[i] = float64(int8(b[0]))
		case miUint8:
			out[i] = float64(b[0])
		case miInt16:
			out[i] = float64(int16(le.Uint16(b)))
		case miUint16:
			out[i] = float64(le.Uint16(b))
		case miInt32:
			out[i] = float64(int32(le.Uint32(b)))
		case miUint32:
			out[i] = float64(le.Uint32(b))
		case miSingle:
			out[i] = float64(math.Float32frombits(le.Uint32(b)))
		case miDouble:
			out[i] = math.Float64frombits(le.Uint64(b))
		case miInt64:
			out[i] = float64(int64(le.Uint64(b)))
		case miUint64:
			out[i] = float64(le.Uint64(b))
		}
	}
	return out, nil
}

// floats reads an element of numbers.
func (r *matReader) floats() ([]float64, error) {
	e, err := r.next(true)
	if err != nil {
		return nil, err
	}
	return e.numbers()
}

// ints reads an element of whole numbers.
func (r *matReader) ints() ([]int64, error) {
	x, err := r.floats()
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(x))
	for i, f := range x {
		if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return nil, r.errorf("%v where a whole number should be", f)
		}
		out[i] = int64(f)
	}
	return out, nil
}

// each calls fn for every entry that is not 0, by columns.
func (m *matMatrix) each(fn func(row, col int, x float64) error) error {
	for c := range m.cols {
		lo, hi := c*m.rows, (c+1)*m.rows
		if m.start != nil {
			lo, hi = int(m.start[c]), int(m.start[c+1])
		}
		for i := lo; i < hi; i++ {
			row := i - lo
			if m.row != nil {
				row = int(m.row[i])
			}
			if m.values[i] == 0 {
				continue
			}
			if err := fn(row, c, m.values[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// matNames are the variables that are read, in small letters: the adjacency matrix, features and labels. The first
// that the file has is taken.
var matNames = [3][]string{
	{"network", "net", "adjacency", "adj", "a", "w"},
	{"attrb", "attributes", "attribute", "attr", "features", "feature", "fea", "x"},
	{"group", "labels", "label", "gnd", "y", "class"},
}

// loadMat reads the MATLAB file of a network, in the form of the ASU collection (BlogCatalog, Flickr, PPI) and
// its like: a square matrix "network", whose entry (i, j) is an edge from i to j, perhaps a matrix of features
// with a row for each vertex, "attrb", and perhaps labels, "group": a V×C matrix of 0 and 1, which becomes
// multi-labels, or a vector of classes or numbers. Weights that are all 1 are dropped. See matNames for other names.
func loadMat(path string) (*Data, error) {
	file, err := regular.ReadFile(path, math.MaxInt64-1)
	if err != nil {
		return nil, err
	}
	d, err := matData(file, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func matData(file []byte, path string) (*Data, error) {
	vars, all, err := readMat(file, slices.Concat(matNames[:]...))
	if err != nil {
		return nil, err
	}
	var found [3]*matMatrix
	for i, names := range matNames {
		for _, name := range names {
			at := slices.IndexFunc(all, func(n string) bool { return strings.ToLower(n) == name })
			if found[i] == nil && at >= 0 {
				found[i] = vars[all[at]]
			}
		}
	}
	network := found[0]
	if network == nil {
		return nil, fmt.Errorf("no adjacency matrix: a variable named %s; the file has %.400s", listed(matNames[0]), listed(all))
	}
	if network.rows != network.cols || network.rows == 0 {
		return nil, fmt.Errorf("%s: %d×%d is not a square matrix", network.name, network.rows, network.cols)
	}
	d := &Data{}
	if d.Edges, err = network.edges(); err != nil {
		return nil, err
	}
	if x := found[1]; x != nil && x.rows != network.rows {
		found[1] = nil // it says something else
	}
	if x := found[1]; x != nil {
		if err := d.matFeatures(x); err != nil {
			return nil, fmt.Errorf("%s: %w", x.name, err)
		}
	}
	if y := found[2]; y != nil {
		if err := d.matLabels(y, int64(len(file))); err != nil {
			return nil, fmt.Errorf("%s: %w", y.name, err)
		}
	}
	d.leaveOut(path, slices.DeleteFunc(all, func(name string) bool {
		return slices.ContainsFunc(found[:], func(m *matMatrix) bool { return m != nil && m.name == name })
	}))
	return d, nil
}

// edges is the entries of an adjacency matrix, by columns.
func (m *matMatrix) edges() (*chunk.Edges, error) {
	e := &chunk.Edges{V: m.rows}
	var weight []float32
	ones := true
	err := m.each(func(i, j int, x float64) error {
		w, err := toFloat32(x)
		if err != nil || math.IsNaN(x) {
			return fmt.Errorf("%s: entry (%d, %d) is %v", m.name, i+1, j+1, x)
		}
		e.Src, e.Dst = append(e.Src, uint32(i)), append(e.Dst, uint32(j))
		weight = append(weight, w)
		ones = ones && w == 1
		return nil
	})
	if err == nil {
		err = checkVertexCount(uint64(m.rows), e.E())
	}
	if !ones {
		e.Weight = weight
	}
	return e, err
}

// matFeatures takes m as the features; they stay sparse if m is sparse.
func (d *Data) matFeatures(m *matMatrix) error {
	if m.cols == 0 {
		return fmt.Errorf("%d×%d features", m.rows, m.cols)
	}
	values := make([]float32, len(m.values))
	for i, y := range m.values {
		var err error
		if values[i], err = toFloat32(y); err != nil || math.IsNaN(y) {
			return fmt.Errorf("a feature is %v", y)
		}
	}
	if m.start != nil {
		x, err := (&csr{rows: m.rows, cols: m.cols, data: values}).from("csc", m.start, m.row)
		if err != nil {
			return err
		}
		return d.SetSparse(x.sparse(), m.cols)
	}
	d.Features, d.FeatureCols = make([]float32, len(values)), m.cols
	for c := range m.cols {
		for v := range m.rows {
			d.Features[v*m.cols+c] = values[c*m.rows+v]
		}
	}
	return nil
}

// matLabels takes m, from a file of so many bytes, as the labels: a vector of classes or numbers, or a matrix of 0
// and 1.
func (d *Data) matLabels(m *matMatrix, size int64) error {
	v, cols := d.Edges.V, m.cols
	if m.rows == 1 && m.cols == v { // a row
		cols = 1
	} else if m.rows != v || m.cols == 0 {
		return fmt.Errorf("%d×%d labels for %d vertices", m.rows, m.cols, v)
	}
	if err := checkDense(v, cols, size); err != nil {
		return err
	}
	x := make([]float32, v*cols)
	whole := true
	err := m.each(func(r, c int, y float64) error {
		if cols > 1 && y != y {
			y = Unknown
		} else if cols > 1 && y != 1 {
			return fmt.Errorf("entry (%d, %d) is %v: must be 0, 1, or NaN where it is not known", r+1, c+1, y)
		}
		if math.IsInf(y, 0) {
			return fmt.Errorf("label %v of vertex %d", y, r+1)
		}
		x[r*m.cols+c] = float32(y)
		whole = whole && (math.IsNaN(y) || y == math.Trunc(y) && math.Abs(y) < maxClasses)
		return nil
	})
	switch {
	case err != nil:
		return err
	case cols > 1:
		d.Classes, d.MultiLabels = cols, x
		d.sayUnknown(VertexLabels)
		return nil
	case !whole:
		d.Targets.Vertex, d.Targets.Cols = x, 1
		d.Report.Changes = append(d.Report.Changes, m.name+" has numbers that are not whole: they are numbers to predict")
		return nil
	}
	var values []int64 // of labelled vertices
	for _, y := range x {
		if y == y {
			values = append(values, int64(y))
		}
	}
	classes, names, n := classesOf(values)
	d.Labels, d.Classes, d.Schema.Vertex.Classes = make([]int32, v), n, names
	at := 0
	for i, y := range x {
		if d.Labels[i] = -1; y == y {
			d.Labels[i] = classes[at]
			at++
		}
	}
	if names != nil {
		d.Report.Changes = append(d.Report.Changes, fmt.Sprintf("the values of %s, %.200s, are classes 0 to %d", m.name, listed(names), n-1))
	}
	if n == 0 { // nothing is labelled
		d.Labels, d.Schema.Vertex.Classes = nil, nil
	}
	return nil
}
