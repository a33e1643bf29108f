package rows

import (
	"fmt"
	"math"
	"slices"

	"sagann/chunk"
)

// Kinds are the labels of the edges of a graph.
type Kinds struct {
	Rows  *Rows   // by the user's numbers
	Label []int32 // of each entry of Rows.Col
}

// LabelsError says that an edge does not have one label: its two directions, or entries that
// repeat it, differ.
type LabelsError struct {
	From, To uint32
	Labels   [2]uint32
}

// Error names the edge and two of its labels.
func (e *LabelsError) Error() string {
	return fmt.Sprintf("the edge between %d and %d has the labels %d and %d; both directions of an edge, and entries that repeat it, must have one label", e.From, e.To, e.Labels[0], e.Labels[1])
}

// KindsOf takes the labels of edges from the types of the edges that r was made from. Vertices of r have
// the user's numbers. An edge that does not have one label is a *LabelsError.
func KindsOf(r *Rows, e *chunk.Edges) (*Kinds, error) {
	k := &Kinds{Rows: r, Label: make([]int32, len(r.Col))}
	for i := range k.Label {
		k.Label[i] = -1
	}
	for i, u := range e.Src {
		v, label := e.Dst[i], e.Type[i]
		if u == v {
			continue
		}
		if label > math.MaxInt32 {
			return nil, fmt.Errorf("the edge between %d and %d has the label %d; the largest is %d", u, v, label, math.MaxInt32)
		}
		at := int64(i)
		if at >= int64(len(r.Col)) || r.Col[at] != v || at < r.Off[u] || at >= r.Off[u+1] {
			at = r.entry(u, v)
		}
		if have := k.Label[at]; have >= 0 && have != int32(label) {
			return nil, &LabelsError{u, v, [2]uint32{uint32(have), label}}
		}
		k.Label[at] = int32(label)
	}
	for u := range uint32(r.V()) {
		for at := r.Off[u] + int64(r.Mid[u]); at < r.Off[u+1]; at++ {
			if v := r.Col[at]; k.Label[at] != k.Label[r.entry(v, u)] {
				return nil, &LabelsError{u, v, [2]uint32{uint32(k.Label[at]), uint32(k.Label[r.entry(v, u)])}}
			}
		}
	}
	return k, nil
}

// entry is where v stands among the neighbours of u, or -1.
func (r *Rows) entry(u, v uint32) int64 {
	i, ok := slices.BinarySearch(r.Of(u), v)
	if !ok {
		return -1
	}
	return r.Off[u] + int64(i)
}

// Of is the label of the edge between two vertices with the user's numbers, -1 if there is none. A nil Kinds
// has no labels.
func (k *Kinds) Of(u, v uint32) int32 {
	if k == nil {
		return -1
	}
	if k.Rows.Degree(u) > k.Rows.Degree(v) {
		u, v = v, u
	}
	if at := k.Rows.entry(u, v); at >= 0 {
		return k.Label[at]
	}
	return -1
}

// KindsBytes is the memory that the labels of edges take.
func (r *Rows) KindsBytes() int64 { return 4 * int64(len(r.Col)) }
