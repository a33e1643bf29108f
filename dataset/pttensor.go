package dataset

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"sagann/dataset/npy"
	"sagann/dataset/pickle"
)

// tensor is a view of a storage, which is a member of the archive.
type tensor struct {
	name    string
	key     string // the member data/key
	descr   string // type of the elements in NumPy's notation, or bf2 for bfloat16
	bytes   int64  // bytes of an element
	storage int64  // elements in the storage
	first   int64  // the first element of the view in the storage
	shape   []int
	stride  []int
}

// storageTypes are the elements of torch's storages.
var storageTypes = map[string]struct {
	descr string
	bytes int64
}{
	"HalfStorage": {"f2", 2}, "BFloat16Storage": {"bf2", 2}, "FloatStorage": {"f4", 4}, "DoubleStorage": {"f8", 8},
	"CharStorage": {"i1", 1}, "ShortStorage": {"i2", 2}, "IntStorage": {"i4", 4}, "LongStorage": {"i8", 8},
	"ByteStorage": {"u1", 1}, "BoolStorage": {"b1", 1},
}

// tensorOf reads the record of a tensor; ok is false when x is something else.
func (f *torchFile) tensorOf(x any, name string) (t *tensor, ok bool, err error) {
	r, isRecord := x.(*pickle.Record)
	if !isRecord {
		return nil, false, nil
	}
	fail := func(format string, args ...any) (*tensor, bool, error) {
		return nil, true, fmt.Errorf("%s: tensor %s: %w", f.pkl, name, fmt.Errorf(format, args...))
	}
	switch r.Class.Name {
	case "_rebuild_parameter", "_rebuild_parameter_with_state": // of a tensor
		if len(r.Args) > 0 {
			return f.tensorOf(r.Args[0], name)
		}
		return fail("a parameter of nothing")
	case "_rebuild_tensor_v2", "_rebuild_tensor":
	case "_rebuild_tensor_v3", "_rebuild_sparse_tensor", "_rebuild_qtensor", "_rebuild_nested_tensor":
		return fail("%s is not read: dense tensors of floats, int8 to int64, uint8 and bool are", r.Class.Name)
	default:
		return nil, false, nil
	}
	if len(r.Args) < 4 {
		return fail("%d arguments", len(r.Args))
	}
	p, _ := r.Args[0].(pickle.Persistent)
	id, _ := p.ID.(pickle.Tuple)
	if len(id) < 5 || id[0] != "storage" {
		return fail("no storage in the archive")
	}
	class, _ := id[1].(pickle.Class)
	kind, known := storageTypes[class.Name]
	if !known {
		return fail("elements of %.40s are not read", class)
	}
	key, okKey := id[2].(string)
	count, okCount := id[4].(int)
	first, okFirst := r.Args[1].(int)
	shape, err1 := sizes(r.Args[2])
	stride, err2 := sizes(r.Args[3])
	if !okKey || !okCount || !okFirst || err1 != nil || err2 != nil || count < 0 || first < 0 || len(shape) != len(stride) || len(shape) > 32 {
		return fail("malformed size, stride or storage")
	}
	t = &tensor{name: name, key: key, descr: kind.descr, bytes: kind.bytes, storage: int64(count), first: int64(first), shape: shape, stride: stride}
	if err := t.check(); err != nil {
		return fail("%w", err)
	}
	m, err := f.member("data/" + key)
	if err != nil {
		return fail("%w", err)
	}
	if have := int64(m.UncompressedSize64); have != t.storage*t.bytes {
		return fail("a storage of %d elements of %d bytes, %s has %d bytes", t.storage, t.bytes, m.Name, have)
	}
	return t, true, nil
}

// sizes reads a tuple of lengths, or a torch.Size of one.
func sizes(x any) ([]int, error) {
	if r, ok := x.(*pickle.Record); ok && r.Class.Name == "Size" && len(r.Args) == 1 {
		x = r.Args[0]
	}
	return ints(x)
}

// check returns an error if the view does not lie in the storage.
func (t *tensor) check() error {
	count, last := int64(1), t.first
	for i, d := range t.shape {
		if d != 0 && count > math.MaxInt64/8/int64(d) || t.stride[i] > math.MaxInt32*256 {
			return fmt.Errorf("shape %v is too large", t.shape)
		}
		count *= int64(d)
	}
	if count == 0 {
		if slices.Max(t.shape) > 1<<32 {
			return fmt.Errorf("shape %v: more than 2^32 rows or columns of nothing", t.shape)
		}
		return nil
	}
	if t.storage > math.MaxInt64/16 {
		return fmt.Errorf("a storage of %d elements is too large", t.storage)
	}
	if count > t.storage {
		return fmt.Errorf("shape %v has more elements than its storage, %d: save a copy (tensor.clone())", t.shape, t.storage)
	}
	for i, d := range t.shape {
		// Both are below 2^40 and as many as the storage has.
		if step := int64(t.stride[i]); d > 1 && step > 0 && int64(d-1) > (t.storage-last)/step {
			return fmt.Errorf("shape %v, strides %v from element %d on leave the storage of %d", t.shape, t.stride, t.first, t.storage)
		}
		last += int64(d-1) * int64(t.stride[i])
	}
	if last >= t.storage {
		return fmt.Errorf("shape %v, strides %v from element %d on leave the storage of %d", t.shape, t.stride, t.first, t.storage)
	}
	return nil
}

// rows reports whether the elements are contiguous in C order, and whether they are in Fortran
// order.
func (t *tensor) rows() (c, fortran bool) {
	c, fortran = true, true
	step := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		c = c && (t.shape[i] <= 1 || t.stride[i] == step)
		step *= t.shape[i]
	}
	step = 1
	for i, d := range t.shape {
		fortran = fortran && (d <= 1 || t.stride[i] == step)
		step *= d
	}
	return c, fortran
}

// open opens the file again, and the view for reading in pieces. A view that is not contiguous is read as a whole.
func (t *tensor) open(path string) (*npy.Reader, error) {
	f, err := openTorch(path)
	if err != nil {
		return nil, err
	}
	return t.openIn(f, f.zip)
}

// openIn opens the view in f. Closing it, or an error, closes also closer.
func (t *tensor) openIn(f *torchFile, closer io.Closer) (*npy.Reader, error) {
	m, err := f.member("data/" + t.key)
	if err != nil {
		closer.Close()
		return nil, err
	}
	name := fmt.Sprintf("%s: %s (%s)", f.path, m.Name, t.name)
	r, err := m.Open()
	if err != nil {
		closer.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	both := memberReader{r, closer}
	order := map[bool]string{false: "<", true: ">"}[f.big]
	if c, fortran := t.rows(); c || fortran {
		count := int64(1)
		for _, d := range t.shape {
			count *= int64(d)
		}
		if _, err := io.CopyN(io.Discard, r, t.first*t.bytes); err != nil {
			both.Close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if t.first > 0 || count < t.storage {
			both.Reader = io.LimitReader(r, count*t.bytes)
		}
		return npy.Raw(both, order+t.descr, t.shape, !c, name, t.first*t.bytes)
	}
	whole, err := npy.Raw(both, order+t.descr, []int{int(t.storage)}, false, name, 0)
	if err != nil {
		return nil, err
	}
	defer whole.Close()
	a, err := whole.All()
	if err != nil {
		return nil, err
	}
	return npy.Pieces(a.View(int(t.first), t.shape, t.stride)), nil
}

// memberReader is a member whose Close also closes the archive.
type memberReader struct {
	io.Reader
	zip io.Closer
}

func (m memberReader) Close() error { return m.zip.Close() }

// torchArrays are the tensors and arrays of a graph, by their names.
type torchArrays struct {
	file  *torchFile
	names []string
	view  map[string]*tensor
	held  map[string]*npy.Array

	sparse  map[string]*csr
	skipped []string // names of attributes that are something else
	joined  int64    // numbers of graphs of a list so far
	left    string   // what was left out, for the report
}

// tensors lists those attributes of a graph that are arrays or numbers. Other attributes, such as names
// and lists, are listed as skipped.
func (f *torchFile) tensors(graph *pickle.Dict) (*torchArrays, error) {
	out := &torchArrays{file: f, view: map[string]*tensor{}, held: map[string]*npy.Array{}, sparse: map[string]*csr{}}
	for _, p := range graph.Pairs {
		name, ok := p.Key.(string)
		if !ok {
			return nil, fmt.Errorf("%s: a %s where the name of an attribute should be", f.pkl, pickle.Kind(p.Key))
		}
		if m, ok, err := f.sparseOf(p.Value, name); err != nil {
			return nil, err
		} else if ok {
			out.sparse[name] = m
			continue
		}
		t, isTensor, err := f.tensorOf(p.Value, name)
		if err != nil {
			return nil, err
		}
		var a *npy.Array
		switch x := p.Value.(type) {
		case int:
			a = npy.New(f.pkl+": "+name, []int{1}, []int64{int64(x)})
		case float64:
			a = npy.New(f.pkl+": "+name, []int{1}, []float64{x})
		case *pickle.Record:
			if !isTensor && plainClass(x.Class) == "numpy.multiarray._reconstruct" {
				if a, err = decodeArray(x, f.pkl+": "+name); err != nil {
					return nil, err
				}
			}
		}
		if !isTensor && a == nil {
			if p.Value != nil {
				out.skipped = append(out.skipped, name)
			}
			continue
		}
		if out.view[name] == nil && out.held[name] == nil {
			out.names = append(out.names, name)
		}
		delete(out.view, name)
		delete(out.held, name)
		if isTensor {
			out.view[name] = t
		} else {
			out.held[name] = a
		}
	}
	return out, nil
}

// array reads a tensor or list of the pickle as a whole.
func (f *torchFile) array(x any, name string) (*npy.Array, error) {
	if list, ok := pickle.AsList(x); ok {
		out := make([]int64, len(list))
		for i, item := range list {
			n, ok := item.(int)
			if !ok {
				return nil, fmt.Errorf("%s: %s holds a %s", f.pkl, name, pickle.Kind(item))
			}
			out[i] = int64(n)
		}
		return npy.New(f.pkl+": "+name, []int{len(out)}, out), nil
	}
	t, ok, err := f.tensorOf(x, name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: %s is a %s, no tensor", f.pkl, name, pickle.Kind(x))
	}
	r, err := t.open(f.path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.All()
}

// Names lists the arrays.
func (a *torchArrays) Names() []string { return a.names }

// Size is the size of the whole file.
func (a *torchArrays) Size(string) int64 { return a.file.size }

// Open opens a tensor.
func (a *torchArrays) Open(name string) (*npy.Reader, error) {
	if t := a.view[name]; t != nil {
		return t.open(a.file.path)
	}
	if h := a.held[name]; h != nil {
		return npy.Pieces(h), nil
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}
