package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataset/npy"
)

// openNpz reads an archive. The names in it decide the form: arrays named as in an .npy folder or as in PyG, a
// sparse adjacency matrix as gnn-benchmark and SciPy write it, or pickled
// matrices. EachEdges and EachRows open the archive again each time, so no file
// stays open.
func openNpz(path string, opt Options) (*Stream, error) {
	z, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	list, form := z.Names(), ""
	from := named{arrays: reopened{z, path}, names: map[string]string{}}
	switch has := func(name string) bool { return slices.Contains(list, name) }; {
	case has("edges"):
		form, from.names = ".npz", otherwise(list, otherNames)
	case has("edge_index"):
		form, from.names = ".npz by PyG's names", otherwise(list, otherNames)
	case has("adj_indptr") || has("adj_data"):
		form = gnnBenchmark
		err = from.compressed(list)
	case has("adj_matrix") || has("adj"):
		form = ".npz of pickled matrices"
		err = from.pickled(z)
	case has("data") && has("shape") && (has("indptr") || has("row")):
		form = "SciPy's save_npz"
		err = from.saved(list)
	case hasRelations(list):
		err = fmt.Errorf("%s: %w", path, ErrSeveralTypes)
	default:
		err = fmt.Errorf("%s: no array edges, edge_index, adj_indptr, adj_matrix, or indptr (SciPy's save_npz); it has %.400q", path, list)
	}
	if err == nil {
		err = from.objects(z)
	}
	if closed := z.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	meta, err := from.vertices()
	if err != nil {
		return nil, err
	}
	s, err := openArrays(from, meta, opt.Mask)
	if err != nil {
		return nil, err
	}
	used := []string{"num_nodes", "adj_data", "adj_indices", "adj_indptr", "adj_shape", "adj_matrix", "adj",
		"attr_data", "attr_indices", "attr_indptr", "attr_shape", "attr_matrix", "node_attr",
		"data", "indices", "indptr", "shape", "format", "row", "col", "_is_array"}
	if texts := textsIn(from, "class_names"); texts != nil && len(texts) == s.Data.Classes {
		s.Data.Schema.Vertex.Classes = texts
		used = append(used, "class_names")
	}
	s.Data.warnUnread(list, path, "", from.names, used...)
	s.Data.Report.Form = form
	if several := from.names["train"] == "train_masks"; !opt.Undirected && (form == gnnBenchmark || form == ".npz" && several) {
		s.Data.Report.Warnings = append(s.Data.Report.Warnings, fmt.Sprintf("%s: edges are directed, as in the file; PyG adds the reverse of each when it reads such a file, --undirected does so here", path))
	}
	name := filepath.Base(path)
	s.Data.Name = strings.TrimSuffix(name, filepath.Ext(name))
	return s, nil
}

// gnnBenchmark is the form of an archive by the names of gnn-benchmark.
const gnnBenchmark = ".npz by gnn-benchmark's names"

// reopened is an archive that opens the file again for every array that is read.
type reopened struct {
	npyArchive
	path string
}

func (r reopened) Open(name string) (*npy.Reader, error) {
	if !slices.Contains(r.Names(), name) {
		return nil, fmt.Errorf("%s: array %s: %w", r.path, name, fs.ErrNotExist)
	}
	z, err := openArchive(r.path)
	if err != nil {
		return nil, err
	}
	a, err := z.Archive.Open(name)
	if err != nil {
		z.Close()
		return nil, err
	}
	return a.Before(z), nil
}

// few is the first elements of a list, for errors.
func few[T any](x []T) []T { return x[:min(5, len(x))] }

// vertices is the array num_nodes, a single number, as PyG keeps it.
func (n named) vertices() (meta npyMeta, err error) {
	a, err := optional(n, "num_nodes")
	if err != nil || a == nil {
		return meta, err
	}
	x, err := a.Int64s()
	if err == nil && (len(x) != 1 || x[0] < 0 || x[0] > math.MaxUint32) {
		err = fmt.Errorf("%s: %v vertices: want one number, from 0 to 4294967295", a.Where(0), few(x))
	}
	if err != nil {
		return meta, err
	}
	return npyMeta{Vertices: int(x[0])}, nil
}

func (n *named) make(name string, a *npy.Array) {
	if n.made == nil {
		n.made = map[string]*npy.Array{}
	}
	n.made[name] = a
}

// textsIn is the texts of an array; nil if there is no array of that name, or it holds something else,
// such as Python objects.
func textsIn(from arrays, name string) []string {
	if !slices.Contains(from.Names(), name) {
		return nil
	}
	a, err := readArray(from, name)
	if err != nil {
		return nil
	}
	texts, _ := a.Strings()
	return texts
}

// compressed reads the adjacency matrix from adj_data, adj_indices, adj_indptr and adj_shape, and maps the
// names of the arrays of features.
func (n *named) compressed(list []string) error {
	if err := n.matrix("adj_", "csr"); err != nil {
		return err
	}
	if textsIn(n.arrays, "node_names") != nil {
		n.names["ids"] = "node_names"
	}
	switch {
	case slices.Contains(list, "attr_matrix"):
		n.names["features"] = "attr_matrix"
	case slices.Contains(list, "attr_indptr"):
		for _, name := range []string{"data", "indices", "indptr", "shape"} {
			n.names["features_csr_"+name] = "attr_" + name
		}
	}
	return nil
}

// saved reads the adjacency matrix that scipy.sparse.save_npz wrote.
func (n *named) saved(list []string) error { return n.matrix("", n.savedKind(list)) }

// savedMatrix reads a file of scipy.sparse.save_npz.
func savedMatrix(path string) (*csr, error) {
	z, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	n := named{arrays: z}
	m, _, err := n.readMatrix("", n.savedKind(z.Names()))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: no sparse matrix of SciPy's save_npz: it has the arrays %.200q", path, z.Names())
	}
	return m, err
}

// savedKind is the form of the matrix that save_npz wrote.
func (n *named) savedKind(list []string) string {
	kind := "csr"
	if texts := textsIn(n.arrays, "format"); len(texts) == 1 {
		kind = texts[0]
	} else if slices.Contains(list, "row") {
		kind = "coo"
	}
	return kind
}

// matrix reads the adjacency matrix of that kind, whose arrays have names with that prefix.
func (n *named) matrix(prefix, kind string) error {
	m, a, err := n.readMatrix(prefix, kind)
	if err != nil {
		return err
	}
	return n.adjacency(m, a)
}

// readMatrix reads a sparse matrix. Errors about it name a.
func (n *named) readMatrix(prefix, kind string) (m *csr, a *npy.Array, err error) {
	names := []string{"data", "shape", "indptr", "indices"}
	if kind == "coo" {
		names = []string{"data", "shape", "row", "col"}
	}
	var part [4]*npy.Array
	for i, name := range names {
		if part[i], err = readArray(n.arrays, prefix+name); err != nil {
			return nil, nil, err
		}
	}
	shape, err := part[1].Int32s()
	if err == nil && len(shape) != 2 {
		err = fmt.Errorf("%s: shape %v", part[1].Where(0), few(shape))
	}
	if err != nil {
		return nil, nil, err
	}
	m = &csr{rows: int(shape[0]), cols: int(shape[1])}
	if m.data, err = finite(part[0], 1); err != nil {
		return nil, nil, err
	}
	x, err := part[2].Int64s()
	if err != nil {
		return nil, nil, err
	}
	y, err := part[3].Int64s()
	if err != nil {
		return nil, nil, err
	}
	if m, err = m.from(kind, x, y); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", part[2].Where(0), err)
	}
	return m, part[2], nil
}

// adjacency makes edges from the entries of m, row by row, and weights unless all entries are 1. Errors
// name a.
func (n *named) adjacency(m *csr, a *npy.Array) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("%s: %w", a.Where(0), err)
	}
	if m.rows != m.cols || m.rows == 0 {
		return fmt.Errorf("%s: the adjacency matrix is %d×%d: not square", a.Where(0), m.rows, m.cols)
	}
	n.make("num_nodes", a.Derived([]int{1}, []int64{int64(m.rows)}))
	n.links(m, a)
	return nil
}

// links makes edges from the entries of m, which has a row for each source and a column for each target, and weights unless
// all entries are 1.
func (n *named) links(m *csr, a *npy.Array) {
	count := len(m.data)
	ends := make([]uint32, 2*count)
	for r := range m.rows {
		for i := m.indptr[r]; i < m.indptr[r+1]; i++ {
			ends[i], ends[count+int(i)] = uint32(r), uint32(m.indices[i])
		}
	}
	n.make("edges", a.Derived([]int{2, count}, ends))
	if slices.ContainsFunc(m.data, func(w float32) bool { return w != 1 }) {
		n.make("edge_weight", a.Derived([]int{count}, m.data))
	}
}
