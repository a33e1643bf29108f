package pickle

import (
	"strings"
	"testing"
)

// TestNesting: values that hold themselves, or nest too deep, are refused, however many paths lead to them; values that
// are shared, and the parent that PyG's storages name, are not.
func TestNesting(t *testing.T) {
	laughs := "]q\x000"
	for k := range byte(200) {
		laughs += "](h" + string([]byte{k}) + "h" + string([]byte{k}) + "eq" + string([]byte{k + 1}) + "0"
	}
	laughs += "h\xc8." // lists of two that are shared: 2²⁰⁰ paths
	for _, c := range []struct{ name, text, says string }{
		{"cycle of a list", "]q\x00h\x00a.", "holds itself"},
		{"cycle of a dictionary", "}q\x00X\x01\x00\x00\x00ah\x00s.", "holds itself"},
		{"cycle through a tuple", "]q\x00h\x00\x85a.", "holds itself"},
		{"cycle through a state", "ca\nb\n)R}q\x00bq\x01h\x00X\x01\x00\x00\x00ah\x01s0.", "holds itself"},
		{"parent", "ca\nb\n)R}q\x00bq\x01h\x00X\x07\x00\x00\x00_parenth\x01s0.", ""},
		{"shared", "]q\x00K\x01a0](h\x00h\x00e.", ""},
		{"63 lists", strings.Repeat("]", 64) + strings.Repeat("a", 63) + ".", ""},
		{"65 lists", strings.Repeat("]", 67) + strings.Repeat("a", 66) + ".", "more than 64 deep"},
		{"deep tuples", "N" + strings.Repeat("\x85", 100_000) + ".", "more than 64 deep"},
		{"deep calls", "N" + strings.Repeat("q\x000ca\nb\nh\x00\x85R", 100) + ".", "more than 64 deep"},
		{"laughs", laughs, "more than 64 deep"},
		{"wide and shared", "(" + strings.Repeat("K\x01", 1000) + "tq\x000(" + strings.Repeat("h\x00", 100_000) + "t.", ""},
	} {
		_, _, err := Read([]byte("\x80\x02"+c.text), func(Class) bool { return true })
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// TestValues: the number of values is bounded by the bytes that a pickle takes on disk.
func TestValues(t *testing.T) {
	for _, one := range []string{"]", "N\x94"} {
		text := []byte("\x80\x02" + strings.Repeat(one, spareValues+5000) + ".")
		_, _, err := ReadPacked(text, 100, func(Class) bool { return false })
		if err == nil || !strings.Contains(err.Error(), "values, in a file of 100 bytes") {
			t.Errorf("%q: %v", one, err)
		}
	}
	if x, _, err := Read([]byte("\x80\x02("+strings.Repeat("K\x01", 1000)+"l."), nil); err != nil || len(x.(*List).Items) != 1000 {
		t.Error(err)
	}
}
