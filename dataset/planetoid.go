package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sagann/chunk"
	"sagann/dataset/npy"
	"sagann/dataset/pickle"
)

// PlanetoidForm is Report.Form of data from a Planetoid folder. Their features are word
// counts.
const PlanetoidForm = "Planetoid folder"

// planetoidVal is the number of validation vertices of the public split.
const planetoidVal = 500

// planetoidParts are the files of a set, all of them needed.
var planetoidParts = []string{"y", "tx", "ty", "allx", "ally", "graph", "test.index"}

// loadPlanetoid reads dir/ind.<name>.* (Yang et al., 2016) with the public split:
// the first len(y) vertices for training, the next 500 for validation, those of
// test.index for testing. The rows of tx and ty are in the order of test.index.
// A vertex above those of allx that is not in test.index (Citeseer has 15) gets a
// zero feature row and no label. The graph is made symmetric and simple.
func loadPlanetoid(dir, name string) (*Data, error) {
	file := func(part string) string { return filepath.Join(dir, "ind."+name+"."+part) }
	var missing []string
	for _, part := range planetoidParts {
		_, err := os.Stat(file(part))
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, "ind."+name+"."+part)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("%s: the Planetoid set %q is incomplete: %s missing", dir, name, strings.Join(missing, ", "))
	}

	p := &planetoid{}
	var err error
	if p.train, err = readOneHot(file("y")); err != nil {
		return nil, err
	}
	if p.all, err = readOneHot(file("ally")); err != nil {
		return nil, err
	}
	if p.test, err = readOneHot(file("ty")); err != nil {
		return nil, err
	}
	if p.allX, err = readCSR(file("allx")); err != nil {
		return nil, err
	}
	if p.testX, err = readCSR(file("tx")); err != nil {
		return nil, err
	}
	if p.index, _, err = tuInts(file("test.index")); err != nil {
		return nil, err
	}
	if p.edges, err = readGraph(file("graph")); err != nil {
		return nil, err
	}
	d, err := p.assemble()
	if err != nil {
		return nil, fmt.Errorf("%s: ind.%s.*: %w", dir, name, err)
	}
	d.Name, d.Report.Form = name, PlanetoidForm
	return d, nil
}

// planetoid is the contents of a set's files.
type planetoid struct {
	train, all, test *oneHotLabels
	allX, testX      *csr
	index            []int64
	edges            *chunk.Edges // V is 1 + the largest id
}

func (p *planetoid) assemble() (*Data, error) {
	n, f, classes := p.allX.rows, p.allX.cols, p.all.classes
	switch {
	case len(p.all.class) != n:
		return nil, fmt.Errorf("allx has %d rows, ally %d", n, len(p.all.class))
	case p.testX.rows != len(p.test.class) || p.testX.rows != len(p.index):
		return nil, fmt.Errorf("tx has %d rows, ty %d, test.index %d", p.testX.rows, len(p.test.class), len(p.index))
	case p.testX.cols != f:
		return nil, fmt.Errorf("allx is %d wide, tx %d", f, p.testX.cols)
	case p.test.classes != classes || p.train.classes != classes:
		return nil, fmt.Errorf("ally has %d classes, ty %d, y %d", classes, p.test.classes, p.train.classes)
	case len(p.train.class)+planetoidVal > n:
		return nil, fmt.Errorf("%d vertices outside the test set, too few for %d of training and %d of validation", n, len(p.train.class), planetoidVal)
	case f == 0:
		return nil, errors.New("empty features")
	}
	v := max(n, p.edges.V)
	for i, id := range p.index {
		if id < int64(n) || id >= math.MaxUint32 {
			return nil, fmt.Errorf("test.index:%d: vertex %d: must be at least %d, the rows of allx", i+1, id, n)
		}
		v = max(v, int(id)+1)
	}
	if err := checkVertexCount(uint64(v), p.edges.E()); err != nil {
		return nil, err
	}
	d := &Data{Classes: classes, Labels: make([]int32, v)}
	const unseen = -2
	test := map[int64]int{} // by vertex: its row of tx
	for i := range d.Labels {
		d.Labels[i] = unseen
	}
	for r := range n {
		d.Labels[r] = p.all.class[r]
	}
	for i, id := range p.index {
		if d.Labels[id] != unseen {
			return nil, fmt.Errorf("test.index:%d: vertex %d stands twice", i+1, id)
		}
		test[id] = i
		d.Labels[id] = p.test.class[i]
		d.Test = append(d.Test, uint32(id))
	}
	for i, c := range d.Labels {
		d.Labels[i] = max(c, -1)
	}
	slices.Sort(d.Test)
	for i := range len(p.train.class) + planetoidVal {
		if i < len(p.train.class) {
			d.Train = append(d.Train, uint32(i))
		} else {
			d.Val = append(d.Val, uint32(i))
		}
	}
	p.edges.V = v
	d.Edges = Simplify(p.edges.Symmetric())
	all, tx := p.allX.sparse(), p.testX.sparse()
	s := &SparseRows{Ptr: []int64{0}, Cols: all.Cols, Vals: all.Vals}
	for id := range v {
		if id < n {
			s.Ptr = append(s.Ptr, all.Ptr[id+1])
			continue
		}
		if i, ok := test[int64(id)]; ok {
			cols, x := tx.Row(i)
			s.Cols, s.Vals = append(s.Cols, cols...), append(s.Vals, x...)
		}
		s.Ptr = append(s.Ptr, int64(len(s.Cols)))
	}
	return d, d.SetSparse(s, f)
}

// readGraph reads a dictionary of vertex to list of neighbours.
func readGraph(path string) (*chunk.Edges, error) {
	x, err := readPickle(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// A pickle can refer to one list many times, so edges are bounded: a written edge takes two bytes.
	e, err := graphEdges(x, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

func graphEdges(x any, limit int64) (*chunk.Edges, error) {
	dict, ok := pickle.AsDict(x)
	if !ok {
		return nil, fmt.Errorf("a %s where a dictionary of lists should be", pickle.Kind(x))
	}
	e := &chunk.Edges{}
	vertex := func(x any) (uint32, error) {
		id, ok := x.(int)
		if !ok || id < 0 || id >= math.MaxUint32 {
			return 0, fmt.Errorf("a %s where a vertex should be", pickle.Kind(x))
		}
		e.V = max(e.V, id+1)
		return uint32(id), nil
	}
	for _, entry := range dict.Pairs {
		src, err := vertex(entry.Key)
		if err != nil {
			return nil, err
		}
		list, ok := pickle.AsList(entry.Value)
		if !ok {
			return nil, fmt.Errorf("vertex %d: a %s where a list should be", src, pickle.Kind(entry.Value))
		}
		if int64(e.E()+len(list)) > limit {
			return nil, fmt.Errorf("more edges than the file has bytes")
		}
		for _, x := range list {
			dst, err := vertex(x)
			if err != nil {
				return nil, fmt.Errorf("vertex %d: %w", src, err)
			}
			e.Src, e.Dst = append(e.Src, src), append(e.Dst, dst)
		}
	}
	return e, nil
}

// oneHotLabels is a matrix of one-hot rows.
type oneHotLabels struct {
	class   []int32 // -1 for a row of zeros
	classes int
}

func readOneHot(path string) (*oneHotLabels, error) {
	x, err := readPickle(path)
	if err != nil {
		return nil, err
	}
	a, err := decodeArray(x, path)
	if err != nil {
		return nil, err
	}
	return oneHotClasses(a, path)
}

func oneHotClasses(a *npy.Array, path string) (*oneHotLabels, error) {
	if len(a.Shape) != 2 || a.Shape[1] == 0 {
		return nil, fmt.Errorf("%s: shape %v of the labels: want rows of classes", path, a.Shape)
	}
	x, err := a.Float32s()
	if err != nil {
		return nil, err
	}
	l := &oneHotLabels{class: make([]int32, a.Shape[0]), classes: a.Shape[1]}
	for r := range l.class {
		l.class[r] = -1
		for c, y := range x[r*l.classes : (r+1)*l.classes] {
			switch {
			case y == 0:
			case y == 1 && l.class[r] < 0:
				l.class[r] = int32(c)
			default:
				return nil, fmt.Errorf("%s: row %d is not one-hot", path, r)
			}
		}
	}
	return l, nil
}
