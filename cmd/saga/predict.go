package main

import (
	"errors"
	"fmt"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/metrics"
	"sagann/internal/words"
	"sagann/saga"
)

// outFlags say which checkpoint is run and what is written.
type outFlags struct {
	checkpointFlags
	Out      string   `required:"" placeholder:"FILE" help:"File to write: .npy, .csv or .safetensors."`
	Vertices string   `placeholder:"FILE|LIST" help:"Only these vertices, by ids with commas between or in a file, in this order: their rows are computed from their in-edges alone where that is less work than all rows."`
	Add      []string `sep:"none" placeholder:"EDGES,VERTICES|NAME=FILE" help:"Vertices that the data does not have: a table of them, with ids and the columns that features were made of, and a table of edges of the graph with them (nothing before the comma: none). Their rows are written, in the order of their table, or with --vertices those. Of a graph with several types of vertices a table for each type and each relation that gets more, by its name: --add paper=p.csv --add writes=w.csv."`
	csvForm
	inferFlags
}

// predictCmd is saga predict.
type predictCmd struct {
	outFlags
	With  weightFlags `embed:""`
	Write string      `default:"classes" enum:"classes,probs,logits" placeholder:"WHAT" help:"classes, probs or logits (${default}). Classes of multi-label data are a row of 0 and 1; probs are probabilities, of multi-label data one by one."`
	Pairs string      `placeholder:"FILE" help:"With a run of --task link: a text with the ids of two vertices on each line, of a run by time (--sample-time) also a time; the probability of each edge is written."`
}

// Help is what stands under the usage line.
func (predictCmd) Help() string {
	return `Examples:

  saga predict saga-run-0001 --out classes.csv
  saga predict saga-run-0001 --write probs --out probs.npy
  saga predict saga-run-0001 --data other.saga --write logits --out logits.safetensors
  saga predict saga-run-0001 --device cuda --mem 8GiB --out classes.npy
  saga predict --weights pyg.pt --model sage --hidden 64 --data graph.npz --write logits --out logits.npy

There is a row for every vertex, edge or graph, whichever the run predicts, in the order of the data. A .csv begins
each row with the vertex's id, as the data had it, or with the number of the edge or graph from 0, and has the names of classes where a table of vertices had names; an .npy is one array of numbers, and a .safetensors one tensor with the name of what was written.`
}

// Run predicts.
func (c *predictCmd) Run(a *app) error {
	c.idle(a, c.Out)
	if c.Vertices != "" && (c.Pairs != "" || c.With.Weights != "") {
		return cli.Usagef("--vertices is of a run's answers for vertices, neither of --pairs nor of --weights")
	}
	if c.Add != nil && c.With.Weights != "" {
		return cli.Usagef("--add is of a run, which knows how features were made, and not of --weights")
	}
	if c.Pairs != "" {
		return c.predictPairs(a)
	}
	infer := func() (*trained, []float32, int, error) { return c.infer(a, "logits", "") }
	if c.With.Weights != "" {
		infer = func() (*trained, []float32, int, error) { return c.weighted(a) }
	} else {
		a.Idle("a run, which has a model of its own", c.With.flags()...)
	}
	t, x, cols, err := infer()
	if err != nil {
		return err
	}
	v, multi := len(x)/cols, t.multi()
	w := table{csvForm: c.csvForm, path: c.Out, name: c.Write, row: string(t.task()), column: "class", ids: t.ids(string(t.task())), shape: []int{v, cols}, names: t.names()}
	if t.task() == saga.LinkTask {
		return cli.Usagef("a run of --task link predicts pairs of vertices: --pairs FILE names them; saga embed writes the rows of all vertices")
	}
	switch numeric := numbers(t.prep.Layers.Loss.Kind); {
	case numeric && c.Write == "probs":
		return cli.Usagef("--write probs: the model predicts numbers")
	case numeric:
		w.name, w.column, c.Write = "values", "y", "values"
		err = writeTable(w, x)
	case c.Write == "logits":
		err = writeTable(w, x)
	case c.Write == "probs":
		err = writeTable(w, probabilities(x, cols, multi))
	case multi:
		set := make([]uint8, len(x))
		for i := range x {
			if x[i] > 0 {
				set[i] = 1
			}
		}
		err = writeTable(w, set)
	default:
		w.shape = []int{v}
		err = writeTable(w, saga.Classes(x, cols))
	}
	if err != nil {
		return err
	}
	what := "{class|classes}"
	if c.Write == "values" {
		what = "{column|columns}"
	}
	_, err = fmt.Fprint(a.Stdout, words.Text("%s: %s of %d {"+string(t.task())+"|"+t.task().Plural()+"}, %d "+what+"%s\n", c.Out, c.Write, v, cols, t.parameters()))
	return err
}

// probabilities are those of rows of cols logits: of one class each, or of each class.
func probabilities(logits []float32, cols int, multi bool) []float32 {
	out, row := make([]float32, len(logits)), make([]float64, cols)
	for i := 0; i < len(logits); i += cols {
		if x := logits[i : i+cols]; multi {
			for k := range row {
				row[k] = metrics.Sigmoid(x[k])
			}
		} else {
			metrics.Softmax(row, x)
		}
		for k, p := range row {
			out[i+k] = float32(p)
		}
	}
	return out
}

// infer runs the model of the checkpoint; typ is the vertex type whose embeddings are asked for, "": that of the run.
func (c *outFlags) infer(a *app, what, typ string) (t *trained, x []float32, cols int, err error) {
	path, err := c.checkpoint()
	if err != nil {
		return nil, nil, 0, err
	}
	if err := canWrite("out", c.Out, ".npy", ".csv", ".safetensors"); err != nil {
		return nil, nil, 0, err
	}
	cfg, err := c.config(c.Out)
	if err != nil {
		return nil, nil, 0, err
	}
	if t, err = c.loadWith(a, path, c.Add); err != nil {
		return nil, nil, 0, err
	}
	if c.Vertices != "" {
		if err := t.only(c.Vertices); err != nil {
			return nil, nil, 0, err
		}
	}
	run, columns := saga.Predict, t.prep.Layers.Classes
	if what == "embeddings" {
		run, columns = saga.Embed, t.prep.Layers.Hidden
		if t.task() == saga.LinkTask && t.data.Vertices.Kinds != nil && t.list == nil {
			run = saga.Predict // the rows of both ends, one behind the other
		}
	}
	of, err := t.ofType(typ)
	if err != nil {
		return nil, nil, 0, err
	}
	if of != t.data {
		run = func(m saga.Model, d *dataset.Data, cfg saga.Config, path string) ([]float32, int, error) {
			return saga.EmbedOf(m, d, cfg, path, typ)
		}
	}
	room, err := cli.TakeSpace(c.Out, 4*int64(of.Edges.V)*int64(max(1, columns)))
	if err != nil {
		return nil, nil, 0, err
	}
	t.tellTimes(a)
	if t.list != nil {
		x, cols, err = t.some(a, cfg, what)
	} else {
		x, cols, err = run(t.model, t.data, cfg, t.path)
	}
	return t, x, cols, errors.Join(err, room.Close()) // right before the file is written
}
