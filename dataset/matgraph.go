package dataset

import (
	"encoding/binary"
	"fmt"
	"math"

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

// loadMat reads the MATLAB file of a social network, in the form of the ASU collection
// (BlogCatalog, Flickr, PPI): a square matrix "network", whose entry
// (i, j) is an edge from i to j, and perhaps a V×C matrix "group" of 0 and 1,
// which becomes multi-labels. Weights that are all 1 are dropped.
func loadMat(path string) (*Data, error) {
	file, err := regular.ReadFile(path, math.MaxInt64-1)
	if err != nil {
		return nil, err
	}
	d, err := matData(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func matData(file []byte) (*Data, error) {
	vars, err := readMat(file, "network", "group")
	if err != nil {
		return nil, err
	}
	network, group := vars["network"], vars["group"]
	if network == nil {
		return nil, fmt.Errorf("no variable \"network\"")
	}
	if network.rows != network.cols || network.rows == 0 {
		return nil, fmt.Errorf("network: %d×%d is not a square matrix", network.rows, network.cols)
	}
	d := &Data{Edges: &chunk.Edges{V: network.rows}}
	var weight []float32
	ones := true
	err = network.each(func(i, j int, x float64) error {
		w, err := toFloat32(x)
		if err != nil || math.IsNaN(x) {
			return fmt.Errorf("network: entry (%d, %d) is %v", i+1, j+1, x)
		}
		d.Edges.Src, d.Edges.Dst = append(d.Edges.Src, uint32(i)), append(d.Edges.Dst, uint32(j))
		weight = append(weight, w)
		ones = ones && w == 1
		return nil
	})
	if err == nil {
		err = checkVertexCount(uint64(network.rows), d.Edges.E())
	}
	if err != nil {
		return nil, err
	}
	if !ones {
		d.Edges.Weight = weight
	}
	if group == nil {
		return d, nil
	}
	if group.rows != network.rows || group.cols == 0 {
		return nil, fmt.Errorf("group: %d×%d labels for %d vertices", group.rows, group.cols, network.rows)
	}
	if err := checkDense(group.rows, group.cols, int64(len(file))); err != nil {
		return nil, fmt.Errorf("group: %w", err)
	}
	d.Classes = group.cols
	d.MultiLabels = make([]float32, group.rows*group.cols)
	return d, group.each(func(v, c int, x float64) error {
		if x != 1 {
			return fmt.Errorf("group: entry (%d, %d) is %v: must be 0 or 1", v+1, c+1, x)
		}
		d.MultiLabels[v*d.Classes+c] = 1
		return nil
	})
}
