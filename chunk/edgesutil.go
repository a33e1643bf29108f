package chunk

import (
	"fmt"
	"math"
)

// MaxDataCols bounds the width of edge data.
const MaxDataCols = 1 << 20

// Validate checks lengths, ids, types, and that weights and data are finite. The
// error names the first edge at fault, counted from 0.
func (e *Edges) Validate() error {
	n := len(e.Src)
	if e.V < 0 || e.V > MaxVertices {
		return fmt.Errorf("chunk: %d vertices, want 0 to %d", e.V, MaxVertices)
	}
	if len(e.Dst) != n {
		return fmt.Errorf("chunk: %d sources but %d destinations", n, len(e.Dst))
	}
	if e.Weight != nil && len(e.Weight) != n {
		return fmt.Errorf("chunk: %d weights for %d edges", len(e.Weight), n)
	}
	if err := e.validTypes(); err != nil {
		return err
	}
	if e.DataCols < 0 || e.DataCols > MaxDataCols {
		return fmt.Errorf("chunk: edge data of %d columns, want 0 to %d", e.DataCols, MaxDataCols)
	}
	if len(e.Data) != n*e.DataCols {
		return fmt.Errorf("chunk: %d values of edge data for %d edges of %d columns", len(e.Data), n, e.DataCols)
	}
	for k, s := range e.Src {
		if d := e.Dst[k]; int64(s) >= int64(e.V) || int64(d) >= int64(e.V) {
			return fmt.Errorf("chunk: edge %d goes from %d to %d, but the graph has %d vertices", k, s, d, e.V)
		}
	}
	if k := notFinite(e.Weight); k >= 0 {
		return fmt.Errorf("chunk: edge %d has weight %v", k, e.Weight[k])
	}
	if k := notFinite(e.Data); k >= 0 {
		return fmt.Errorf("chunk: edge %d has %v in column %d of its data", k/e.DataCols, e.Data[k], k%e.DataCols)
	}
	return nil
}

func (e *Edges) validTypes() error {
	if e.Type == nil {
		if e.Types != 0 {
			return fmt.Errorf("chunk: %d edge types, but no edge has a type", e.Types)
		}
		return nil
	}
	if len(e.Type) != len(e.Src) {
		return fmt.Errorf("chunk: %d edge types for %d edges", len(e.Type), len(e.Src))
	}
	if e.Types < 0 {
		return fmt.Errorf("chunk: %d edge types", e.Types)
	}
	for k, t := range e.Type {
		if int64(t) >= int64(e.Types) {
			return fmt.Errorf("chunk: edge %d has type %d of %d", k, t, e.Types)
		}
	}
	return nil
}

// notFinite is the index of the first NaN or infinity, or -1.
func notFinite(x []float32) int {
	const exponent = 0x7f800000
	for i, v := range x {
		if math.Float32bits(v)&exponent == exponent {
			return i
		}
	}
	return -1
}

// InDegrees counts the edges that end in each vertex: V values.
func (e *Edges) InDegrees() []uint32 { return degrees(e.V, e.Dst) }

// OutDegrees counts the edges that start in each vertex: V values.
func (e *Edges) OutDegrees() []uint32 { return degrees(e.V, e.Src) }

func degrees(v int, ends []uint32) []uint32 {
	n := make([]uint32, v)
	for _, x := range ends {
		n[x]++
	}
	return n
}

// Reverse turns every edge round. The result shares all memory with e.
func (e *Edges) Reverse() *Edges {
	r := *e
	r.Src, r.Dst = e.Dst, e.Src
	return &r
}

// WithSelfLoops is a copy of the edges to which every vertex without a self loop
// gets one: appended in vertex order, weight 1, type 0, data zero.
func (e *Edges) WithSelfLoops() *Edges {
	has := make([]bool, e.V)
	missing := e.V
	for k, s := range e.Src {
		if s == e.Dst[k] && !has[s] {
			has[s] = true
			missing--
		}
	}
	r := e.grow(missing)
	for v, h := range has {
		if h {
			continue
		}
		r.Src, r.Dst = append(r.Src, uint32(v)), append(r.Dst, uint32(v))
		if e.Weight != nil {
			r.Weight = append(r.Weight, 1)
		}
		if e.Type != nil {
			r.Type = append(r.Type, 0)
		}
		r.Data = r.Data[:len(r.Data)+e.DataCols] // zero: grow made the room
	}
	if r.Type != nil {
		r.Types = max(r.Types, 1)
	}
	return r
}

// grow copies the edges with room for n more. The room is zero.
func (e *Edges) grow(n int) *Edges {
	r := &Edges{V: e.V, Types: e.Types, DataCols: e.DataCols}
	r.Src, r.Dst = growSlice(e.Src, n), growSlice(e.Dst, n)
	r.Weight, r.Type = growSlice(e.Weight, n), growSlice(e.Type, n)
	if e.DataCols > 0 {
		r.Data = make([]float32, len(e.Data), len(e.Data)+n*e.DataCols)
		copy(r.Data, e.Data)
	}
	return r
}

func growSlice[T any](s []T, n int) []T {
	if s == nil {
		return nil
	}
	r := make([]T, len(s), len(s)+n)
	copy(r, s)
	return r
}
