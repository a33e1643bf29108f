package main

import (
	"bufio"
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"

	"sagann/dataset"
	"sagann/dataset/npy"
	"sagann/internal/cli"
	"sagann/internal/metrics"
	"sagann/internal/words"
	"sagann/saga"
)

// linkFlags are those of --task link.
type linkFlags struct {
	Head     string  `json:"head" default:"dot" placeholder:"NAME" help:"What scores the rows of two vertices with --task link: dot, bilinear, distmult or mlp (${default})."`
	Width    count   `json:"width" default:"0" placeholder:"N" help:"Columns of those rows; 0: --hidden."`
	Relation string  `json:"relation" placeholder:"NAME" help:"Of a graph with several types of vertices: the relation whose edges --task link predicts, or whose labels of edges --task edge does, by its name or SOURCE:NAME:TARGET; default: the only one that has a split, or labels. Of a graph with one type, whose edges have types: all, edges of every type, each with a vector of its own in --head distmult."`
	Reverse  samples `json:"reverse" sep:"none" placeholder:"NAME=NAME" help:"Relations, or types of edges, of which each has the reverses of the other's edges, such as writes=written_by: what is held out in one is held out in the other. May be given several times. Known without it: NAME and rev_NAME, and a relation that has all edges of the predicted one turned round and no more."`
	Disjoint float64 `json:"disjoint" default:"0" placeholder:"X" help:"Share of the training edges that are predicted and pass no messages; 0: all do both (${default})."`
}

// Shares of the edges that --task link trains on and validates by; the rest is for testing.
const (
	linkTrain = 0.85
	linkVal   = 0.05
)

// auc stands for a split of links.
var auc = metric{"AUC", "auc", func(m saga.Metrics) float64 { return m.AUC }}

// evaluateLinks scores a split of links, or all of them.
func (c *evaluateCmd) evaluateLinks(a *app, t *trained, cfg saga.Config) error {
	on := c.On
	if on == "auto" {
		on = "test"
	}
	if on != "val" && on != "test" {
		return cli.Usagef("--on %s: links are scored on val or test; those of training are no test of anything", on)
	}
	same := sameFile(t.name, t.prep.Data)
	if by, err := parseSplit(t.prep.Split); !same && err == nil && by.from != "" { // of other ids
		t.prep.Split = ""
	}
	d, _, _, err := t.prep.divide(t.data, saga.LinkTask, t.splitSeed())
	if err != nil {
		return err
	}
	if t.prep.Features == "degree" { // as in training, of the edges that pass messages
		if err := t.prep.apply(d, slog.New(slog.DiscardHandler), ""); err != nil {
			return err
		}
	}
	if text := t.otherLinks(d, same, on); text != "" {
		a.Log.Warn(text)
	}
	l := d.Targets.Links
	edges, not := &l.Test, &l.NotTest
	if on == "val" {
		edges, not = &l.Val, &l.NotVal
	}
	if edges.Len() == 0 {
		return fmt.Errorf("%s has no links to score (--on %s)", t.name, on)
	}
	all := edges.With(not)
	scores, err := saga.ScoreLinks(t.model, d, cfg, t.path, all)
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := c.writeLinks(t, all, edges.Len(), scores); err != nil {
			return err
		}
	}
	n, is := edges.Len(), make([]bool, all.Len())
	for i := range n {
		is[i] = true
	}
	out := fields{{"checkpoint", t.path}, {"model", t.about.Model}, {"epoch", t.about.Kept}, {"epochs", t.about.Epoch}, {"data", t.name}, {"task", string(saga.LinkTask)}, {"on", on},
		{"rows", all.Len()}, {"auc", metrics.AUC(scores, is)}, {"ap", metrics.AveragePrecision(scores, is)}, {"mrr", metrics.MRR(scores[:n], scores[n:])}}
	for _, k := range []int{10, 50, 100} {
		out = append(out, field{fmt.Sprintf("hits@%d", k), metrics.Hits(scores[:n], scores[n:], k)})
	}
	if c.Ranking {
		ranks, err := saga.RankLinks(t.model, d, cfg, t.path, edges, t.known(d))
		if err != nil {
			return err
		}
		out = append(out, ranked(ranks)...)
	}
	if c.JSON {
		return cli.PrintJSON(a.Stdout, out)
	}
	text := words.Text("model     %s %s, %s\ngraph     %s: %s\nscored    %s: %d {edge|edges} and %d {pair|pairs} without an edge\n", t.about.Model, when(t.about), t.path, d.Name, cli.Describe(d), splitNames[on], n, not.Len())
	for _, f := range out[8:] {
		width := 9
		if strings.HasPrefix(f.Name(), "ranked") {
			width = 14
		}
		text += fmt.Sprintf("%-*s %.4f\n", width, strings.ToUpper(f.Name()[:1])+f.Name()[1:], f.Value())
	}
	_, err = fmt.Fprint(a.Stdout, strings.NewReplacer("Auc ", "AUC ", "Ap ", "AP ", "Mrr ", "MRR ", "Ranked_mrr", "Ranked MRR", "Ranked_hits", "Ranked Hits").Replace(text))
	return err
}

// known are the pairs that are left out of rankings: edges of the data, and those of the split of d. Of triples that a split gives they are
// those of the split and the self loops, which no split keeps: the data may have reverses beside them.
func (t *trained) known(d *dataset.Data) *dataset.Pairs {
	l := d.Targets.Links
	p, e := l.Train.With(&l.Val).With(&l.Test), dataset.EdgePairs(t.data, l.Types > 0)
	if by, err := parseSplit(t.prep.Split); l.Types == 0 || err != nil || by.from == "" {
		return p.With(e)
	}
	loops := &dataset.Pairs{}
	for k, u := range e.Src {
		if u == e.Dst[k] {
			loops.Src, loops.Dst, loops.Type = append(loops.Src, u), append(loops.Dst, u), append(loops.Type, e.Type[k])
		}
	}
	return p.With(loops)
}

// ranked are the numbers of a filtered ranking.
func ranked(ranks []float64) (out fields) {
	at := func(most float64) float64 {
		n := 0
		for _, r := range ranks {
			if r <= most {
				n++
			}
		}
		return float64(n) / float64(len(ranks))
	}
	sum := 0.0
	for _, r := range ranks {
		sum += 1 / r
	}
	out = fields{{"ranked_mrr", sum / float64(len(ranks))}}
	for _, k := range []float64{1, 3, 10} {
		out = append(out, field{fmt.Sprintf("ranked_hits@%.0f", k), at(k)})
	}
	return out
}

// otherLinks says that links of d that are scored may have been trained on: the split is not that of training. A split of its own that
// other data has is the user's to know.
func (t *trained) otherLinks(d *dataset.Data, same bool, on string) string {
	then, now := t.prep.Splits, factsOf(d, saga.LinkTask)
	if then != nil && same {
		if text := t.notThen(now, on); text != "" {
			return text
		}
	}
	if by, _ := parseSplit(t.prep.Split); by.byTime != nil { // what was trained on is before what is scored
		return ""
	}
	if then != nil && now.Parts == then.Parts || then == nil && same || !same && t.data.Targets.Given != nil {
		return ""
	}
	return fmt.Sprintf("%s is not the graph that the model was trained on, or has its edges in another order, and its split is drawn anew: links of its %s split may have been trained on, and then the scores are too high; score the training data (%s), or data with a split of their own",
		t.name, on, t.prep.Data)
}

// predictPairs writes the scores of the pairs in a file.
func (c *predictCmd) predictPairs(a *app) error {
	if err := canWrite("out", c.Out, ".csv", ".npy"); err != nil {
		return err
	}
	path, err := c.checkpoint()
	if err != nil {
		return err
	}
	cfg, err := c.config(c.Out)
	if err != nil {
		return err
	}
	t, err := c.loadWith(a, path, c.Add)
	if err != nil {
		return err
	}
	if t.task() != saga.LinkTask {
		return cli.Usagef("--pairs %s: %s was not trained with --task link", c.Pairs, t.path)
	}
	pairs, left, err := dataset.ReadPairs(c.Pairs, t.data, t.prep.allRelations(t.data))
	if err != nil {
		return err
	}
	if left != nil {
		a.Log.Info(words.Text("%s: %d {column is|columns are} not read: %s", c.Pairs, len(left), strings.Join(left, ", ")))
	}
	if n := loopsOf(pairs); n > 0 {
		a.Log.Warn(words.Text("%s: %d {pair joins a vertex and itself|pairs join a vertex and itself}: training saw no such pair", c.Pairs, n))
	}
	if t.about.ByTime() && pairs.Time == nil {
		a.Log.Info("the pairs have no times: each sees all edges; a third column has times, and then a pair sees the edges before its own")
	}
	scores, err := saga.ScoreLinks(t.model, t.data, cfg, t.path, pairs)
	if err != nil {
		return err
	}
	p := make([]float32, len(scores))
	for i, x := range scores {
		p[i] = float32(metrics.Sigmoid(float32(x)))
	}
	if filepath.Ext(c.Out) == ".npy" {
		err = npy.Write(c.Out, []int{len(p)}, p)
	} else {
		err = cli.WriteWhole(c.Out, func(w *bufio.Writer) error {
			heading, relation := "src,dst,probability", func(int) string { return "" }
			if pairs.Type != nil {
				heading, relation = "src,relation,dst,probability", func(i int) string { return c.field(dataset.TypeName(t.data, int(pairs.Type[i]))) + "," }
			}
			fmt.Fprintln(w, heading)
			for i, x := range p {
				fmt.Fprintf(w, "%s,%s%s,%s\n", c.field(dataset.PairID(t.data, pairs.Src[i])), relation(i), c.field(dataset.PairID(t.data, pairs.Dst[i])), strconv.FormatFloat(float64(x), 'g', 6, 32))
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Stdout, words.Text("%s: probabilities of %d {pair|pairs}%s\n", c.Out, len(p), t.parameters()))
	return err
}

// linkWidth is the number of columns of the rows that heads score.
func (s *settings) linkWidth() int { return int(cmp.Or(s.Link.Width, s.Model.Hidden)) }

// loopsOf is how many of p are of a vertex and itself.
func loopsOf(p *dataset.Pairs) (n int) {
	for i, u := range p.Src {
		if u == p.Dst[i] {
			n++
		}
	}
	return n
}
