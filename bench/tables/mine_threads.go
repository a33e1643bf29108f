package tables

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/internal/units"
	"sagann/mine"
)

// threads repeats one job of each kind on one thread, two, four and so on.
func (c *Mine) threads() (*sheet, error) {
	s := &sheet{key: "threads", head: table.Row{"job", "threads", "s", "processor s", "times as fast as one"}}
	edges := int(min(c.Edges, 3))
	jobs := []struct {
		name string
		run  func(g *mine.Graph) error
	}{
		{"q2 by loops", func(g *mine.Graph) error { _, err := g.Count(c.ctx, mine.MustPattern("diamond")); return err }},
		{"clique4 by loops", func(g *mine.Graph) error { _, err := g.Cliques(c.ctx, 4); return err }},
		{fmt.Sprintf("patterns of %d edges, mni", edges), func(g *mine.Graph) error {
			_, err := g.Frequent(c.ctx, mine.Frequency{Support: min(int64(c.Support), int64(g.Vertices())), Edges: edges})
			return err
		}},
		{fmt.Sprintf("rows of %d edges by pattern", edges), func(g *mine.Graph) error {
			_, err := g.Frequent(c.ctx, mine.Frequency{Support: 1, Edges: edges, By: mine.InstancesAll, Engine: mine.Tables})
			return err
		}},
	}
	most := c.Threads
	defer func() { c.Threads = most }()
	for _, job := range jobs {
		one := 0.0
		for n := count(1); ; n = min(2*n, most) {
			c.Threads = n
			g, about, err := c.graph(c.Data, mine.Options{Engine: mine.Loops})
			if err != nil {
				return nil, err
			}
			s.title = "Threads (GAMMA's Figure 16: warps) on " + about
			wall, processor, err := clocked(func() error { return job.run(g) })
			if err != nil {
				return nil, err
			}
			if n == 1 {
				one = wall
			}
			cells, data := seconds(wall, processor)
			s.add(append(append(table.Row{job.name, n}, cells...), fmt.Sprintf("%.2f", one/wall)), append(fields{{"job", job.name}, {"threads", n}}, data...))
			if n == most {
				break
			}
		}
	}
	s.notes = []string{"GAMMA on a V100: about as many times as fast as there are warps, up to 256. Blocks of a GPU: go run -tags cuda ./bench counting --device cuda --jobs w."}
	return s, nil
}

// shapes are the sizes of the graph.
func (c *Mine) shapes() (*sheet, error) {
	s := &sheet{key: "data", title: "Data (GAMMA's Table II)", head: table.Row{"data", "vertices", "edges", "edges a vertex", "neighbour lists"}}
	g, _, err := c.graph(c.Data, mine.Options{})
	if err != nil {
		return nil, err
	}
	v, e := g.Vertices(), g.Edges()
	s.add(table.Row{c.Data, v, e, fmt.Sprintf("%.3g", float64(e)/float64(max(v, 1))), units.Size(8 * int64(e))}, fields{{"data", c.Data}, {"vertices", v}, {"edges", e}})
	s.notes = []string{"GAMMA: from email-Enron, 37 thousand vertices and 368 thousand edges, to twitter_rv, 62 million and 2.4 billion."}
	return s, nil
}
