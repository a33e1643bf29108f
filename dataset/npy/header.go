package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

const (
	magic     = "\x93NUMPY"
	maxHeader = 1 << 20
	maxDims   = 32
)

// header is the header of a file, before the elements.
type header struct {
	descr   string // such as "<f4"
	fortran bool
	shape   []int
	count   int   // product of shape
	size    int64 // bytes of the header itself, magic included
}

// readHeader reads and checks everything before the first element.
func readHeader(r io.Reader) (*header, error) {
	var pre [12]byte
	if _, err := io.ReadFull(r, pre[:8]); err != nil {
		return nil, errors.New("byte 0: too short for an .npy file")
	}
	if string(pre[:6]) != magic {
		return nil, errors.New("byte 0: not an .npy file (no \\x93NUMPY at its start)")
	}
	major := pre[6]
	lenSize := 2
	switch major {
	case 1:
	case 2, 3:
		lenSize = 4
	default:
		return nil, fmt.Errorf("byte 6: format version %d.%d; versions 1 to 3 are known", major, pre[7])
	}
	if _, err := io.ReadFull(r, pre[8:8+lenSize]); err != nil {
		return nil, errors.New("byte 8: the header's length is cut off")
	}
	n := int64(binary.LittleEndian.Uint32(pre[8:12]))
	if n > maxHeader {
		return nil, fmt.Errorf("byte 8: a header of %d bytes; the most is %d", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fmt.Errorf("byte %d: the header is cut off", 8+lenSize)
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return nil, fmt.Errorf("byte %d: header: %w", 8+lenSize, err)
	}
	h.size = int64(8+lenSize) + n
	return h, nil
}

// parseHeader reads the Python dictionary of the header: exactly the keys
// descr, fortran_order and shape.
func parseHeader(text string) (*header, error) {
	p := &literal{rest: text}
	h := &header{}
	seen := map[string]bool{}
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		key := p.str()
		p.expect(":")
		if p.err != nil {
			break
		}
		if seen[key] {
			return nil, fmt.Errorf("key %q stands twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			h.descr = p.str()
		case "fortran_order":
			h.fortran = p.boolean()
		case "shape":
			h.shape = p.tuple()
		default:
			return nil, fmt.Errorf("unknown key %q", key)
		}
		if !p.accept(",") {
			p.expect("}")
			break
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	if p.space(); p.rest != "" {
		return nil, fmt.Errorf("unexpected %.20q at its end", p.rest)
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return nil, fmt.Errorf("key %q is missing", key)
		}
	}
	return h, h.setCount()
}

// setCount computes the number of elements from the shape.
func (h *header) setCount() error {
	h.count = 1
	longest := 0
	for _, d := range h.shape {
		if d < 0 || d != 0 && h.count > math.MaxInt64/d {
			return fmt.Errorf("shape %v: too many elements", h.shape)
		}
		h.count *= d
		longest = max(longest, d)
	}
	if h.count == 0 && longest > 1<<32 {
		return fmt.Errorf("shape %v: more than 2^32 rows or columns of nothing", h.shape)
	}
	return nil
}

// literal parses the few kinds of Python literals that a header has. It keeps the first error;
// later calls do nothing.
type literal struct {
	rest string
	err  error
}

func (p *literal) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

func (p *literal) accept(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *literal) fail(want string) {
	if p.err == nil {
		p.err = fmt.Errorf("want %s before %.20q", want, p.rest)
	}
}

func (p *literal) expect(token string) {
	if p.err == nil && !p.accept(token) {
		p.fail(token)
	}
}

func (p *literal) str() string {
	for _, quote := range []string{"'", `"`} {
		if p.err == nil && p.accept(quote) {
			s, rest, ok := strings.Cut(p.rest, quote)
			if !ok {
				p.fail("a closing quote")
			}
			p.rest = rest
			return s
		}
	}
	p.fail("a string (structured arrays are not read)")
	return ""
}

func (p *literal) boolean() bool {
	switch {
	case p.accept("True"):
		return true
	case p.accept("False"):
		return false
	}
	p.fail("True or False")
	return false
}

func (p *literal) tuple() []int {
	dims := []int{}
	p.expect("(")
	for p.err == nil && !p.accept(")") {
		p.space()
		n := 0
		for n < len(p.rest) && '0' <= p.rest[n] && p.rest[n] <= '9' {
			n++
		}
		d, err := strconv.Atoi(p.rest[:n])
		if err != nil || len(dims) == maxDims {
			p.fail("a length of a dimension")
			break
		}
		p.rest = strings.TrimPrefix(p.rest[n:], "L") // written by Python 2
		dims = append(dims, d)
		if !p.accept(",") {
			p.expect(")")
			break
		}
	}
	return dims
}
