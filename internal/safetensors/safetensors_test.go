package safetensors

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample is one tensor of each type, with values that show byte order and sign.
func sample() ([]Tensor, map[string]string) {
	big := make([]float32, 40000) // more than one buffer
	for i := range big {
		big[i] = float32(i) * 0.5
	}
	return []Tensor{
		{"z", []int{2, 2}, []float32{1, -2.5, float32(math.Inf(1)), math.SmallestNonzeroFloat32}},
		{"big", []int{200, 200}, big},
		{"f64", []int{3}, []float64{math.Pi, math.MaxFloat64, math.Copysign(0, -1)}},
		{"i32", []int{2}, []int32{math.MinInt32, 7}},
		{"i64", []int{1, 2}, []int64{math.MinInt64, 1}},
		{"u8", []int{5}, []uint8{0, 1, 2, 254, 255}},
		{"u32", []int{1}, []uint32{math.MaxUint32}},
		{"u64", []int{}, []uint64{math.MaxUint64 - 1}},
		{"empty <&>", []int{0, 3}, []float32{}},
	}, map[string]string{"epoch": "12", "ключ": "\"quoted\""}
}

func TestRoundTrip(t *testing.T) {
	tensors, meta := sample()
	var b bytes.Buffer
	if err := Write(&b, tensors, meta); err != nil {
		t.Fatal(err)
	}
	f, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(meta, f.Meta); d != "" {
		t.Error(d)
	}
	if len(f.Names()) != len(tensors) {
		t.Errorf("names %q", f.Names())
	}
	for _, want := range tensors {
		in, ok := f.Info(want.Name)
		if !ok || !cmp.Equal(in.Shape, want.Shape) {
			t.Errorf("%s: info %+v, want shape %v", want.Name, in, want.Shape)
		}
		if in.Begin%int64(in.DType.Size()) != 0 {
			t.Errorf("%s of %s begins at byte %d", want.Name, in.DType, in.Begin)
		}
		if d := cmp.Diff(want.Data, loadAny(t, f, want)); d != "" {
			t.Errorf("%s: %s", want.Name, d)
		}
	}
	if _, _, err := Load[float64](f, "z"); err == nil {
		t.Error("F32 was loaded as float64")
	}
	if _, _, err := Load[float32](f, "absent"); err == nil {
		t.Error("an absent tensor was loaded")
	}
	if err := LoadInto(f, "z", make([]float32, 5)); err == nil {
		t.Error("4 values were loaded into 5")
	}
}

func loadAny(t *testing.T, f *File, want Tensor) any {
	t.Helper()
	var got any
	var err error
	switch want.Data.(type) {
	case []float32:
		got, _, err = Load[float32](f, want.Name)
	case []float64:
		got, _, err = Load[float64](f, want.Name)
	case []int32:
		got, _, err = Load[int32](f, want.Name)
	case []int64:
		got, _, err = Load[int64](f, want.Name)
	case []uint8:
		got, _, err = Load[uint8](f, want.Name)
	case []uint32:
		got, _, err = Load[uint32](f, want.Name)
	case []uint64:
		got, _, err = Load[uint64](f, want.Name)
	}
	if err != nil {
		t.Error(err)
	}
	return got
}

func TestWriteIsDeterministic(t *testing.T) {
	tensors, meta := sample()
	var a, b bytes.Buffer
	if err := Write(&a, tensors, meta); err != nil {
		t.Fatal(err)
	}
	for i, j := 0, len(tensors)-1; i < j; i, j = i+1, j-1 {
		tensors[i], tensors[j] = tensors[j], tensors[i]
	}
	if err := Write(&b, tensors, meta); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the order of the arguments shows in the bytes")
	}
}

func TestWriteRefuses(t *testing.T) {
	one := []float32{1}
	for want, list := range map[string][]Tensor{
		"name used twice":         {{"a", []int{1}, one}, {"a", []int{2}, []uint8{1, 2}}},
		"name is reserved":        {{"__metadata__", []int{1}, one}},
		"name is not UTF-8":       {{"\xff", []int{1}, one}},
		"1 values for shape [2]":  {{"a", []int{2}, one}},
		"negative length":         {{"a", []int{-1, -1}, one}},
		"larger than the address": {{"a", []int{1 << 40, 1 << 40}, one}},
		"type []int":              {{"a", []int{1}, []int{1}}},
		"33 dimensions":           {{"a", make([]int, 33), one}},
	} {
		var b bytes.Buffer
		err := Write(&b, list, nil)
		if err == nil || !strings.Contains(err.Error(), want) || b.Len() != 0 {
			t.Errorf("%d bytes written, error %v, want %q", b.Len(), err, want)
		}
	}
	if err := Write(&bytes.Buffer{}, nil, map[string]string{"k": "\xff"}); err == nil {
		t.Error("metadata that is not UTF-8 was written")
	}
}

// raw builds a file from a header as text and a number of value bytes.
func raw(header string, values int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, values)...)
}

func TestReadRefuses(t *testing.T) {
	const a = `"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	huge := raw(`{}`, 0)
	binary.LittleEndian.PutUint64(huge, 1<<60)
	for want, file := range map[string][]byte{
		"cannot hold a header length":          []byte("1234567"),
		"header of 1152921504606846976 bytes":  huge,
		"does not begin with '{'":              raw(` {}`, 0),
		"not UTF-8":                            raw("{\"\xff\":1}", 0),
		"unexpected EOF":                       raw(`{`, 0),
		"text after the header":                raw(`{} {}`, 0),
		`tensor "a" stands twice`:              raw(`{`+a+`,`+a+`}`, 8),
		"__metadata__ stands twice":            raw(`{"__metadata__":{},"__metadata__":{}}`, 0),
		`metadata "k" stands twice`:            raw(`{"__metadata__":{"k":"1","k":"2"}}`, 0),
		`metadata "k" is not a string`:         raw(`{"__metadata__":{"k":1}}`, 0),
		`"shape" stands twice`:                 raw(`{"a":{"shape":[],"shape":[]}}`, 0),
		`unknown key "Shape"`:                  raw(`{"a":{"Shape":[]}}`, 0),
		`no "dtype"`:                           raw(`{"a":{"shape":[2],"data_offsets":[0,8]}}`, 8),
		`dtype F99 is not supported`:           raw(`{"a":{"dtype":"F99","shape":[2],"data_offsets":[0,8]}}`, 8),
		"-1 is not a length":                   raw(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}}`, 8),
		"1.5 is not a length":                  raw(`{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,8]}}`, 8),
		"99999999999999999999 is not a length": raw(`{"a":{"dtype":"F32","shape":[99999999999999999999]}}`, 8),
		"larger than the address space":        raw(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0),
		"not a beginning and an end":           raw(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, 8),
		"more than 2 numbers":                  raw(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}}`, 8),
		"8 bytes for shape [3] of F32":         raw(`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8),
		"the file holds 7":                     raw(`{`+a+`}`, 7),
		"1 bytes belong to no tensor":          raw(`{`+a+`}`, 9),
		"inside the one before it":             raw(`{`+a+`,"b":{"dtype":"U8","shape":[2],"data_offsets":[7,9]}}`, 9),
		"a gap after 8":                        raw(`{`+a+`,"b":{"dtype":"U8","shape":[2],"data_offsets":[9,11]}}`, 11),
	} {
		_, err := Read(bytes.NewReader(file), int64(len(file)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	ok := raw(`{`+a+`}  `, 8)
	if _, err := Read(bytes.NewReader(ok), int64(len(ok))); err != nil {
		t.Errorf("padding after the header: %v", err)
	}
	f, err := Read(bytes.NewReader(ok[:len(ok)-1]), int64(len(ok))) // the size lies
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load[float32](f, "a"); err == nil {
		t.Error("values beyond the end of the reader were loaded")
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "checkpoint.safetensors")
	for epoch := range 2 {
		if err := WriteFile(path, []Tensor{{"w", []int{1}, []float32{float32(epoch)}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	// A write that fails leaves the old file and no other.
	if err := WriteFile(path, []Tensor{{"w", []int{2}, []float32{9}}}, nil); err == nil {
		t.Fatal("a bad tensor was written")
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if w, _, err := Load[float32](f, "w"); err != nil || w[0] != 1 {
		t.Errorf("w = %v, %v", w, err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("files left: %v", list)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder was opened")
	}
	if err := WriteFile(filepath.Join(dir, "absent", "x"), nil, nil); err == nil {
		t.Error("a file was written into a folder that is not there")
	}
}

// FuzzRead: whatever the bytes, Read returns, and what it accepts can be loaded
// and written again to a file that holds the same.
func FuzzRead(f *testing.F) {
	tensors, meta := sample()
	var b bytes.Buffer
	if err := Write(&b, append(tensors[:1], tensors[2:]...), meta); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(raw(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2))
	f.Fuzz(func(t *testing.T, file []byte) {
		in, err := Read(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		var out []Tensor
		for _, name := range in.Names() {
			info, _ := in.Info(name)
			data := map[DType]any{
				F32: []float32{}, F64: []float64{}, I32: []int32{}, I64: []int64{},
				U8: []uint8{}, U32: []uint32{}, U64: []uint64{},
			}[info.DType]
			out = append(out, Tensor{name, info.Shape, loadAny(t, in, Tensor{Name: name, Data: data})})
		}
		var again bytes.Buffer
		if err := Write(&again, out, in.Meta); err != nil {
			t.Fatal(err)
		}
		re, err := Read(bytes.NewReader(again.Bytes()), int64(again.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range in.Names() {
			a, _ := in.Info(name)
			b, _ := re.Info(name)
			if a.DType != b.DType || !cmp.Equal(a.Shape, b.Shape) ||
				!bytes.Equal(file[a.Begin:a.Begin+a.Bytes], again.Bytes()[b.Begin:b.Begin+b.Bytes]) {
				t.Fatalf("%q: %+v became %+v", name, a, b)
			}
		}
	})
}
