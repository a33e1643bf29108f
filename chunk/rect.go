package chunk

// Rect is one cell of edges between two row sets of any sizes, such as the levels of a
// sampled block: own rows on one side, far rows on the other.
type Rect struct {
	Cell
	Mem []byte // the block; View reads it
}

// RectOf is the layout of a Rect with rows own rows and so many edges.
func RectOf(rows int, edges int64, w Want, dataCols int) Cell {
	w.Pack = false
	return layOut(rows, rows, edges, w, dataCols, 0)
}

// Resize lays r out for rows own rows and so many edges, with the values that w wants and
// dataCols values of data an edge. It reuses r's memory if that is large enough. The contents are
// undefined, and the caller must fill all parts of View.
func (r *Rect) Resize(rows int, edges int64, w Want, dataCols int) {
	r.Cell = RectOf(rows, edges, w, dataCols)
	if int64(len(r.Mem)) < r.Bytes {
		r.Mem = newArena(r.Bytes + r.Bytes/8)
	}
}

// View is the cell as typed slices, which alias Mem.
func (r *Rect) View() View { return ViewOf(&r.Cell, r.Mem) }

// Transpose makes r the transpose of from: its own rows are the far rows of from, far of them. The
// edges of a row are in the order in which from has them. w is the Want of from.
func (r *Rect) Transpose(from *Rect, far int, w Want) {
	r.Resize(far, from.NNZ, w, from.DataCols)
	a, b := from.View(), r.View()
	clear(b.Ptr)
	for _, f := range a.Other {
		b.Ptr[f]++ // counts the row's edges; becomes the row's end, and then its beginning
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

// move copies entry e of from to entry i of to, unless the part is absent (nil).
func move[T any](to, from []T, i, e int) {
	if from != nil {
		to[i] = from[e]
	}
}
