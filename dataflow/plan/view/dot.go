package view

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"sagann/dataflow/plan"
)

// dotLimit is the largest number of nodes of a drawing. Graphviz is slow with more, and nobody could
// read them.
const dotLimit = 400

// Dot writes the task graph of p in Graphviz form: one node per task, in a box for each phase of
// each queue, and one edge per dependence. Dashed edges are the order of a queue where there is no
// dependence. A plan of more than 400 tasks is summarised: tasks of one queue and phase that do the
// same to different chunks are one node, and edges have the number of dependences. The label of the
// graph says what was summarised and left out. The error is that of w. Cost: O(tasks + dependences).
func Dot(p *plan.Plan, w io.Writer) error {
	g := &dotGraph{p: p, edges: map[[2]int]int{}, whole: len(p.Tasks) <= dotLimit}
	g.collect()
	b := bufio.NewWriter(w)
	g.write(b)
	return b.Flush()
}

// dotGraph is what is drawn: nodes in the order of their first tasks.
type dotGraph struct {
	p       *plan.Plan
	whole   bool // a node a task
	nodes   []dotNode
	of      []int // node of each task, -1 when it was left out
	left    int   // tasks without a node
	edges   map[[2]int]int
	order   [][2]int        // keys of edges in the order in which they were found
	ordered map[[2]int]bool // by key: the edge is only the order of a queue
}

type dotNode struct {
	text  string
	box   [3]int // device, queue, phase
	tasks int
	bytes int64
}

func (g *dotGraph) collect() {
	p := g.p
	g.of, g.ordered = make([]int, len(p.Tasks)), map[[2]int]bool{}
	known := map[string]int{}
	last := make([]int, max(1, p.Devices)*int(plan.Queues))
	for q := range last {
		last[q] = -1
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		text := p.DescribeTask(t)
		if !g.whole {
			text = p.Activity(t)
		}
		box := [3]int{int(t.Device), int(t.Queue), int(t.Phase)}
		if t.Kind == plan.Update || t.Kind == plan.Results {
			box[2] = len(p.Spec.Phases) // after all phases
		}
		key := fmt.Sprint(box, text)
		n, ok := known[key]
		switch {
		case g.whole || !ok && len(g.nodes) < dotLimit:
			n = len(g.nodes)
			known[key] = n
			g.nodes = append(g.nodes, dotNode{text: text, box: box})
		case !ok:
			g.of[i] = -1
			g.left++
			continue
		}
		g.of[i] = n
		g.nodes[n].tasks++
		if t.Queue != plan.Compute {
			g.nodes[n].bytes += t.Bytes
		}
		for _, d := range p.Deps[t.Deps[0]:t.Deps[1]] {
			g.edge(g.of[d], n, false)
		}
		lane := t.Lane()
		g.edge(last[lane], n, true)
		last[lane] = n
	}
}

// edge adds an edge from node a to node b. With order it is only the order of a queue; a dependence
// between the same nodes replaces it.
func (g *dotGraph) edge(a, b int, order bool) {
	if a < 0 || a == b {
		return
	}
	k := [2]int{a, b}
	if _, known := g.edges[k]; !known {
		g.order = append(g.order, k)
		g.ordered[k] = order
		g.edges[k] = 0
	}
	if !order {
		g.ordered[k] = false
		g.edges[k]++
	}
}

// dotColors are the colours of nodes, by queue.
var dotColors = [plan.Queues]string{"#cfe3d4", "#cfdcf0", "#f3dfc1", "#e5d3ec"}

func (g *dotGraph) write(b *bufio.Writer) {
	title := fmt.Sprintf("%d tasks, %d x %d edge chunks, schedule %s", len(g.p.Tasks), g.p.Cells.P, g.p.Cells.P, g.p.Schedule)
	if !g.whole {
		title += fmt.Sprintf("; summarised to %d nodes, one for the tasks of a queue and phase that do the same to different chunks; the numbers on edges count dependences", len(g.nodes))
	}
	if g.left > 0 {
		title += fmt.Sprintf("; left out: %d tasks of the later phases", g.left)
	}
	fmt.Fprintf(b, "digraph plan {\n\tlabel=%q; labelloc=t; rankdir=LR; newrank=true; fontname=\"sans-serif\";\n", title)
	b.WriteString("\tnode [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=10];\n\tedge [fontname=\"sans-serif\", fontsize=9, color=\"#555555\"];\n")
	var boxes [][3]int
	in := map[[3]int][]int{}
	for i, n := range g.nodes {
		if in[n.box] == nil {
			boxes = append(boxes, n.box)
		}
		in[n.box] = append(in[n.box], i)
	}
	for i, box := range boxes {
		label := fmt.Sprintf("device %d, %s, phase %d", box[0], plan.Queue(box[1]), box[2])
		if box[2] == len(g.p.Spec.Phases) {
			label = fmt.Sprintf("device %d, %s, at the end", box[0], plan.Queue(box[1]))
		}
		fmt.Fprintf(b, "\tsubgraph cluster_%d {\n\t\tlabel=%q; color=\"#999999\";\n", i, label)
		for _, n := range in[box] {
			fmt.Fprintf(b, "\t\tt%d [label=\"%s\", fillcolor=%q];\n", n, g.label(n), dotColors[box[1]])
		}
		b.WriteString("\t}\n")
	}
	for _, k := range g.order {
		style := ""
		switch n := g.edges[k]; {
		case g.ordered[k]:
			style = " [style=dashed, color=\"#bbbbbb\", arrowsize=0.6]"
		case !g.whole && n > 1:
			style = fmt.Sprintf(" [label=\"%d\"]", n)
		}
		fmt.Fprintf(b, "\tt%d -> t%d%s;\n", k[0], k[1], style)
	}
	b.WriteString("}\n")
}

func (g *dotGraph) label(i int) string {
	n := &g.nodes[i]
	text := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(n.text)
	if n.tasks > 1 {
		text += fmt.Sprintf(` ×%d`, n.tasks)
	}
	if n.bytes > 0 {
		text += `\n` + bytesText(n.bytes)
	}
	return text
}

// bytesText prints bytes for people.
func bytesText(n int64) string {
	x, unit := float64(n), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if x < 1024 {
			break
		}
		x, unit = x/1024, u
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.2f %s", x, unit)
}
