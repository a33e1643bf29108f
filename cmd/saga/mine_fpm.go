package main

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/internal/cli"
	"sagann/internal/words"
	"sagann/mine"
)

// fpmCmd is saga mine fpm.
type fpmCmd struct {
	mineFlags
	Ask  fpmQuestion `embed:""`
	Show fpmOutput   `embed:""`

	Ranks peerFlags `embed:""`
}

// fpmQuestion is what patterns are looked for.
type fpmQuestion struct {
	Support  count  `required:"" placeholder:"N" help:"The least support of a frequent pattern, from 1 on."`
	Edges    count  `placeholder:"N" help:"The most edges of a pattern. One of --edges and --vertices is required."`
	Vertices count  `placeholder:"N" help:"The most vertices of a pattern, 2 to 8."`
	By       string `default:"mni" enum:"mni,instances,instances-all" placeholder:"KIND" help:"What support is: mni (the least number of graph vertices at a pattern vertex), instances (sets of edges; a pattern grows from a found one) or instances-all (without that rule)."`
	Induced  bool   `help:"Induced matches: patterns grow by vertices, and --vertices limits them."`
	AtLeast  bool   `name:"atleast" help:"Only decide which patterns are frequent: faster, but without their supports."`
	Engine   string `default:"auto" enum:"auto,domains,census,tables" placeholder:"NAME" help:"auto, domains (for mni), census or tables (for instances) (${default})."`
	Plain    bool   `name:"plain-edges" help:"Take no labels from the types of the edges."`
	Resume   string `placeholder:"DIR" help:"Folder that keeps each finished size of patterns; a search that was interrupted goes on from it."`
	Top      count  `placeholder:"K" help:"Only the K patterns of highest support; of equal ones the first in the order of the output; 0: all."`
}

// fpmOutput is what is printed and written.
type fpmOutput struct {
	csvForm
	Out      string `placeholder:"FILE" help:"File for the patterns: .csv."`
	Domains  string `placeholder:"FILE" help:"File for the vertices that take part, by pattern and pattern vertex: .npy or .csv."`
	Examples count  `placeholder:"N" help:"With each pattern its first N matches."`
}

// Help is what stands under the usage line.
func (fpmCmd) Help() string {
	return `Finds all connected patterns with at least the given support, up to a number of edges or
vertices. Vertices have the labels of the data, edges their types; a graph without labels has one label. A vertex with
label -1 takes no part. Patterns are edge-induced, and printed by edges, then by descending support.

The support by mni is the smallest, over the vertices of a pattern, number of graph vertices that
any match puts there. By instances it is the number of distinct sets of edges, of vertices with --induced. Instances
are not anti-monotone (a hub of 10 edges has 45 wedges): with instances a pattern of more than one edge
is found only if it grows from a found one; with instances-all all are.

Several processes, each with the same command, share the search: started by mpirun in a build with MPI, or with
--peers and --rank. The first prints and writes.

Examples:

  saga mine fpm --support 100 --edges 3 --data cora/
  saga mine fpm --support 100 --vertices 4 --atleast --data cora/ --out patterns.csv
  saga mine fpm --support 300 --edges 2 --data cora/ --out p.csv --domains members.npy`
}

// check finds mistakes in the flags before the data is read.
func (c *fpmCmd) check() error {
	for _, f := range []struct {
		flag, path string
		endings    []string
	}{{"out", c.Show.Out, []string{".csv"}}, {"domains", c.Show.Domains, []string{".npy", ".csv"}}} {
		if f.path != "" {
			if err := canWrite(f.flag, f.path, f.endings...); err != nil {
				return err
			}
		}
	}
	switch {
	case c.Ask.Support < 1:
		return cli.Usagef("--support %d: the least is 1", c.Ask.Support)
	case c.Ask.Edges == 0 && c.Ask.Vertices == 0:
		return cli.Usagef("say how large patterns may be: --edges N, --vertices N or both")
	}
	return nil
}

// Run finds the frequent patterns.
func (c *fpmCmd) Run(a *app) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	if c.Explain {
		a.Idle("an explanation", "out", "domains", "examples", "csv-safe")
	} else {
		c.Show.idle(a, c.Show.Out, c.Show.Domains)
	}
	t, err := c.Ranks.rankOf(a)
	if err != nil {
		return err
	}
	defer func() { err = t.leave(err) }()
	if c.Explain && t.follows() {
		return nil
	}
	g, err := c.openWith(a, mine.Options{Net: t.net()})
	if err != nil {
		return err
	}
	defer closed(g, &err)
	x, text := c.about(g)
	if n := unlabelled(c.data.Labels); n > 0 {
		x, text = append(x, field{"without_label", n}), text+words.Text("labels    %d {vertex has none and takes|vertices have none and take} no part\n", n)
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	q := mine.Frequency{Support: int64(c.Ask.Support), Edges: int(c.Ask.Edges), Vertices: int(c.Ask.Vertices), By: mine.By(c.Ask.By), Engine: mine.Engine(c.Ask.Engine),
		Induced: c.Ask.Induced, AtLeast: c.Ask.AtLeast, PlainEdges: c.Ask.Plain, Top: int(c.Ask.Top), Domains: c.Show.Domains != "", Resume: c.Ask.Resume, Level: c.level(a)}
	if c.Explain {
		e, err := g.ExplainFrequent(ctx, q)
		if err != nil {
			return err
		}
		return c.result(a, append(x, field{"explain", e}), text+e.String())
	}
	start := time.Now()
	found, err := g.Frequent(ctx, q)
	seconds := time.Since(start).Seconds()
	if err != nil {
		c.bar.finish()
		return err
	}
	sent, sentText, err := t.moved()
	if err != nil || t.follows() {
		return err
	}
	x, text = append(x, sent...), text+sentText
	if c.Show.Domains != "" {
		tellNumbers(a, c.Show.Domains, ".csv", c.data)
		if err := c.writeDomains(found); err != nil {
			return err
		}
		text += fmt.Sprintf("%s: who takes part\n", c.Show.Domains)
	}
	x = append(x, field{"support", c.Ask.Support}, field{"by", c.Ask.By}, field{"induced", c.Ask.Induced}, field{"patterns", len(found)}, field{"seconds", seconds})
	text += fmt.Sprintf("patterns  %d with a support of at least %d by %s, %s\n", len(found), c.Ask.Support, c.Ask.By, inducedText(c.Ask.Induced))
	for from := 0; from < len(found); {
		to := from
		for to < len(found) && found[to].Edges() == found[from].Edges() {
			to++
		}
		text += fmt.Sprintf("%8d  of %s\n", to-from, plural(found[from].Edges(), "edge"))
		from = to
	}
	if c.Show.Out != "" {
		if err := c.writePatterns(ctx, g, found); err != nil {
			return err
		}
		text += fmt.Sprintf("%s: the patterns\n", c.Show.Out)
		return c.result(a, append(x, field{"out", c.Show.Out}), text)
	}
	return c.print(ctx, a, g, found, x, text)
}

// unlabelled is how many vertices have no label though others have one.
func unlabelled(labels []int32) (n int) {
	for _, l := range labels {
		if l < 0 {
			n++
		}
	}
	return n
}

// many is how many candidates are worth a word before they are looked at.
const many = 1_000_000

// level says so before a level of many candidates.
func (c *fpmCmd) level(a *app) func(edges, candidates int) {
	return func(edges, candidates int) {
		if candidates >= many {
			a.Log.Warn(fmt.Sprintf("the next size of patterns, from %s on, has about %d candidates; a higher --support has fewer", plural(edges, "edge"), candidates))
		}
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// print prints the patterns.
func (c *fpmCmd) print(ctx context.Context, a *app, g *mine.Graph, found []mine.FrequentPattern, x fields, text string) error {
	list := []fields{}
	var b strings.Builder
	b.WriteString(text)
	for i := range found {
		f := &found[i]
		line := fields{{"pattern", f.Pattern.String()}, {"name", f.Pattern.Name()}, {"edges", f.Edges()}, {"vertices", f.Pattern.Vertices()}}
		if c.Ask.AtLeast {
			line = append(line, field{"at_least", c.Ask.Support})
		} else {
			line = append(line, field{"support", f.Support})
		}
		fmt.Fprintf(&b, "%20s  %s\n", c.supportText(f), strings.TrimSpace(f.Pattern.String()+"  "+f.Pattern.Name()))
		if c.Show.Examples > 0 {
			rows, err := c.examples(ctx, g, f)
			if err != nil {
				return err
			}
			for _, row := range rows {
				fmt.Fprintf(&b, "%20s  %s\n", "", strings.Join(row, " "))
			}
			line = append(line, field{"examples", rows})
		}
		if c.JSON {
			list = append(list, line)
		}
	}
	return c.result(a, append(x, field{"found", list}), b.String())
}

// supportText is the support as it is printed.
func (c *fpmCmd) supportText(f *mine.FrequentPattern) string {
	if c.Ask.AtLeast {
		return fmt.Sprintf(">=%d", c.Ask.Support)
	}
	return f.Support.String()
}

// examples are the first matches of a pattern, with the ids of the user's file.
func (c *fpmCmd) examples(ctx context.Context, g *mine.Graph, f *mine.FrequentPattern) (rows [][]string, err error) {
	options := []mine.Option{mine.Limit(int64(c.Show.Examples))}
	if c.Ask.Induced {
		options = append(options, mine.Induced)
	}
	for row, err := range g.Match(ctx, f.Pattern, options...) {
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(row))
		for i, v := range row {
			ids[i] = vertexText(c.data, v)
		}
		rows = append(rows, ids)
	}
	return rows, nil
}

// vertexText is the id of a vertex in the user's file.
func vertexText(d *dataset.Data, v uint32) string {
	switch {
	case d.Vertices.Names != nil:
		return d.Vertices.Names[v]
	case d.Vertices.IDs != nil:
		return strconv.FormatUint(d.Vertices.IDs[v], 10)
	}
	return strconv.FormatUint(uint64(v), 10)
}

// writePatterns writes the patterns as a table.
func (c *fpmCmd) writePatterns(ctx context.Context, g *mine.Graph, found []mine.FrequentPattern) error {
	defer removedOnSignal(c.Show.Out)()
	return cli.WriteWhole(c.Show.Out, func(w *bufio.Writer) error {
		w.WriteString("pattern,edges,vertices,support")
		if c.Show.Examples > 0 {
			w.WriteString(",examples")
		}
		w.WriteByte('\n')
		for i := range found {
			f := &found[i]
			fmt.Fprintf(w, "%s,%d,%d,%s", f.Pattern, f.Edges(), f.Pattern.Vertices(), c.supportText(f))
			if c.Show.Examples > 0 {
				rows, err := c.examples(ctx, g, f)
				if err != nil {
					return err
				}
				texts := make([]string, len(rows))
				for i, row := range rows {
					texts[i] = strings.Join(row, " ")
				}
				w.WriteString("," + c.Show.field(strings.Join(texts, "; ")))
			}
			if _, err := w.WriteString("\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeDomains writes who takes part: the number of the pattern in the output, from 0, the vertex of the
// pattern, and the vertex of the graph.
func (c *fpmCmd) writeDomains(found []mine.FrequentPattern) error {
	each := func(add func(pattern, vertex int, v uint32) error) error {
		for i := range found {
			for j := range found[i].Pattern.Vertices() {
				for v := range found[i].Domain(j) {
					if err := add(i, j, v); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	defer removedOnSignal(c.Show.Domains)()
	if filepath.Ext(c.Show.Domains) == ".csv" {
		return cli.WriteWhole(c.Show.Domains, func(w *bufio.Writer) error {
			w.WriteString("pattern,vertex,id\n")
			return each(func(pattern, vertex int, v uint32) error {
				_, err := fmt.Fprintf(w, "%d,%d,%s\n", pattern, vertex, c.Show.field(vertexText(c.data, v)))
				return err
			})
		})
	}
	if ids := c.data.Vertices.IDs; ids != nil {
		return npy.WriteRows(c.Show.Domains, 3, func(add func([]uint64) error) error {
			return each(func(pattern, vertex int, v uint32) error {
				return add([]uint64{uint64(pattern), uint64(vertex), ids[v]})
			})
		})
	}
	return npy.WriteRows(c.Show.Domains, 3, func(add func([]uint32) error) error {
		return each(func(pattern, vertex int, v uint32) error { return add([]uint32{uint32(pattern), uint32(vertex), v}) })
	})
}
