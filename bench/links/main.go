// Package links compares features for predicting the edges of a graph: a GCN on learned rows, a GCN on degrees, and the
// product of degrees, which learns nothing. Test edges are not used to choose anything. For the GCNs, the learning rate
// and the number of epochs are those with the best AUC on the validation edges, from the same grid, averaged over the
// seeds.
package links

import (
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/metrics"
	"sagann/layers"
	"sagann/saga"
)

// Command is bench links.
type Command struct {
	Data      string    `required:"" placeholder:"PATH" help:"Graph, as for saga train."`
	Seeds     int       `default:"5" placeholder:"N" help:"Splits and starts: seeds 1 to so many (${default})."`
	LR        []float64 `name:"lr" default:"0.001,0.003,0.01,0.03" placeholder:"RATE" help:"Learning rates (${default})."`
	Epochs    int       `default:"100" placeholder:"N" help:"Most epochs (${default})."`
	Every     int       `default:"5" placeholder:"N" help:"Epochs between two looks at the validation edges (${default})."`
	Embedding int       `default:"64" placeholder:"N" help:"Columns of the learned rows (${default})."`
	Hidden    int       `default:"128" placeholder:"N" help:"Columns between the layers (${default})."`
	Width     int       `default:"64" placeholder:"N" help:"Columns of the last layer (${default})."`
	Features  []string  `default:"embedding,degree" placeholder:"NAME" help:"What vertices begin with (${default})."`
	Device    string    `default:"cpu" placeholder:"NAME" help:"Device that trains (${default})."`
	Beside    int       `default:"1" placeholder:"N" help:"Runs at a time (${default})."`
}

// Run prints the table.
func (c *Command) Run(*cli.App) error {
	if err := c.check(); err != nil {
		return cli.Usage(err)
	}
	g, err := dataset.Load(c.Data, dataset.Options{})
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d vertices, %d edges\n", g.Name, g.Edges.V, g.Edges.E())
	fmt.Printf("| features | learning rate, epochs | validation AUC | test AUC | AP | Hits@50 |\n|---|---|---|---|---|---|\n")
	for _, name := range c.Features {
		curves, err := c.grid(g, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		best, at, lr := 0.0, 0, 0
		for i := range curves {
			for k := range curves[i][0] {
				if mean, _ := spread(curves[i], k, func(s saga.Scores) float64 { return s.Val.AUC }); mean > best {
					best, at, lr = mean, k, i
				}
			}
		}
		line(name, fmt.Sprintf("%v, %d", c.LR[lr], (at+1)*c.Every), curves[lr], at)
	}
	var product [][]saga.Scores
	for seed := range c.Seeds {
		d, err := split(g, uint64(seed)+1)
		if err != nil {
			return err
		}
		product = append(product, []saga.Scores{degrees(d)})
	}
	line("degree of one times degree of the other", "–", product, 0)
	return nil
}

// check refuses what cannot be run.
func (c *Command) check() error {
	if c.Seeds < 1 || c.Beside < 1 || c.Every < 1 || c.Epochs < c.Every {
		return fmt.Errorf("--seeds %d --beside %d --every %d --epochs %d: at least 1, and at least one look at the validation edges", c.Seeds, c.Beside, c.Every, c.Epochs)
	}
	for _, name := range c.Features {
		if name != "embedding" && name != "degree" {
			return fmt.Errorf("--features %s: embedding or degree", name)
		}
	}
	return nil
}

// line prints a row of the table: the scores at look number at of the curves of all seeds, as mean ± standard error.
func line(name, chosen string, curves [][]saga.Scores, at int) {
	fmt.Printf("| %s | %s |", name, chosen)
	for _, of := range []func(saga.Scores) float64{
		func(s saga.Scores) float64 { return s.Val.AUC }, func(s saga.Scores) float64 { return s.Test.AUC },
		func(s saga.Scores) float64 { return s.Test.AP }, func(s saga.Scores) float64 { return s.Test.Hits[1] }} {
		mean, e := spread(curves, at, of)
		fmt.Printf(" %.4f ± %.4f |", mean, e)
	}
	fmt.Println()
}

// spread is the mean over seeds of a score at look number at, and its standard error, which is 0 for one seed.
func spread(curves [][]saga.Scores, at int, of func(saga.Scores) float64) (mean, e float64) {
	n := float64(len(curves))
	for _, c := range curves {
		mean += of(c[at]) / n
	}
	for _, c := range curves {
		e += (of(c[at]) - mean) * (of(c[at]) - mean) / max(1, n-1) / n
	}
	return mean, math.Sqrt(e)
}

func split(g *dataset.Data, seed uint64) (*dataset.Data, error) {
	return dataset.SplitLinks(g, dataset.LinkShares{Val: 0.05, Test: 0.1}, seed)
}

// grid trains with every rate and seed, --beside runs at a time, and returns the scores of every look.
func (c *Command) grid(g *dataset.Data, features string) ([][][]saga.Scores, error) {
	out := make([][][]saga.Scores, len(c.LR))
	var runs errgroup.Group
	runs.SetLimit(c.Beside)
	for i, lr := range c.LR {
		out[i] = make([][]saga.Scores, c.Seeds)
		for seed := range c.Seeds {
			runs.Go(func() (err error) {
				out[i][seed], err = c.train(g, features, lr, uint64(seed)+1)
				return err
			})
		}
	}
	return out, runs.Wait()
}

// train trains one model and returns the scores of every look (evaluation).
func (c *Command) train(g *dataset.Data, features string, lr float64, seed uint64) (looks []saga.Scores, err error) {
	d, err := split(g, seed)
	if err != nil {
		return nil, err
	}
	o := layers.Options{Features: c.Embedding, Hidden: c.Hidden, Classes: c.Width, Layers: 2, Task: saga.LinkTask, LinkHead: saga.LinkDot}
	if features == "degree" {
		dataset.DegreeFeatures(d)
		o.Features = d.FeatureCols
	} else {
		dataset.DropFeatures(d)
	}
	m, err := layers.New("gcn", o)
	if err != nil {
		return nil, err
	}
	if features != "degree" {
		m.Embedding = c.Embedding
	}
	p, err := saga.Compile(m, d, saga.Config{Seed: seed, Device: c.Device, Optimizer: saga.Optimizer{LR: float32(lr)}})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	for e := range c.Epochs {
		if _, err := p.Step(); err != nil {
			return nil, err
		}
		if (e+1)%c.Every == 0 {
			s, err := p.Evaluate()
			if err != nil {
				return nil, err
			}
			looks = append(looks, s)
		}
	}
	return looks, nil
}

// degrees scores pairs by the product of their degrees in the training graph. In a graph that is random except for its
// degrees, edges have probabilities proportional to it.
func degrees(d *dataset.Data) saga.Scores {
	in, out := d.Edges.InDegrees(), d.Edges.OutDegrees()
	score := func(yes, no *dataset.Pairs) (m saga.Metrics) {
		var all []float64
		var is []bool
		for k, p := range []*dataset.Pairs{yes, no} {
			for i, u := range p.Src {
				v := p.Dst[i]
				all, is = append(all, float64(in[u]+out[u])*float64(in[v]+out[v])), append(is, k == 0)
			}
		}
		m.AUC, m.AP = metrics.AUC(all, is), metrics.AveragePrecision(all, is)
		for i, k := range []int{10, 50, 100} {
			m.Hits[i] = metrics.Hits(all[:yes.Len()], all[yes.Len():], k)
		}
		return m
	}
	l := d.Targets.Links
	return saga.Scores{Val: score(&l.Val, &l.NotVal), Test: score(&l.Test, &l.NotTest)}
}
