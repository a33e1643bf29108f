package plan

import (
	"maps"
	"slices"
)

// Sweeps of a graph with several types of vertices. A phase works on the rows of all types, one type after the other. byType makes a
// phase of each, so that what the rows of one type alone read at the far end is there for their phase only. Then it moves those phases as
// far as what they read and write allows: what is made of inputs is made right before it is read, and two phases in a row over the same
// type become one, in which what both read of a visited interval is loaded once.

// part is what phases do with the rows of one type.
type part struct {
	Phase
	kind  uint16 // the type
	rows  bool   // it has rows: other than Globals alone
	made  bool   // of inputs and Globals alone
	reads usedBy
	write usedBy
	after []int // parts that must come before it
}

// usedBy says which values and Globals something reads, or writes.
type usedBy struct{ own, far, global map[int]bool }

// byType is s with phases of one type each; s itself if it has but one.
func byType(s *Spec) *Spec {
	parts := partsOf(s)
	if len(parts) == len(s.Phases) {
		return s
	}
	for i := range parts {
		for k := range i {
			if parts[i].meets(&parts[k]) > 0 {
				parts[i].after = append(parts[i].after, k)
			}
		}
	}
	out := *s
	out.Phases = nil
	for _, p := range joined(parts) {
		out.Phases = append(out.Phases, p.Phase)
	}
	return &out
}

// partsOf divides the phases of s by type.
func partsOf(s *Spec) (parts []part) {
	for _, ph := range s.Phases {
		var first []Step // Globals
		of := map[uint16][]Step{}
		for _, st := range ph.Steps {
			if st.Kind == Globals {
				first = append(first, st)
			} else {
				of[st.Type] = append(of[st.Type], st)
			}
		}
		if first != nil {
			parts = append(parts, partOf(s, Phase{Label: ph.Label, Steps: first}, 0))
		}
		for _, t := range slices.Sorted(maps.Keys(of)) {
			parts = append(parts, partOf(s, Phase{Label: ph.Label, Steps: of[t]}, t))
		}
	}
	return parts
}

func partOf(s *Spec, ph Phase, t uint16) part {
	p := part{Phase: ph, kind: t, made: true, reads: newUsedBy(), write: newUsedBy()}
	for _, st := range ph.Steps {
		p.rows = p.rows || st.Kind != Globals
		for _, c := range st.Calls {
			p.uses(s, &c)
		}
	}
	for id := range s.Values {
		if v := &s.Values[id]; v.Kind == Stored && (p.reads.own[id] && !p.write.own[id] || p.reads.far[id]) {
			p.made = false
		}
	}
	return p
}

func newUsedBy() usedBy { return usedBy{map[int]bool{}, map[int]bool{}, map[int]bool{}} }

// uses adds what call c reads and writes.
func (p *part) uses(s *Spec, c *Call) {
	for _, o := range c.Operands {
		to := &p.reads
		if o.Write {
			to = &p.write
		}
		switch o.Kind {
		case OwnValue:
			to.own[o.ID] = true
		case OtherValue:
			if d := s.Values[o.ID].Derive; d == nil {
				to.far[o.ID] = true
			} else if !o.Write {
				p.uses(s, d)
			}
		case GlobalRef:
			to.global[o.ID] = true
		}
	}
}

// meets tells whether p must come after q, which it does now: 1: it reads or writes rows of visited intervals that q writes, or writes
// such that q reads; 2: rows at the far end, or Globals.
func (p *part) meets(q *part) int {
	common := func(a, b map[int]bool) bool {
		for id := range a {
			if b[id] {
				return true
			}
		}
		return false
	}
	switch {
	case common(p.reads.far, q.write.own) || common(p.write.own, q.reads.far):
		return 2
	case common(p.reads.global, q.write.global) || common(p.write.global, q.reads.global) || common(p.write.global, q.write.global):
		return 2
	case common(p.reads.own, q.write.own) || common(p.write.own, q.reads.own) || common(p.write.own, q.write.own):
		return 1
	}
	return 0
}

// joined orders parts, from the last to the first, and joins them.
func joined(parts []part) []part {
	left := make([]int, len(parts)) // parts that must come after it and have no place yet
	for i := range parts {
		for _, k := range parts[i].after {
			left[k]++
		}
	}
	placed := make([]bool, len(parts))
	var out []part
	for range parts {
		next, best := -1, -1
		for i := range parts {
			if placed[i] || left[i] > 0 {
				continue
			}
			score := 0
			switch {
			case len(out) > 0 && joins(&parts[i], &out[len(out)-1]):
				score = 2
			case parts[i].made && parts[i].rows:
				score = 1
			}
			if score >= best { // of equals the last
				next, best = i, score
			}
		}
		p := parts[next]
		placed[next] = true
		for _, k := range p.after {
			left[k]--
		}
		if n := len(out) - 1; best == 2 {
			out[n] = p.join(&out[n])
		} else {
			out = append(out, p)
		}
	}
	slices.Reverse(out)
	return out
}

// joins tells whether q, which follows p, can be one phase with it.
func joins(p, q *part) bool { return p.rows && q.rows && p.kind == q.kind && q.meets(p) < 2 }

// join is p followed by q in one phase.
func (p *part) join(q *part) part {
	out := part{Phase: Phase{Label: p.Label}, kind: p.kind, rows: true, made: p.made && q.made, reads: newUsedBy(), write: newUsedBy()}
	for _, x := range []*part{p, q} {
		for _, st := range x.Steps {
			if st.Kind == Globals {
				out.Steps = append(out.Steps, st)
			}
		}
		for _, pair := range [][2]*usedBy{{&out.reads, &x.reads}, {&out.write, &x.write}} {
			maps.Copy(pair[0].own, pair[1].own)
			maps.Copy(pair[0].far, pair[1].far)
			maps.Copy(pair[0].global, pair[1].global)
		}
	}
	for _, x := range []*part{p, q} {
		for _, st := range x.Steps {
			if st.Kind != Globals {
				out.Steps = append(out.Steps, st)
			}
		}
	}
	return out
}
