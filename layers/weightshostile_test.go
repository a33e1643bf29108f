package layers

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"sagann/dataset"
	"sagann/internal/draw"
	"sagann/saga"
)

// weighed is a model that hostile weights are read for, and good weights of it by the ending of their file.
type weighed struct {
	model  saga.Model
	o      Options
	params []saga.Param
	good   map[string][]byte
}

func newWeighed(t testing.TB) *weighed {
	t.Helper()
	d, err := dataset.Open("karate", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Features: d.FeatureCols, Hidden: 3, Classes: d.Classes, Layers: 2}
	m, err := New("sage", o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := saga.Compile(m, d, saga.Config{Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := &weighed{m, o, p.Params(), map[string][]byte{}}
	for _, ending := range []string{".pt", ".safetensors"} {
		var b bytes.Buffer
		if err := WriteWeights(&b, ending, m, o, x.params, nil, func(name string) ([]float32, error) {
			for _, q := range x.params {
				if q.Name == name {
					return make([]float32, q.Rows*q.Cols), nil
				}
			}
			return nil, fmt.Errorf("no %s", name)
		}); err != nil {
			t.Fatal(err)
		}
		x.good[ending] = b.Bytes()
	}
	run := filepath.Join(t.TempDir(), "own.safetensors")
	if _, err := p.Train(t.Context(), saga.TrainOptions{Checkpoint: run}); err != nil {
		t.Fatal(err)
	}
	if x.good["own.safetensors"], err = os.ReadFile(run); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return x
}

// read reads the weights in a file for the model, which must end soon, with an error that names the file if there is one, without
// much memory. It tells whether the weights are good.
func (x *weighed) read(t testing.TB, path, what string) bool {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, busy := time.Now(), processorTime(t)
	w, err := ReadWeights(path)
	if err == nil {
		w.Averaged(0.5)
		w.Delta()
		_, _ = w.Params()
		_, err = w.For(x.model, x.o, x.params, nil)
	}
	took := min(time.Since(start), processorTime(t)-busy) // other programs may take processors
	runtime.ReadMemStats(&after)
	if err != nil && (!strings.Contains(err.Error(), path) || len(err.Error()) > 3000) {
		t.Errorf("%s: %.500v", what, err)
	}
	if took > 10*time.Second || after.TotalAlloc-before.TotalAlloc > 1<<30 {
		t.Errorf("%s: %v, %d MiB", what, took, (after.TotalAlloc-before.TotalAlloc)>>20)
	}
	return err == nil
}

// hostileNumbers stand where sizes do.
var hostileNumbers = []string{"0", "1", "2", "3", "4", "12", "16", "-1", "2147483648", "4294967296", "1099511627776", "4611686018427387904", "9223372036854775807", "18446744073709551616",
	"1e3", "1.5", "null", "true", `"4"`, "[]", "00", "1e400"}

func numberOf(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return fmt.Sprint(r.IntN(5))
	}
	return hostileNumbers[r.IntN(len(hostileNumbers))]
}

// header is one of .safetensors that says anything.
func header(r *rand.Rand) string {
	list := func() string {
		var n []string
		for range r.IntN(4) {
			n = append(n, numberOf(r))
		}
		return "[" + strings.Join(n, ",") + "]"
	}
	names := []string{"convs.0.lin_l.weight", "convs.0.lin_l.bias", "convs.0.lin_r.weight", "best:layer1.W", "layer1.W", "__metadata__", "", "\\u0000", "a\\n\\u001b[2J", strings.Repeat("n", 1<<r.IntN(16))}
	types := []string{`"F32"`, `"F64"`, `"I64"`, `"BF16"`, `"F16"`, `"U8"`, `"F8_E4M3"`, `"f32"`, `""`, "4", "null", `"F32","dtype":"F64"`}
	var items []string
	for range r.IntN(6) {
		name, of := names[r.IntN(len(names))], types[r.IntN(len(types))]
		item := fmt.Sprintf(`{"dtype":%s,"shape":%s,"data_offsets":%s}`, of, list(), list())
		switch r.IntN(8) {
		case 0:
			item = strings.Repeat("[", 1<<r.IntN(21))
		case 1:
			item = fmt.Sprintf(`{"sagann":%q,"x":%s}`, numberOf(r), numberOf(r))
		case 2:
			n := r.IntN(4)
			item = fmt.Sprintf(`{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}`, n, 4*n)
		}
		items = append(items, fmt.Sprintf(`"%s":%s`, name, item))
		if r.IntN(6) == 0 {
			for i := range 1 << r.IntN(15) {
				items = append(items, fmt.Sprintf(`"w%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}`, i))
			}
		}
	}
	return "{" + strings.Join(items, ",") + strings.Repeat(" ", r.IntN(9)) + "}"
}

// pickledTensor is a tensor of a state_dict, whose numbers may be anything.
func pickledTensor(r *rand.Rand, key string, count int) string {
	number := func(n int) string {
		if r.IntN(3) == 0 {
			n = []int{0, 1, -1, 1 << 31, 1 << 40, 1 << 59, 1 << 62, -1 << 62}[r.IntN(8)]
		}
		return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	}
	dims := r.IntN(3)
	if r.IntN(20) == 0 {
		dims = 1 << r.IntN(12)
	}
	shape, stride := "(", "("
	for range dims {
		shape += number(r.IntN(4))
		stride += number(r.IntN(3))
	}
	kind := []string{"FloatStorage", "DoubleStorage", "LongStorage", "HalfStorage", "BFloat16Storage", "BoolStorage", "ComplexFloatStorage"}[r.IntN(7)]
	text := func(s string) string { return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s }
	return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + kind + "\n" + text(key) + text("cpu") + number(count) + "tQ" + number(0) + shape + "t" + stride + "t\x89}tR"
}

// stateDicts is a .pt of tensors, some many times.
func stateDicts(t testing.TB, r *rand.Rand) []byte {
	t.Helper()
	text := func(s string) string { return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s }
	const count = 1 << 14
	b := "\x80\x02}("
	if r.IntN(3) == 0 {
		b += text("state_dict") + "}("
	}
	for i := range r.IntN(6) {
		b += text(fmt.Sprintf("convs.%d.lin_l.weight", i)) + pickledTensor(r, fmt.Sprint(r.IntN(2)), count)
	}
	switch r.IntN(5) {
	case 0: // one storage, whole, by many names
		b += text("w") + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") + "J\x00\x40\x00\x00tQK\x00(J\x00\x40\x00\x00t(K\x01t\x89}tRq\x01"
		for i := range 1 << r.IntN(17) {
			b += text(fmt.Sprintf("w%d", i)) + "h\x01"
		}
	case 1: // names alone
		for i := range 1 << r.IntN(18) {
			b += text(fmt.Sprint(i)) + "N"
		}
	}
	b += "u."
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range map[string]string{"a/data.pkl": b, "a/data/0": strings.Repeat("\x00", 4*count), "a/data/1": strings.Repeat("\xff", 4*count), "a/byteorder": "little"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestHostileWeights: drawn files of weights, and good ones of which bytes are others or missing, are read or refused soon, with an
// error that names them, and without much memory.
func TestHostileWeights(t *testing.T) {
	n := 60
	if draw.Soak() {
		n = 3000
	}
	x, r, dir := newWeighed(t), rand.New(rand.NewPCG(draw.Seed(t), 1)), t.TempDir()
	for ending, good := range x.good {
		path := filepath.Join(dir, "good"+ending)
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		if !x.read(t, path, path) {
			t.Errorf("%s: good weights are refused", path)
		}
	}
	for k := range n {
		ending, content := ".safetensors", []byte(nil)
		switch r.IntN(4) {
		case 0:
			ending, content = ".pt", stateDicts(t, r)
		case 1, 2:
			text := header(r)
			size := uint64(len(text))
			if r.IntN(8) == 0 {
				size = []uint64{0, 1, size - 1, size + 1, 1 << 31, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}[r.IntN(9)]
			}
			content = append(append(binary.LittleEndian.AppendUint64(nil, size), text...), make([]byte, 4*r.IntN(5))...)
		default:
			for e, good := range x.good {
				ending, content = e, bytes.Clone(good)
			}
			for range 1 + r.IntN(4) {
				content[r.IntN(len(content))] ^= 1 << r.IntN(8)
			}
			if r.IntN(3) == 0 {
				content = content[:r.IntN(len(content))]
			}
		}
		path := filepath.Join(dir, fmt.Sprintf("%d%s", k, ending))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		x.read(t, path, path)
		if t.Failed() {
			t.Fatalf("%.600q", content)
		}
		os.Remove(path)
	}
}

// FuzzWeights reads any bytes as weights.
func FuzzWeights(f *testing.F) {
	x := newWeighed(f)
	for ending, good := range x.good {
		f.Add(good, ending == ".pt")
	}
	r := rand.New(rand.NewPCG(1, 1))
	f.Add(append(binary.LittleEndian.AppendUint64(nil, 2), "{}"...), false)
	f.Add(stateDicts(f, r), true)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, torch bool) {
		path := filepath.Join(dir, map[bool]string{true: "f.pt", false: "f.safetensors"}[torch])
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		x.read(t, path, path)
	})
}

// processorTime is what this process has taken so far.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
