package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxText is the most characters of one element of text. Names of vertices and classes are short.
const maxText = 1 << 12

// textKind is the kind of a type such as U12: texts of at most 12 characters, 4 bytes each, padded with
// zeros; or such as S12: texts of at most 12 bytes.
func textKind(descr string) (kind, bool) {
	if digits, ok := strings.CutPrefix(descr, "S"); ok {
		return byteKind(digits)
	}
	digits, ok := strings.CutPrefix(descr, "U")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || n > maxText {
		return kind{}, false
	}
	return kind{size: 4 * int64(n), turn: func(data any, shape []int) any { return rowMajor(data.([]string), shape) }, read: func(r io.Reader, count int, order binary.ByteOrder, _ any) (any, error) {
		out, buf := make([]string, count), make([]byte, 4*n)
		var text strings.Builder
		for i := range out {
			if _, err := io.ReadFull(r, buf); err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
			text.Reset()
			for at := 0; at < len(buf); at += 4 {
				c := order.Uint32(buf[at:])
				if c == 0 {
					break
				}
				if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
					return nil, fmt.Errorf("element %d: %#x is no character", i, c)
				}
				text.WriteRune(rune(c))
			}
			out[i] = text.String()
		}
		return out, nil
	}}, true
}

// byteKind is the kind of texts of at most so many bytes, in UTF-8 and padded with zeros.
func byteKind(digits string) (kind, bool) {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > maxText {
		return kind{}, false
	}
	return kind{size: int64(n), turn: func(data any, shape []int) any { return rowMajor(data.([]string), shape) }, read: func(r io.Reader, count int, _ binary.ByteOrder, _ any) (any, error) {
		out, buf := make([]string, count), make([]byte, n)
		for i := range out {
			if _, err := io.ReadFull(r, buf); err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
			out[i] = strings.TrimRight(string(buf), "\x00")
			if !utf8.ValidString(out[i]) {
				return nil, fmt.Errorf("element %d: %.40q is no text in UTF-8", i, out[i])
			}
		}
		return out, nil
	}}, true
}

// Strings returns the elements of an array of texts.
func (a *Array) Strings() ([]string, error) {
	s, ok := a.Data.([]string)
	if !ok {
		return nil, fmt.Errorf("%s: numbers where texts should be", a.Where(0))
	}
	return s, nil
}
