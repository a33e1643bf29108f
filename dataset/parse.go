package dataset

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// isSeparator reports whether c separates fields of a line.
func isSeparator(c byte) bool {
	return c == ' ' || c == '\t' || c == ',' || c == ';'
}

// field cuts the first field off line. Blanks around a comma or semicolon belong
// to the separator. Two commas in a row make an empty field.
func field(line []byte) (first, rest []byte) {
	i := 0
	for i < len(line) && !isSeparator(line[i]) {
		i++
	}
	first = line[:i]
	marks := 0
	for i < len(line) && isSeparator(line[i]) {
		if line[i] == ',' || line[i] == ';' {
			if marks++; marks > 1 {
				break
			}
		}
		i++
	}
	return first, line[i:]
}

// fields cuts line into its fields, reusing the slice into.
func fields(line []byte, into [][]byte) [][]byte {
	into = into[:0]
	for len(line) > 0 {
		var f []byte
		f, line = field(line)
		into = append(into, f)
	}
	return into
}

// parseUint reads a decimal number without sign.
func parseUint(s []byte) (uint64, error) {
	if len(s) == 0 {
		return 0, errors.New("a number is missing")
	}
	n := uint64(0)
	for _, c := range s {
		d := uint64(c - '0')
		if d > 9 {
			if s[0] == '-' {
				return 0, fmt.Errorf("%.40q is negative or no number", s)
			}
			return 0, fmt.Errorf("%.40q is not a whole number", s)
		}
		if n > (math.MaxUint64-d)/10 {
			return 0, fmt.Errorf("%.40q is too large", s)
		}
		n = n*10 + d
	}
	return n, nil
}

// parseInt reads a decimal number, also one written as 3.0.
func parseInt(s []byte) (int64, error) {
	if n, err := strconv.ParseInt(string(s), 10, 64); err == nil {
		return n, nil
	}
	f, err := parseFloat(s)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, fmt.Errorf("%.40q is not a whole number", s)
	}
	return int64(f), nil
}

// powersOfTen are the powers of ten that float64 holds exactly.
var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
	1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseFloat reads a finite decimal number. A number of at most 15 digits and 22
// decimals is the quotient of two exact float64, so one division rounds it
// correctly. All other numbers are parsed by strconv.
func parseFloat(s []byte) (float64, error) {
	digits, decimals, mantissa := 0, 0, uint64(0)
	point, negative := false, false
	for i, c := range s {
		switch {
		case '0' <= c && c <= '9':
			mantissa = mantissa*10 + uint64(c-'0')
			digits++
			if point {
				decimals++
			}
		case c == '.' && !point:
			point = true
		case c == '-' && i == 0:
			negative = true
		default:
			return slowFloat(s)
		}
		if digits > 15 {
			return slowFloat(s)
		}
	}
	if digits == 0 {
		return slowFloat(s)
	}
	f := float64(mantissa) / powersOfTen[decimals]
	if negative {
		f = -f
	}
	return f, nil
}

func slowFloat(s []byte) (float64, error) {
	if len(s) == 0 {
		return 0, errors.New("a number is missing")
	}
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a number", s)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%.40q is not finite", s)
	}
	return f, nil
}

// toFloat32 rounds f to float32. It is an error if the result is infinite.
func toFloat32(f float64) (float32, error) {
	x := float32(f)
	if math.IsInf(float64(x), 0) {
		return 0, fmt.Errorf("%v is too large for float32", f)
	}
	return x, nil
}

// checkVertexCount returns an error if the number of vertices is implausibly large for so many edges (or
// entries). The number comes from a header or a single id, and decides how much memory is allocated.
func checkVertexCount(vertices uint64, edges int) error {
	if limit := 1<<24 + 64*uint64(edges); vertices > min(limit, math.MaxUint32) {
		return fmt.Errorf("%d vertices with %d edges: ids are too sparse (at most %d vertices)", vertices, edges, min(limit, math.MaxUint32))
	}
	return nil
}
