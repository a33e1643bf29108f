package tables

import (
	"errors"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/units"
	"sagann/mine"
	"sagann/mine/rows"
	minetable "sagann/mine/table"
)

// rows counts the rows of tables by pattern in several ways.
func (c *Mine) rows() (s *sheet, err error) {
	s = &sheet{key: "rows", head: table.Row{"edges", "way", "rows", "patterns", "s", "processor s", "M rows a processor s", "stored"}}
	g, about, err := c.graph(c.Data, mine.Options{Device: c.Device})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	s.title = "Rows by pattern, parts of the method left out, on " + about
	for edges := 2; edges <= int(c.Edges); edges++ {
		t := g.Table(false)
		for range edges - 1 {
			t = t.Extend(nil)
		}
		want := int64(-1)
		for _, way := range []struct {
			name  string
			gpu   bool // GPUs do it, too
			count func() (byPattern map[mine.Pattern]int64, stored int64, err error)
		}{
			{"quick codes, the last level only counted", true, func() (map[mine.Pattern]int64, int64, error) {
				found, err := g.Frequent(c.ctx, mine.Frequency{Support: 1, Edges: edges, By: mine.InstancesAll, Engine: mine.Tables})
				all := map[mine.Pattern]int64{}
				for _, f := range found {
					if f.Pattern.Edges() == edges {
						all[f.Pattern] = int64(f.Support.Lo)
					}
				}
				return all, 0, err
			}},
			{"the same, of rows that share no beginnings", false, func() (map[mine.Pattern]int64, int64, error) { return c.apart(edges) }},
			{"a pattern for each row, the last level only counted", false, func() (map[mine.Pattern]int64, int64, error) {
				all, err := t.Patterns(c.ctx)
				return all, 0, err
			}},
			{storedWay(c.Device), true, func() (map[mine.Pattern]int64, int64, error) {
				stored, err := t.Store(c.ctx)
				if err != nil {
					return nil, 0, err
				}
				defer stored.Close()
				all, err := stored.Table().Patterns(c.ctx)
				bytes, _ := stored.Bytes()
				return all, bytes, err
			}},
		} {
			if c.Device != "" && !way.gpu {
				continue
			}
			var all map[mine.Pattern]int64
			var stored int64
			wall, processor, err := clocked(func() (err error) { all, stored, err = way.count(); return err })
			if err != nil {
				return nil, err
			}
			n := int64(0)
			for _, k := range all {
				n += k
			}
			if want < 0 {
				want = n
			} else if n != want {
				return nil, fmt.Errorf("%s: %d rows of %d edges, not %d", way.name, n, edges, want)
			}
			cells, data := seconds(wall, processor)
			s.add(append(append(table.Row{edges, way.name, n, len(all)}, cells...), fmt.Sprintf("%.3g", float64(n)/processor*1e-6), units.Size(stored)),
				append(fields{{"edges", edges}, {"way", way.name}, {"rows", n}, {"patterns", len(all)}, {"stored", stored}}, data...))
		}
	}
	s.notes = []string{"The second way makes each row anew from its first edge before its last one is counted: what GAMMA's merging of prefixes saves. The first way counts all sizes up to this one. GAMMA stores every level, makes a canonical form for each row, and sorts these."}
	return s, nil
}

// storedWay is how rows are counted that are stored.
func storedWay(device string) string {
	if device != "" {
		return "a quick code for each row, the last level stored"
	}
	return "a pattern for each row, the last level stored"
}

// apart counts rows that share no beginnings.
func (c *Mine) apart(edges int) (map[mine.Pattern]int64, int64, error) {
	d, err := cli.OpenData(c.Data, dataset.Options{Undirected: true})
	if err != nil {
		return nil, 0, err
	}
	r, _, err := rows.FromEdges(d.Edges.Symmetric())
	if err != nil {
		return nil, 0, err
	}
	r.Label = d.Labels
	counts := map[mine.Pattern]mine.Total{}
	of := &minetable.Graph{Rows: r, Apart: true}
	if _, err := of.Count(c.ctx, edges, int(c.Threads), false, minetable.Part{}, counts); err != nil {
		return nil, 0, err
	}
	all := map[mine.Pattern]int64{}
	for p, n := range counts {
		all[p] = int64(n.Lo)
	}
	return all, 0, nil
}
