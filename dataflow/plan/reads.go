package plan

import "slices"

// SourceReads is how often a step loads its sources from host memory: the bytes that it loads of
// chunks at the far end of edges, divided by the bytes that loading each of them once per phase would
// take. 0: none streams. Loads of all devices count.
func (p *Plan) SourceReads() float64 {
	acc := Accesses(p.Spec)
	var loaded, once int64
	bytes := make([][]int64, len(p.Spec.Phases)) // by phase, then value: loaded
	for i := range bytes {
		bytes[i] = make([]int64, len(p.Spec.Values))
	}
	for i := range p.Tasks {
		if t := &p.Tasks[i]; t.Kind == Load && t.Value >= 0 {
			bytes[t.Phase][t.Value] += t.Bytes
		}
	}
	for i := range p.Spec.Phases {
		for id, a := range acc[i] {
			v := &p.Spec.Values[id]
			if !a.Other || p.Places.Resident[id] || v.Derive != nil {
				continue
			}
			all, n := p.HostBytesOf(id), bytes[i][id]
			if a.OwnRead { // as own rows it is loaded once, whatever the schedule: subtract that
				n = max(0, n-all)
			}
			loaded, once = loaded+n, once+all
		}
	}
	if once == 0 {
		return 0
	}
	return float64(loaded) / float64(once)
}

// HostBytes is how many bytes of host memory and files a run of the plan needs: for the cells of
// the graph with the lists of rows that loads gather, for inputs with padding, and for values that
// are swapped there between phases or are outputs.
func (p *Plan) HostBytes() (graph, inputs, stored int64) {
	graph = p.Cells.CellBytes() + ListBytes(p)
	for id, v := range p.Spec.Values {
		switch {
		case v.Kind == Input:
			inputs += p.HostBytesOf(id)
		case p.OnHost(id):
			stored += p.HostBytesOf(id)
		}
	}
	return graph, inputs, stored
}

// Moves tells whether a step copies anything besides its results.
func (p *Plan) Moves() bool { return p.H2D+p.D2H+p.D2D > 0 || p.Devices > 1 }

// Gathers tells whether a load gathers rows instead of copying a whole chunk.
func (p *Plan) Gathers() bool {
	return slices.ContainsFunc(p.Tasks, func(t Task) bool { return t.Is.Gather })
}

// Derives tells whether the program has values that are computed when a chunk arrives, each time
// that it arrives.
func (p *Plan) Derives() bool {
	return slices.ContainsFunc(p.Spec.Values, func(v Value) bool { return v.Derive != nil })
}
