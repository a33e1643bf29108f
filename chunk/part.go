package chunk

// Part is the edges whose numbers list has, in its order, between the same vertices. The edges have passed Lengths; an error is that of
// Validate, if an edge of the part does not pass it.
func (e *Edges) Part(list []uint32) (*Edges, error) {
	p := &Edges{V: e.V, Types: e.Types, DataCols: e.DataCols}
	p.Src, p.Dst, p.Weight, p.Type, p.Time = pick(e.Src, list), pick(e.Dst, list), pick(e.Weight, list), pick(e.Type, list), pick(e.Time, list)
	if n := e.DataCols; n > 0 {
		p.Data = make([]float32, 0, len(list)*n)
		for _, k := range list {
			p.Data = append(p.Data, e.Data[int(k)*n:int(k+1)*n]...)
		}
	}
	if p.Validate() != nil { // it numbers edges as the part does
		return nil, e.Validate()
	}
	return p, nil
}

// pick is the values of x at the places of list; nil if x is.
func pick[T any](x []T, list []uint32) []T {
	if x == nil {
		return nil
	}
	y := make([]T, len(list))
	for i, k := range list {
		y[i] = x[k]
	}
	return y
}
