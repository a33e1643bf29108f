package dataset

import (
	"fmt"
	"io"
	"strings"

	"sagann/chunk"
)

// readMTX reads a Matrix Market file (NIST, 1996) in coordinate format: a square
// matrix whose entry (i, j) is an edge from vertex i−1 to j−1. Fields are pattern
// (no weights), integer or real; symmetric and skew-symmetric matrices list one
// triangle, and the other is added, each reverse edge after its entry. Weights
// that are all 1 are dropped.
func readMTX(t *textFile) (*chunk.Edges, error) {
	h, err := mtxHeader(t)
	if err != nil {
		return nil, err
	}
	// The count may be wrong: reserve no more than a file of this size can have.
	room := int(min(h.entries, uint64(t.size)))
	if h.symmetry != "general" {
		room *= 2
	}
	e := &chunk.Edges{V: int(h.vertices), Src: make([]uint32, 0, room), Dst: make([]uint32, 0, room)}
	var weight []float32
	ones, read := true, uint64(0)
	add := func(i, j uint64, w float32) {
		e.Src, e.Dst = append(e.Src, uint32(i-1)), append(e.Dst, uint32(j-1))
		if !h.pattern {
			weight = append(weight, w)
			ones = ones && w == 1
		}
	}
	err = t.eachLine(func(line []byte) error {
		if read++; read > h.entries {
			return t.errorf("more than the %d entries of the header", h.entries)
		}
		i, j, w, err := h.entry(line)
		if err != nil {
			return t.errorf("%w", err)
		}
		add(i, j, w)
		switch {
		case h.symmetry == "general":
		case h.symmetry == "symmetric" && i != j:
			add(j, i, w)
		case h.symmetry == "skew-symmetric":
			if i == j {
				return t.errorf("entry (%d, %d) on the diagonal of a skew-symmetric matrix", i, j)
			}
			add(j, i, -w)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if read != h.entries {
		return nil, t.errorf("the file ends after %d of %d entries", read, h.entries)
	}
	if err := checkVertexCount(h.vertices, e.E()); err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	if !ones {
		e.Weight = weight
	}
	return e, nil
}

// mtxSize is the header of a Matrix Market file.
type mtxSize struct {
	pattern           bool
	symmetry          string
	vertices, entries uint64
}

func mtxHeader(t *textFile) (*mtxSize, error) {
	banner, err := t.next()
	if err == io.EOF {
		return nil, t.errorf("empty file")
	}
	if err != nil {
		return nil, err
	}
	w := strings.Fields(strings.ToLower(string(banner[:min(len(banner), 200)])))
	if len(w) != 5 || w[0] != "%%matrixmarket" || w[1] != "matrix" {
		return nil, t.errorf("not a Matrix Market file (want %%%%MatrixMarket matrix coordinate …)")
	}
	h := &mtxSize{pattern: w[3] == "pattern", symmetry: w[4]}
	switch {
	case w[2] != "coordinate":
		return nil, t.errorf("format %s: only coordinate matrices are graphs here", w[2])
	case !h.pattern && w[3] != "real" && w[3] != "double" && w[3] != "integer":
		return nil, t.errorf("field %s: pattern, integer and real are read", w[3])
	case h.symmetry != "general" && h.symmetry != "symmetric" && h.symmetry != "skew-symmetric":
		return nil, t.errorf("symmetry %s: general, symmetric and skew-symmetric are read", h.symmetry)
	case h.pattern && h.symmetry == "skew-symmetric":
		return nil, t.errorf("a skew-symmetric matrix needs values")
	}
	for {
		line, err := t.next()
		if err == io.EOF {
			return nil, t.errorf("the line of sizes is missing")
		}
		if err != nil {
			return nil, err
		}
		if len(strings.TrimSpace(string(line[:min(len(line), 100)]))) == 0 || line[0] == '%' {
			continue
		}
		return h, h.sizes(t, line)
	}
}

func (h *mtxSize) sizes(t *textFile, line []byte) error {
	f := fields([]byte(strings.TrimSpace(string(line))), nil)
	if len(f) != 3 {
		return t.errorf("%d sizes, want rows, columns and entries", len(f))
	}
	var n [3]uint64
	for k := range n {
		var err error
		if n[k], err = parseUint(f[k]); err != nil {
			return t.errorf("%w", err)
		}
	}
	if n[0] != n[1] {
		return t.errorf("a %d×%d matrix is not square: it is no graph", n[0], n[1])
	}
	h.vertices, h.entries = n[0], n[2]
	if n[0] > 1<<32-1 {
		return t.errorf("%d vertices; ids have 32 bits", n[0])
	}
	return nil
}

// entry reads row, column (from 1) and value.
func (h *mtxSize) entry(line []byte) (i, j uint64, w float32, err error) {
	a, rest := field(line)
	b, rest := field(rest)
	if i, err = parseUint(a); err == nil {
		j, err = parseUint(b)
	}
	if err != nil {
		return 0, 0, 0, err
	}
	if i < 1 || j < 1 || i > h.vertices || j > h.vertices {
		return 0, 0, 0, fmt.Errorf("entry (%d, %d) is outside 1..%d", i, j, h.vertices)
	}
	if h.pattern {
		if len(rest) > 0 {
			return 0, 0, 0, fmt.Errorf("a value in a pattern matrix")
		}
		return i, j, 1, nil
	}
	v, rest := field(rest)
	if len(rest) > 0 {
		return 0, 0, 0, fmt.Errorf("more than one value")
	}
	f, err := parseFloat(v)
	if err == nil {
		w, err = toFloat32(f)
	}
	return i, j, w, err
}
