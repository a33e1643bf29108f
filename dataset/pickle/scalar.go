package pickle

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"unicode/utf8"
)

// isScalar reports whether c is the function that makes NumPy's scalars, in some version of NumPy.
func isScalar(c Class) bool {
	return c.Name == "scalar" && strings.HasPrefix(c.Module, "numpy.") && strings.HasSuffix(c.Module, ".multiarray")
}

// scalar is the string, number or truth value that a call of numpy's scalar makes: of an element type, and bytes. ok is false
// for other types, such as dates.
func (m *machine) scalar(args Tuple) (x any, ok bool, err error) {
	if len(args) != 2 {
		return nil, false, nil
	}
	dtype, isType := args[0].(*Record)
	raw, isText := args[1].(string)
	if !isType || !isText || dtype.Class.Name != "dtype" {
		return nil, false, nil
	}
	name, _ := first(dtype.Args).(string)
	var order binary.ByteOrder = binary.LittleEndian
	if s, _ := dtype.State.(Tuple); len(s) > 1 && s[1] == ">" {
		order = binary.BigEndian
	}
	if name == "" {
		return nil, false, nil
	}
	// Bound the work, as bytes from the memo could be decoded again and again.
	if m.scalars += len(raw); m.scalars > len(m.file) {
		return nil, false, errors.New("the pickle repeats NumPy's scalars too often")
	}
	switch name[0] {
	case 'U':
		return wideText(raw, order)
	case 'S':
		return strings.TrimRight(raw, "\x00"), true, nil
	}
	x, ok = scalarNumber(name, raw, order)
	return x, ok, nil
}

// wideText decodes a text of four bytes a character; zeros at its end are no part of it.
func wideText(raw string, order binary.ByteOrder) (x any, ok bool, err error) {
	var out strings.Builder
	for ; len(raw) >= 4; raw = raw[4:] {
		c := order.Uint32([]byte(raw[:4]))
		if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
			return nil, false, errors.New("a string of NumPy with a character that is none")
		}
		out.WriteRune(rune(c))
	}
	if raw != "" {
		return nil, false, errors.New("a string of NumPy that is cut off")
	}
	return strings.TrimRight(out.String(), "\x00"), true, nil
}

// scalarNumber is a number or a truth value of an element type such as i8, from its bytes.
func scalarNumber(dtype, raw string, order binary.ByteOrder) (x any, ok bool) {
	var bits uint64
	for i := range len(raw) {
		at := i
		if order == binary.LittleEndian {
			at = len(raw) - 1 - i
		}
		bits = bits<<8 | uint64(raw[at])
	}
	switch dtype {
	case "b1", "i1", "u1":
		ok = len(raw) == 1
	case "i2", "u2":
		ok = len(raw) == 2
	case "i4", "u4", "f4":
		ok = len(raw) == 4
	case "i8", "u8", "f8":
		ok = len(raw) == 8
	}
	switch {
	case !ok || dtype == "u8" && bits > math.MaxInt64:
		return nil, false
	case dtype == "b1":
		return bits != 0, true
	case dtype == "f4":
		return float64(math.Float32frombits(uint32(bits))), true
	case dtype == "f8":
		return math.Float64frombits(bits), true
	case dtype[0] == 'i':
		unused := 64 - 8*len(raw)
		return int(int64(bits<<unused) >> unused), true
	}
	return int(bits), true
}
