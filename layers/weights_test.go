package layers

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWeightTypes: the tensors of a .safetensors may have any type of numbers. The values are -2, 0.5 and 3, or what the type has of
// them, with bits worked out by hand.
func TestWeightTypes(t *testing.T) {
	for _, c := range []struct {
		dtype string
		bits  any
		want  []float32
	}{
		{"BOOL", []uint8{0, 1, 1}, []float32{0, 1, 1}},
		{"F16", []uint16{0xc000, 0x3800, 0x4200}, []float32{-2, 0.5, 3}},
		{"BF16", []uint16{0xc000, 0x3f00, 0x4040}, []float32{-2, 0.5, 3}},
		{"F32", []float32{-2, 0.5, 3}, []float32{-2, 0.5, 3}},
		{"F64", []float64{-2, 0.5, 3}, []float32{-2, 0.5, 3}},
		{"I8", []int8{-2, 0, 3}, []float32{-2, 0, 3}},
		{"I16", []int16{-2, 0, 3}, []float32{-2, 0, 3}},
		{"I32", []int32{-2, 0, 3}, []float32{-2, 0, 3}},
		{"I64", []int64{-2, 0, 3}, []float32{-2, 0, 3}},
		{"U8", []uint8{2, 0, 3}, []float32{2, 0, 3}},
		{"U16", []uint16{2, 0, 65535}, []float32{2, 0, 65535}},
		{"U32", []uint32{2, 0, math.MaxUint32}, []float32{2, 0, 1 << 32}},
		{"U64", []uint64{2, 0, 1 << 63}, []float32{2, 0, 1 << 63}},
	} {
		var values bytes.Buffer
		if err := binary.Write(&values, binary.LittleEndian, c.bits); err != nil {
			t.Fatal(err)
		}
		w, err := ReadWeights(safetensorsOf(t, c.dtype, values.Bytes()))
		if err != nil {
			t.Errorf("%s: %v", c.dtype, err)
		} else if x := w.list[0]; x.Name != "W" || !slices.Equal(x.Shape, []int{1, 3}) || !slices.Equal(x.Values, c.want) {
			t.Errorf("%s: %v, want %v", c.dtype, x, c.want)
		}
	}
	path := safetensorsOf(t, "F8_E4M3", []byte{1, 2, 3})
	if _, err := ReadWeights(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "F8_E4M3") {
		t.Errorf("8 bits: %v", err)
	}
}

// safetensorsOf writes a file with one tensor W [1×3].
func safetensorsOf(t *testing.T, dtype string, values []byte) string {
	t.Helper()
	header := fmt.Sprintf(`{"W":{"dtype":%q,"shape":[1,3],"data_offsets":[0,%d]}}`, dtype, len(values))
	path := filepath.Join(t.TempDir(), "w.safetensors")
	file := slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), []byte(header), values)
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
