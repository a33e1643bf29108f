package dataset

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"

	"sagann/dataset/pickle"
)

// Tensor is a tensor with a name, as a state_dict of torch has it.
type Tensor struct {
	Name   string
	Shape  []int     // empty for one number
	Values []float32 // in rows; other types are converted
}

// ReadTensors reads a state_dict, a dictionary of tensors, that torch.save wrote to path: in its order, wherever the values lie. A
// dictionary that has one as state_dict, model_state_dict or model gives that. Nothing that the file names is imported or called.
func ReadTensors(path string) ([]Tensor, error) {
	f, err := openTorch(path)
	if err != nil {
		return nil, err
	}
	defer f.zip.Close()
	x, err := f.object()
	if err != nil {
		return nil, err
	}
	d, ok := pickle.AsDict(x)
	if r, is := x.(*pickle.Record); is && !ok {
		return nil, fmt.Errorf("%s: a %s of %s: torch.save(model.state_dict(), path) saves what is read", f.pkl, r.Class.Name, r.Class.Module)
	} else if !ok {
		return nil, fmt.Errorf("%s: a %s where a state_dict should be", f.pkl, pickle.Kind(x))
	}
	for _, key := range []string{"state_dict", "model_state_dict", "model"} {
		if x, ok := d.Get(key); ok {
			if inner, ok := pickle.AsDict(x); ok {
				d = inner
			}
		}
	}
	var list []Tensor
	seen, room := map[string]bool{}, f.room()
	for _, p := range d.Pairs {
		name, ok := p.Key.(string)
		if !ok {
			return nil, fmt.Errorf("%s: a %s where the name of a tensor should be", f.pkl, pickle.Kind(p.Key))
		}
		if seen[name] {
			return nil, fmt.Errorf("%s: two tensors are named %.80s", f.pkl, name)
		}
		seen[name] = true
		t, ok, err := f.tensorOf(p.Value, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("%s: %.80s is a %s: a state_dict has tensors alone", f.pkl, name, pickle.Kind(p.Value))
		}
		if room -= f.cost(t); room < 0 {
			return nil, fmt.Errorf("%s: tensor %.80s: so many tensors share a storage that reading them takes many times the file: save copies (tensor.clone())", f.pkl, name)
		}
		r, err := t.openIn(f, io.NopCloser(nil))
		if err != nil {
			return nil, err
		}
		a, err := r.All()
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			return nil, err
		}
		values, err := a.Float32s()
		if err != nil {
			return nil, err
		}
		list = append(list, Tensor{Name: name, Shape: t.shape, Values: values})
	}
	return list, nil
}

// room is how much reading the tensors of a state_dict may cost. Several may share a storage, which is read for each of them.
func (f *torchFile) room() int64 {
	n := int64(16 << 20)
	for _, m := range f.zip.File {
		n += 4 * int64(m.UncompressedSize64) // their sum is bounded by the size of the file
	}
	return n
}

// cost is how many bytes are read for t, a sixteenth if they are not compressed.
func (f *torchFile) cost(t *tensor) int64 {
	n := t.storage * t.bytes
	if m := f.at[f.root+"data/"+t.key]; m != nil && m.Method == zip.Store {
		n /= 16
	}
	return n + 64
}

// WriteTensors writes tensors as torch.save writes a state_dict, for torch.load.
func WriteTensors(w io.Writer, tensors []Tensor) error {
	z := zip.NewWriter(w)
	member := func(name string, content []byte) error {
		h := &zip.FileHeader{Name: "archive/" + name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(content),
			CompressedSize64: uint64(len(content)), UncompressedSize64: uint64(len(content))}
		f, err := z.CreateRaw(h)
		if err == nil {
			_, err = f.Write(content)
		}
		return err
	}
	err := member("data.pkl", stateDict(tensors))
	for _, m := range [][2]string{{"byteorder", "little"}, {"version", "3\n"}} {
		if err == nil {
			err = member(m[0], []byte(m[1]))
		}
	}
	for i, t := range tensors {
		content := make([]byte, 0, 4*len(t.Values))
		for _, x := range t.Values {
			content = binary.LittleEndian.AppendUint32(content, math.Float32bits(x))
		}
		if err == nil {
			err = member("data/"+strconv.Itoa(i), content)
		}
	}
	if err != nil {
		return err
	}
	return z.Close()
}

// stateDict is the pickle, of protocol 2, of an OrderedDict of tensors; tensor i lies in storage i.
func stateDict(tensors []Tensor) []byte {
	const ordered = "ccollections\nOrderedDict\n)R"
	number := func(b []byte, n int) []byte { // as a long of 8 bytes
		return binary.LittleEndian.AppendUint64(append(b, 0x8a, 8), uint64(n))
	}
	text := func(b []byte, s string) []byte {
		return append(binary.LittleEndian.AppendUint32(append(b, 'X'), uint32(len(s))), s...)
	}
	tuple := func(b []byte, list []int) []byte {
		b = append(b, '(')
		for _, n := range list {
			b = number(b, n)
		}
		return append(b, 't')
	}
	b := append([]byte("\x80\x02"), ordered+"("...)
	for i, t := range tensors {
		strides, step := make([]int, len(t.Shape)), 1
		for k := len(t.Shape) - 1; k >= 0; k-- {
			strides[k] = step
			step *= t.Shape[k]
		}
		b = append(text(b, t.Name), "ctorch._utils\n_rebuild_tensor_v2\n(("...)
		b = append(text(b, "storage"), "ctorch\nFloatStorage\n"...)
		b = append(number(text(text(b, strconv.Itoa(i)), "cpu"), len(t.Values)), "tQK\x00"...)
		b = append(tuple(tuple(b, t.Shape), strides), "\x89"+ordered+"tR"...)
	}
	return append(b, "u."...)
}
