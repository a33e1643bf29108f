// Command links compares features for predicting the edges of a graph: a GCN on learned rows, a GCN on degrees, and the
// product of degrees, which learns nothing. Test edges are not used to choose anything. For the GCNs, the learning rate
// and the number of epochs are those with the best AUC on the validation edges, from the same grid, averaged over the
// seeds.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"strconv"
	"strings"
	"sync"

	"sagann/dataset"
	"sagann/internal/metrics"
	"sagann/layers"
	"sagann/saga"
)

func main() {
	log.SetFlags(0)
	path := flag.String("data", "", "graph, as for saga train")
	seeds := flag.Int("seeds", 5, "splits and starts: seeds 1 to so many")
	rates := flag.String("lr", "0.001,0.003,0.01,0.03", "learning rates")
	epochs := flag.Int("epochs", 100, "most epochs")
	every := flag.Int("every", 5, "epochs between two looks at the validation edges")
	embedding := flag.Int("embedding", 64, "columns of the learned rows")
	hidden := flag.Int("hidden", 128, "columns between the layers")
	width := flag.Int("width", 64, "columns of the last layer")
	features := flag.String("features", "embedding,degree", "what vertices begin with")
	device := flag.String("device", "cpu", "device")
	beside := flag.Int("beside", 1, "runs at a time")
	flag.Parse()
	g, err := dataset.Load(*path, dataset.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var lrs []float64
	for text := range strings.SplitSeq(*rates, ",") {
		lr, err := strconv.ParseFloat(text, 64)
		if err != nil {
			log.Fatal(err)
		}
		lrs = append(lrs, lr)
	}
	r := recipe{*hidden, *width, *embedding, *epochs, *every, *device}
	fmt.Printf("%s: %d vertices, %d edges\n", g.Name, g.Edges.V, g.Edges.E())
	fmt.Printf("| features | learning rate, epochs | validation AUC | test AUC | AP | Hits@50 |\n|---|---|---|---|---|---|\n")
	for name := range strings.SplitSeq(*features, ",") {
		curves, err := r.grid(g, name, lrs, *seeds, *beside)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		best, at, lr := 0.0, 0, 0
		for i := range curves {
			for k := range curves[i][0] {
				if mean, _ := spread(curves[i], k, func(s saga.Scores) float64 { return s.Val.AUC }); mean > best {
					best, at, lr = mean, k, i
				}
			}
		}
		line(name, fmt.Sprintf("%v, %d", lrs[lr], (at+1)**every), curves[lr], at)
	}
	var product [][]saga.Scores
	for seed := range *seeds {
		d, err := split(g, uint64(seed)+1)
		if err != nil {
			log.Fatal(err)
		}
		product = append(product, []saga.Scores{degrees(d)})
	}
	line("degree of one times degree of the other", "–", product, 0)
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

// recipe is the settings that all runs share.
type recipe struct {
	hidden, width, embedding, epochs, every int
	device                                  string
}

// grid trains with every rate and seed, beside runs at a time, and returns the scores of every look.
func (r recipe) grid(g *dataset.Data, features string, lrs []float64, seeds, beside int) ([][][]saga.Scores, error) {
	out := make([][][]saga.Scores, len(lrs))
	errs := make(chan error, len(lrs)*seeds)
	room := make(chan bool, beside)
	var wg sync.WaitGroup
	for i, lr := range lrs {
		out[i] = make([][]saga.Scores, seeds)
		for seed := range seeds {
			wg.Add(1)
			go func() {
				defer wg.Done()
				room <- true
				var err error
				out[i][seed], err = r.train(g, features, lr, uint64(seed)+1)
				<-room
				errs <- err
			}()
		}
	}
	wg.Wait()
	for range len(lrs) * seeds {
		if err := <-errs; err != nil {
			return nil, err
		}
	}
	return out, nil
}

// train trains one model and returns the scores of every look (evaluation).
func (r recipe) train(g *dataset.Data, features string, lr float64, seed uint64) (looks []saga.Scores, err error) {
	d, err := split(g, seed)
	if err != nil {
		return nil, err
	}
	o := layers.Options{Features: r.embedding, Hidden: r.hidden, Classes: r.width, Layers: 2, Task: saga.LinkTask, LinkHead: saga.LinkDot}
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
		m.Embedding = r.embedding
	}
	p, err := saga.Compile(m, d, saga.Config{Seed: seed, Device: r.device, Optimizer: saga.Optimizer{LR: float32(lr)}})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	for e := range r.epochs {
		if _, err := p.Step(); err != nil {
			return nil, err
		}
		if (e+1)%r.every == 0 {
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
