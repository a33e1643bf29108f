package layers

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/internal/safetensors"
	"sagann/saga"
)

// ReadWeights reads the state_dict of a PyTorch module from a file of torch.save, or a .safetensors. It also reads a checkpoint of
// this program: the parameters of the best epoch, if it has them. Errors name the file.
func ReadWeights(path string) (*Weights, error) {
	w := &Weights{path: path}
	if filepath.Ext(path) == ".safetensors" {
		return w, w.readSafetensors()
	}
	list, err := dataset.ReadTensors(path)
	w.list = list
	return w, err
}

func (w *Weights) readSafetensors() error {
	f, err := safetensors.Open(w.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Meta["sagann"] != "" {
		return w.readRun()
	}
	for _, name := range f.Names() {
		info, _ := f.Info(name)
		values, err := numbers(f, name, info)
		if err != nil {
			return fmt.Errorf("%s: tensor %q: %w", w.path, name, err)
		}
		w.list = append(w.list, dataset.Tensor{Name: name, Shape: info.Shape, Values: values})
	}
	slices.SortStableFunc(w.list, func(a, b dataset.Tensor) int { return naturally(a.Name, b.Name) })
	return nil
}

// readRun reads a checkpoint of this program.
func (w *Weights) readRun() (err error) {
	if w.run, err = saga.ReadStored(w.path); err != nil {
		return err
	}
	for _, t := range w.run.Params() {
		if of, isMean := strings.CutPrefix(t.Name, saga.AverageOf); isMean {
			t.Name = of
			w.mean = append(w.mean, t)
		} else {
			w.list = append(w.list, t)
		}
	}
	slices.SortStableFunc(w.list, func(a, b dataset.Tensor) int { return naturally(a.Name, b.Name) })
	return nil
}

// inNumPy are the types of values in NumPy's notation, bf2 being bfloat16.
var inNumPy = map[safetensors.DType]string{safetensors.Bool: "|b1", safetensors.F16: "<f2", safetensors.BF16: "<bf2", safetensors.F32: "<f4", safetensors.F64: "<f8",
	safetensors.I8: "|i1", safetensors.I16: "<i2", safetensors.I32: "<i4", safetensors.I64: "<i8",
	safetensors.U8: "|u1", safetensors.U16: "<u2", safetensors.U32: "<u4", safetensors.U64: "<u8"}

// numbers are the values of a tensor, which has one of these types, as float32.
func numbers(f *safetensors.File, name string, info safetensors.Info) ([]float32, error) {
	r, err := npy.Raw(io.NopCloser(f.Values(name)), inNumPy[info.DType], info.Shape, false, "values", info.Begin)
	if err != nil {
		return nil, err
	}
	a, err := r.All()
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	return a.Float32s()
}

// naturally compares names so that 9 comes before 10.
func naturally(a, b string) int {
	digits := func(s string) int {
		n := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if n < 0 {
			return len(s)
		}
		return n
	}
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m > 0 && n > 0 {
			x, y := strings.TrimLeft(a[:m], "0"), strings.TrimLeft(b[:n], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[m:], b[n:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}
