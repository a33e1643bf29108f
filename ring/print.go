package ring

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Text prints the tree, the loaders, the ring and the reasons, for people.
func (r *Ring) Text(w io.Writer) error {
	var b strings.Builder
	t := r.Tree
	fmt.Fprintf(&b, "%s\nhost\n", t.Name)
	t.text(&b, -1, "  ", r.Loaders)
	if t.bridged() {
		fmt.Fprintf(&b, "bridge between sockets: %s\n", speeds(t.Bridge))
	}
	var loads, ring []string
	rates := t.loads(r.Loaders)
	for i, g := range r.Loaders {
		loads = append(loads, fmt.Sprintf("%s %d of %d at %s", t.GPUs[g].Name, r.Takes[i], len(r.Order), rateText(rates[i])))
	}
	fmt.Fprintf(&b, "loaders  %s\n", strings.Join(loads, ", "))
	for _, g := range r.Order {
		ring = append(ring, t.GPUs[g].Name)
	}
	if len(ring) > 1 {
		ring = append(ring, ring[0])
	}
	fmt.Fprintf(&b, "ring     %s\n", strings.Join(ring, " > "))
	for i, g := range r.Order {
		if from := r.Order[(i+len(r.Order)-1)%len(r.Order)]; from != g {
			fmt.Fprintf(&b, "  %s > %s  %s, alone %s\n", t.GPUs[from].Name, t.GPUs[g].Name, t.peer(from, g).Kind, rateText(t.alone(from, g)))
		}
	}
	b.WriteString("why\n")
	for _, s := range r.Why {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Tree) text(b *strings.Builder, parent int, indent string, loaders []int) {
	for l := range t.Links {
		if t.Links[l].Parent != parent {
			continue
		}
		fmt.Fprintf(b, "%s%s  %s", indent, t.Links[l].Name, speeds(t.Links[l]))
		for g := range t.GPUs {
			if t.GPUs[g].Link == l {
				fmt.Fprintf(b, "  [%s]", t.GPUs[g].Name)
				if slices.Contains(loaders, g) {
					b.WriteString(" loads")
				}
			}
		}
		b.WriteByte('\n')
		t.text(b, l, indent+"  ", loaders)
	}
}

// bridged reports whether there are several sockets.
func (t *Tree) bridged() bool {
	n := 0
	for _, l := range t.Links {
		if l.Parent < 0 {
			n++
		}
	}
	return n > 1
}

func speeds(l Link) string {
	if l.Down == l.Up {
		return rateText(l.Down)
	}
	return fmt.Sprintf("%s down, %s up", rateText(l.Down), rateText(l.Up))
}

// Dot prints the tree and the ring for Graphviz: loaders are filled, copies of the
// ring are bold, dashed where they go through host memory.
func (r *Ring) Dot(w io.Writer) error {
	t := r.Tree
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n\trankdir=TB; node [shape=box, fontname=\"sans-serif\"]; edge [fontname=\"sans-serif\", fontsize=10];\n\thost [label=\"host memory\"];\n", t.Name)
	for l, link := range t.Links {
		from := "host"
		if link.Parent >= 0 {
			from = fmt.Sprintf("l%d", link.Parent)
		}
		fmt.Fprintf(&b, "\tl%d [label=%q, shape=ellipse];\n\t%s -> l%d [dir=none, label=%q];\n", l, link.Name, from, l, speeds(link))
	}
	for g, gpu := range t.GPUs {
		fill := ""
		if slices.Contains(r.Loaders, g) {
			fill = ", style=filled, fillcolor=lightblue"
		}
		fmt.Fprintf(&b, "\tg%d [label=%q%s];\n\tl%d -> g%d [dir=none];\n", g, gpu.Name, fill, gpu.Link, g)
	}
	for i, g := range r.Order {
		from := r.Order[(i+len(r.Order)-1)%len(r.Order)]
		if from == g {
			continue
		}
		style := "bold"
		if t.peer(from, g).Kind == Staged {
			style = "\"bold,dashed\""
		}
		fmt.Fprintf(&b, "\tg%d -> g%d [constraint=false, color=blue, style=%s];\n", from, g, style)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
