package npy

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sagann/internal/draw"
	"sagann/internal/testdata"
)

// roundTrip writes and reads data and compares.
func roundTrip[T Elem](t *rapid.T, gen *rapid.Generator[T]) {
	shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "shape")
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := rapid.SliceOfN(gen, n, n).Draw(t, "data")
	var buf bytes.Buffer
	if err := Encode(&buf, shape, data); err != nil {
		t.Fatal(err)
	}
	if k, _ := kindOf(descrOf[T]()); (buf.Len()-n*int(k.size))%64 != 0 {
		t.Fatalf("elements start at an unaligned byte")
	}
	a, err := Decode(&buf, int64(buf.Len()), "x")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Shape, shape) || !slices.Equal(a.Data.([]T), data) {
		t.Fatalf("got %v %v, want %v %v", a.Shape, a.Data, shape, data)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Run("float32", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Float32()) }))
	t.Run("float64", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Float64()) }))
	t.Run("int8", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Int8()) }))
	t.Run("int16", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Int16()) }))
	t.Run("int32", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Int32()) }))
	t.Run("int64", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Int64()) }))
	t.Run("uint8", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Uint8()) }))
	t.Run("uint16", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Uint16()) }))
	t.Run("uint32", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Uint32()) }))
	t.Run("uint64", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Uint64()) }))
	t.Run("bool", draw.Each(func(t *rapid.T) { roundTrip(t, rapid.Bool()) }))
}

// encodeHeader is a file with a header of the test's own making.
func encodeHeader(dict string, body string) []byte {
	return []byte(magic + "\x01\x00" + string([]byte{byte(len(dict)), byte(len(dict) >> 8)}) + dict + body)
}

func TestFortranOrder(t *testing.T) {
	// A[i][j][k] = 100i+10j+k, stored with i fastest.
	var body []byte
	for k := range 4 {
		for j := range 3 {
			for i := range 2 {
				body = append(body, byte(100*i+10*j+k))
			}
		}
	}
	file := encodeHeader("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4)}", string(body))
	a, err := Decode(bytes.NewReader(file), int64(len(file)), "x")
	if err != nil {
		t.Fatal(err)
	}
	for n, got := range a.Data.([]uint8) {
		if want := 100*(n/12) + 10*(n/4%3) + n%4; int(got) != want {
			t.Errorf("element %d is %d, want %d", n, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	const dict = "{'descr': '<f4', 'fortran_order': False, 'shape': "
	for _, c := range []struct{ file, want string }{
		{"", "byte 0"},
		{"not an array at all", "byte 0"},
		{magic + "\x09\x00\x00\x00", "version 9.0"},
		{magic + "\x02\x00\xff\xff\xff\xff", "header of 4294967295 bytes"},
		{string(encodeHeader(dict+"(1152921504606846976,), }", "abcd")), "shape [1152921504606846976]"},
		{string(encodeHeader(dict+"(4294967296, 4294967296), }", "abcd")), "too many elements"},
		{string(encodeHeader(dict+"(2,), }", "abcd")), "does not match the 4 bytes"},
		{string(encodeHeader(dict+"(1,), }", "abcde")), "does not match the 5 bytes"},
		{string(encodeHeader(dict+"(-1,), }", "")), "length of a dimension"},
		{string(encodeHeader("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "abcdefgh")), `"<c8"`},
		{string(encodeHeader("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "abcd")), `"|O"`},
		{string(encodeHeader("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd")), "structured"},
		{string(encodeHeader("{'descr': '<f4', 'shape': (1,)}", "abcd")), "fortran_order"},
		{string(encodeHeader("{'descr': '<f4', 'descr': '<f4'}", "")), "twice"},
	} {
		_, err := Decode(strings.NewReader(c.file), int64(len(c.file)), "bad.npy")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "bad.npy") {
			t.Errorf("%.40q: error %v, want one with %q", c.file, err, c.want)
		}
	}
}

func TestConversionsNameTheByte(t *testing.T) {
	var buf bytes.Buffer
	if err := Encode(&buf, []int{3}, []int64{1, -7, 1 << 40}); err != nil {
		t.Fatal(err)
	}
	start := buf.Len() - 24
	a, err := Decode(&buf, int64(buf.Len()), "ids.npy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Uint32s(); err == nil || err.Error() != "ids.npy: byte 136: -7 is outside 0..4294967295" || start != 128 {
		t.Errorf("error %v", err)
	}
	if _, err := a.Int32s(); err == nil || !strings.Contains(err.Error(), "byte 144") {
		t.Errorf("error %v", err)
	}
	half := &Array{Shape: []int{1}, Data: []float64{0.5}}
	if _, err := half.Int64s(); err == nil {
		t.Error("0.5 became an integer")
	}
}

func TestZip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npz")
	want := map[string]*Array{
		"x": {Shape: []int{2, 2}, Data: []float32{1, 2, 3, 4}},
		"y": {Shape: []int{3}, Data: []int64{5, 6, 7}},
	}
	if err := WriteZip(path, want); err != nil {
		t.Fatal(err)
	}
	z, err := OpenZip(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if diff := cmp.Diff([]string{"x", "y"}, z.Names()); diff != "" {
		t.Error(diff)
	}
	for name, w := range want {
		got, err := z.Read(name)
		if err != nil || !cmp.Equal(got.Data, w.Data) || !cmp.Equal(got.Shape, w.Shape) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := z.Read("z"); err == nil || !strings.Contains(err.Error(), "x, y") {
		t.Errorf("error %v", err)
	}
}

// TestSameBytesAsNumPy rewrites a real file, which NumPy made.
func TestSameBytesAsNumPy(t *testing.T) {
	dir := testdata.Dir(t, "data/cora")
	for _, name := range []string{"edges.npy", "features_csr_data.npy", "train.npy"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		a, err := Read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := encodeAny(&got, a.Shape, a.Data); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: other bytes than NumPy's", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var buf bytes.Buffer
	Encode(&buf, []int{2, 3}, []float32{1, 2, 3, 4, 5, 6})
	f.Add(buf.Bytes())
	f.Add(encodeHeader("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 1)}", "0123456789abcdef"))
	f.Add(encodeHeader("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", "\x01"))
	f.Fuzz(func(t *testing.T, file []byte) {
		a, err := Decode(bytes.NewReader(file), int64(len(file)), "fuzz")
		if err != nil {
			return
		}
		a.Float32s()
		a.Int64s()
		var again bytes.Buffer
		if err := encodeAny(&again, a.Shape, a.Data); err != nil {
			t.Fatal(err)
		}
		b, err := Decode(&again, int64(again.Len()), "again")
		if err != nil || !slices.Equal(a.Shape, b.Shape) {
			t.Fatalf("read back: %v", err)
		}
	})
}

func TestWriteRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npy")
	for _, n := range []int{0, 1, 1000} {
		err := WriteRows(path, 3, func(add func([]uint32) error) error {
			for i := range n {
				if err := add([]uint32{uint32(i), 1, 2}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		a, err := Read(path)
		if err != nil || !slices.Equal(a.Shape, []int{n, 3}) {
			t.Fatalf("%d rows: %v, %v", n, a, err)
		}
		if x, err := a.Uint32s(); err != nil || n > 0 && x[3*(n-1)] != uint32(n-1) {
			t.Errorf("%d rows: %v, %v", n, x, err)
		}
	}
	if err := WriteRows(path, 2, func(add func([]uint64) error) error { return add([]uint64{1}) }); err == nil {
		t.Error("a short row was written")
	}
	if a, err := Read(path); err != nil || a.Shape[0] != 1000 {
		t.Errorf("a failed write changed the file: %v, %v", a, err)
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); len(list) != 1 {
		t.Errorf("%v was left", list)
	}
}
