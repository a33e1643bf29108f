package view_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sagann/dataflow/plan"
	"sagann/dataflow/plan/plantest"
	"sagann/dataflow/plan/view"
	"sagann/internal/draw"
)

var (
	dotNodes = regexp.MustCompile(`(?m)^\t\tt(\d+) \[label="([^"]*)"`)
	dotEdges = regexp.MustCompile(`(?m)^\tt(\d+) -> t(\d+)( \[.*\])?;$`)
	dotTimes = regexp.MustCompile(`×(\d+)`)
)

// Every task is in the drawing, alone or in a group, or counted as left out; edges end
// at nodes; every dependence of a drawing of single tasks is an edge.
func TestDot(t *testing.T) {
	summarised := 0
	draw.Check(t, func(t *rapid.T) {
		s, c := plantest.DrawSpec(t), plantest.DrawCells(t)
		if rapid.Bool().Draw(t, "many chunks") {
			c = plan.NewCells(48, 12, 4, 2)
			for d := range 2 {
				c.NNZ[d], c.Bytes[d] = slices.Repeat([]int64{3}, c.P*c.P), slices.Repeat([]int64{320}, c.P*c.P)
			}
		}
		p, err := plantest.NewPlan(t, s, c)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := view.Dot(p, &b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		nodes := map[string]bool{}
		tasks := 0
		for _, m := range dotNodes.FindAllStringSubmatch(text, -1) {
			nodes[m[1]] = true
			n := 1
			if k := dotTimes.FindStringSubmatch(m[2]); k != nil {
				n, _ = strconv.Atoi(k[1])
			}
			tasks += n
		}
		if k := regexp.MustCompile(`left out: (\d+) tasks`).FindStringSubmatch(text); k != nil {
			n, _ := strconv.Atoi(k[1])
			tasks += n
		}
		if tasks != len(p.Tasks) || len(nodes) > 400 {
			t.Fatalf("%d nodes stand for %d of %d tasks\n%s", len(nodes), tasks, len(p.Tasks), text)
		}
		if strings.Contains(text, "summarised to") != (len(p.Tasks) > 400) {
			t.Fatalf("%d tasks\n%s", len(p.Tasks), text)
		}
		edges := map[string]string{}
		for _, m := range dotEdges.FindAllStringSubmatch(text, -1) {
			if !nodes[m[1]] || !nodes[m[2]] {
				t.Fatalf("%s has no node", m[0])
			}
			edges[m[1]+" "+m[2]] = m[3]
		}
		if len(p.Tasks) > 400 {
			summarised++
			return
		}
		for i, k := range p.Tasks {
			for _, d := range p.Deps[k.Deps[0]:k.Deps[1]] {
				if style, ok := edges[fmt.Sprint(d, " ", i)]; !ok || strings.Contains(style, "dashed") {
					t.Fatalf("no edge from task %d to task %d\n%s", d, i, text)
				}
			}
		}
	})
	if summarised == 0 {
		t.Error("no plan was large enough to be summarised")
	}
}
