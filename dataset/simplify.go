package dataset

import (
	"cmp"
	"slices"

	"sagann/chunk"
)

// Simplify returns e without self loops and repeated edges, sorted by source,
// then destination. Of repeated edges it keeps the first, or the earliest if edges have
// times, with the sum of their weights and its own type, data and time.
// It takes O(V + E) time. e may have at most 2³²−1 edges.
func Simplify(e *chunk.Edges) *chunk.Edges { return simplify(e, false) }

// simplify is Simplify; loops keeps edges from a number to itself.
func simplify(e *chunk.Edges, loops bool) *chunk.Edges {
	order := make([]uint32, 0, e.E())
	for i := range e.Src {
		if loops || e.Src[i] != e.Dst[i] {
			order = append(order, uint32(i))
		}
	}
	if e.Time != nil {
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(e.Time[a], e.Time[b]) })
	}
	// Two stable counting sorts: by destination, then by source.
	order = countingSort(order, e.Dst, e.V)
	order = countingSort(order, e.Src, e.V)
	same := func(a, b uint32) bool { return e.Src[a] == e.Src[b] && e.Dst[a] == e.Dst[b] }
	var weight []float32
	for i := 0; e.Weight != nil && i < len(order); {
		sum, first := 0.0, order[i]
		for ; i < len(order) && same(first, order[i]); i++ {
			sum += float64(e.Weight[order[i]])
		}
		weight = append(weight, float32(sum))
	}
	order = slices.CompactFunc(order, same)
	out := permute(e, order)
	if e.Weight != nil {
		out.Weight = append(out.Weight[:0], weight...)
	}
	return out
}

// countingSort sorts the edges listed in order by their keys, stably. Keys are below v.
func countingSort(order, key []uint32, v int) []uint32 {
	start := make([]uint32, v+1)
	for _, i := range order {
		start[key[i]+1]++
	}
	for k := range v {
		start[k+1] += start[k]
	}
	out := make([]uint32, len(order))
	for _, i := range order {
		out[start[key[i]]] = i
		start[key[i]]++
	}
	return out
}

// permute returns the edges listed in order.
func permute(e *chunk.Edges, order []uint32) *chunk.Edges {
	out := &chunk.Edges{V: e.V, Types: e.Types, DataCols: e.DataCols}
	pick := func(x []uint32) []uint32 {
		if x == nil {
			return nil
		}
		y := make([]uint32, len(order))
		for k, i := range order {
			y[k] = x[i]
		}
		return y
	}
	out.Src, out.Dst, out.Type = pick(e.Src), pick(e.Dst), pick(e.Type)
	if e.Weight != nil {
		out.Weight = make([]float32, len(order))
		for k, i := range order {
			out.Weight[k] = e.Weight[i]
		}
	}
	if e.Time != nil {
		out.Time = make([]float64, len(order))
		for k, i := range order {
			out.Time[k] = e.Time[i]
		}
	}
	if e.Data != nil {
		n := e.DataCols
		out.Data = make([]float32, 0, len(order)*n)
		for _, i := range order {
			out.Data = append(out.Data, e.Data[int(i)*n:(int(i)+1)*n]...)
		}
	}
	return out
}
