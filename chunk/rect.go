package chunk

// Rect is one cell of edges between two row sets of any sizes, such as the levels of a
// sampled block: own rows on one side, far rows on the other.
type Rect struct {
	Cell
	Mem []byte // the block; View reads it
}

// RectOf is how a Rect of so many own rows and edges is laid out.
func RectOf(rows int, edges int64, w Want, dataCols int) Cell {
	w.Pack = false
	return layOut(rows, rows, edges, w, dataCols, 0)
}

// Resize lays r out for so many own rows and edges, with what w wants beside them and
// dataCols numbers of data. Its memory is used again where it is large enough; what is in
// it is not defined, and the caller fills the parts of View.
func (r *Rect) Resize(rows int, edges int64, w Want, dataCols int) {
	r.Cell = RectOf(rows, edges, w, dataCols)
	if int64(len(r.Mem)) < r.Bytes {
		r.Mem = newArena(r.Bytes + r.Bytes/8)
	}
}

// View is the cell as typed slices, which alias Mem.
func (r *Rect) View() View { return ViewOf(&r.Cell, r.Mem) }

// Transpose makes r the edges of from seen from the far end, which has so many rows: edges
// of a row stand in the order in which from has them. w is that of from.
func (r *Rect) Transpose(from *Rect, far int, w Want) {
	r.Resize(far, from.NNZ, w, from.DataCols)
	a, b := from.View(), r.View()
	clear(b.Ptr)
	for _, f := range a.Other {
		b.Ptr[f]++ // the row's edges, then where it ends, then where it begins
	}
	sum := uint32(0)
	for i := range b.Ptr {
		sum += b.Ptr[i]
		b.Ptr[i] = sum
	}
	for row := len(a.Ptr) - 2; row >= 0; row-- {
		for e := int(a.Ptr[row+1]) - 1; e >= int(a.Ptr[row]); e-- {
			f := a.Other[e]
			b.Ptr[f]--
			to := int(b.Ptr[f])
			b.Other[to] = uint32(row)
			move(b.Rank, a.Rank, to, e)
			move(b.Type, a.Type, to, e)
			move(b.Weight, a.Weight, to, e)
			if n := from.DataCols; a.Data != nil {
				copy(b.Data[to*n:(to+1)*n], a.Data[e*n:])
			}
		}
	}
}

// move copies entry e of from to entry i, unless there is no such part.
func move[T any](to, from []T, i, e int) {
	if from != nil {
		to[i] = from[e]
	}
}
