package pickle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func all(Class) bool { return true }

func TestRead(t *testing.T) {
	for file, want := range map[string]any{
		"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x02hi\x94.": "hi",
		"\x80\x02(K\x01M\x02\x01J\xff\xff\xff\xff\x88Nt.":             Tuple{1, 258, -1, true, nil},
		"\x8a\x00.":                          0,
		"\x8a\x01\xfe.":                      -2,
		"G\x3f\xf8\x00\x00\x00\x00\x00\x00.": 1.5,
		"I01\n.":                             true,
		"}(X\x01\x00\x00\x00aK\x01X\x01\x00\x00\x00aK\x02u.": &Dict{[]Pair{{"a", 1}, {"a", 2}}},
		"X\x01\x00\x00\x00kQ.":                               Persistent{"k"},
		"\x8c\x01m\x8c\x01C\x93)\x81}\x8c\x01aK\x01sb.":      &Record{Class: Class{"m", "C"}, Args: Tuple{}, State: &Dict{[]Pair{{"a", 1}}}},
		"cm\nD\n)R(K\x01K\x02u.":                             &Record{Class: Class{"m", "D"}, Args: Tuple{}, Pairs: []Pair{{1, 2}}},
		"\x8f(K\x01K\x02\x90.":                               &List{[]any{1, 2}},
	} {
		x, size, err := Read([]byte(file+"rest"), all)
		if err != nil || size != len(file) || !cmp.Equal(x, want) {
			t.Errorf("%q: %#v of %d bytes, %v", file, x, size, err)
		}
	}
	d := &Dict{[]Pair{{"a", 1}, {"a", 2}}}
	if x, ok := d.Get("a"); x != 2 || !ok {
		t.Errorf("the last value is %v", x)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x02hi\x94."))
	f.Add([]byte("\x8c\x01m\x8c\x01C\x93)\x81}\x8c\x01aK\x01sb."))
	f.Add([]byte("cm\nD\n)R(K\x01K\x02u."))
	f.Fuzz(func(t *testing.T, file []byte) {
		x, size, err := Read(file, all)
		if err == nil && (size > len(file) || Kind(x) == "mark") {
			t.Fatalf("%v of %d bytes", Kind(x), size)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Fatalf("an error of %d bytes", len(err.Error()))
		}
	})
}
