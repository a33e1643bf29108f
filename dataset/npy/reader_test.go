package npy

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOrders reads the numbers 1 and 258 in every byte order and width.
func TestOrders(t *testing.T) {
	for descr, raw := range map[string]string{
		"<i2": "\x01\x00\x02\x01", ">i2": "\x00\x01\x01\x02",
		">u4": "\x00\x00\x00\x01\x00\x00\x01\x02", ">i8": "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01\x02",
		">f4": "\x3f\x80\x00\x00\x43\x81\x00\x00", ">f8": "\x3f\xf0\x00\x00\x00\x00\x00\x00\x40\x70\x20\x00\x00\x00\x00\x00",
		"<f2": "\x00\x3c\x08\x5c", ">f2": "\x3c\x00\x5c\x08", "<bf2": "\x80\x3f\x81\x43",
	} {
		a, err := FromBytes(descr, []int{2}, false, []byte(raw), "x")
		if err != nil {
			t.Fatal(err)
		}
		if x, err := a.Float32s(); err != nil || !cmp.Equal(x, []float32{1, 258}) {
			t.Errorf("%s: %v, %v", descr, x, err)
		}
	}
	for _, descr := range []string{"|f4", "=f4", "", "<c8", "f4", "<O", "|O", "<U0", "<U4097", "<V3"} {
		if _, err := FromBytes(descr, []int{1}, false, make([]byte, 4), "x"); err == nil || !strings.Contains(err.Error(), "element type") {
			t.Errorf("%q: %v", descr, err)
		}
	}
}

// TestFloat16 checks the corners of the format, and all finite values by rounding
// them back.
func TestFloat16(t *testing.T) {
	for b, want := range map[uint16]float64{
		0: 0, 0x0001: math.Ldexp(1, -24), 0x03ff: math.Ldexp(1023, -24), 0x0400: math.Ldexp(1, -14),
		0x3c00: 1, 0x7bff: 65504, 0xc000: -2, 0x8001: -math.Ldexp(1, -24), 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if got := fromFloat16(b); float64(got) != want {
			t.Errorf("%04x: %v, want %v", b, got, want)
		}
	}
	if !math.Signbit(float64(fromFloat16(0x8000))) || fromFloat16(0x7e00) == fromFloat16(0x7e00) {
		t.Error("the sign of zero, or a NaN, is lost")
	}
	last := float32(-1)
	for b := range uint16(0x7c00) {
		if f := fromFloat16(b); f <= last {
			t.Fatalf("%04x: %v after %v", b, f, last)
		} else {
			last = f
		}
	}
}

func TestReader(t *testing.T) {
	dir := t.TempDir()
	want := make([]float32, 0, 21)
	for i := range 21 {
		want = append(want, float32(i))
	}
	if err := Write(filepath.Join(dir, "c.npy"), []int{7, 3}, want); err != nil {
		t.Fatal(err)
	}
	turned := make([]float32, 21) // the same array in Fortran order
	for i := range 7 {
		for k := range 3 {
			turned[k*7+i] = want[i*3+k]
		}
	}
	var fortran bytes.Buffer
	Encode(&fortran, []int{7, 3}, turned)
	text := strings.Replace(fortran.String(), "False,", "True, ", 1)
	if err := os.WriteFile(filepath.Join(dir, "f.npy"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteZip(filepath.Join(dir, "z.npz"), map[string]*Array{"c": {Shape: []int{7, 3}, Data: want}}); err != nil {
		t.Fatal(err)
	}
	z, err := OpenZip(filepath.Join(dir, "z.npz"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for name, open := range map[string]func() (*Reader, error){
		"c.npy": func() (*Reader, error) { return Open(filepath.Join(dir, "c.npy")) },
		"f.npy": func() (*Reader, error) { return Open(filepath.Join(dir, "f.npy")) },
		"c":     func() (*Reader, error) { return z.Open("c") },
		"held":  func() (*Reader, error) { return Pieces(&Array{Shape: []int{7, 3}, Data: want}), nil },
	} {
		for skip := range 4 {
			r, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Skip(skip); err != nil {
				t.Fatal(err)
			}
			var got []float32
			for len(got) < 21-skip {
				a, err := r.Next(4)
				if err != nil {
					t.Fatal(err)
				}
				x, _ := a.Float32s()
				if got = append(got, x...); len(x) == 0 {
					break
				}
			}
			if !slices.Equal(got, want[skip:]) {
				t.Errorf("%s without %d: %v", name, skip, got)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	r, err := Open(filepath.Join(dir, "c.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Skip(5)
	if a, _ := r.Next(2); a.Where(1) != r.Where(6) || !strings.HasSuffix(a.Where(1), "byte 152") {
		t.Errorf("%s, %s", a.Where(1), r.Where(6))
	}
}
