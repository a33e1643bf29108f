package plan

import (
	"fmt"
	"strings"

	"sagann/mine/pattern"
)

// String is the plan as nested loops. v3 is the vertex bound to pattern vertex 3, N its
// neighbours, and < the order of the graph's vertices.
func (p *Plan) String() string {
	var b strings.Builder
	for l, level := range p.Levels {
		indent := strings.Repeat("  ", l)
		fmt.Fprintf(&b, "%sfor v%d in %s%s\n", indent, level.Vertex, p.source(level.From), p.limits(l))
		for _, s := range level.Make {
			set, sign := p.Sets[s], "∩"
			if set.Minus {
				sign = "∖"
			}
			fmt.Fprintf(&b, "%s  %s = %s %s N(%s)%s\n", indent, p.source(s), p.source(set.Base), sign, p.name(set.Of), p.window(set.Above, set.Below, ""))
		}
	}
	switch p.Pair {
	case Product, Unlike:
		b.WriteString("the last two loops are counted as a product\n")
	case Unordered:
		b.WriteString("the last two loops are counted as pairs of one set\n")
	}
	return b.String()
}

// name is the vertex of a level.
func (p *Plan) name(level int) string { return fmt.Sprintf("v%d", p.Order[level]) }

// source is the name of a set; sets that are made are numbered from 1.
func (p *Plan) source(set int) string {
	if set == None {
		return "all vertices"
	}
	if s := p.Sets[set]; s.Base == None {
		return "N(" + p.name(s.Of) + ")"
	}
	number := 0
	for _, s := range p.Sets[:set+1] {
		if s.Base != None {
			number++
		}
	}
	return fmt.Sprintf("S%d", number)
}

// limits is the text of all conditions of a candidate of the level, apart from being in its set.
func (p *Plan) limits(l int) string {
	level := p.Levels[l]
	text := p.window(level.Above, level.Below, p.name(l))
	for _, m := range level.Apart {
		text += ", not " + p.name(m)
	}
	if level.Label != pattern.AnyLabel {
		text += fmt.Sprintf(", label %d", level.Label)
	}
	if level.Degree > 1 {
		text += fmt.Sprintf(", degree from %d", level.Degree)
	}
	for _, e := range level.Where {
		text += ", if " + e.String()
	}
	return text
}

// window prints v0 < x for a window of the candidate x.
func (p *Plan) window(above, below []int, x string) string {
	text := ""
	for _, m := range above {
		text += ", " + p.name(m) + " < " + x
	}
	for _, m := range below {
		text += ", " + x + " < " + p.name(m)
	}
	if x == "" {
		text = strings.NewReplacer(" < , ", " <, ", ",  < ", ", < ").Replace(text)
		text = strings.TrimSuffix(text, " ")
	}
	return text
}
