package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/layers"
	"sagann/saga"
)

// inferFlags are what predict and embed share.
type inferFlags struct {
	Checkpoint string `required:"" placeholder:"DIR" help:"Folder of a run, or a checkpoint file."`
	Data       string `placeholder:"PATH" help:"Graph to run on, as for saga train; default: the one that was trained on."`
	Out        string `required:"" placeholder:"FILE" help:"File to write: .npy or .csv."`
	Mem        memory `default:"auto" placeholder:"SIZE" help:"Device memory the run may use; auto: what it takes."`
	HostMem    memory `name:"host-mem" default:"auto" placeholder:"SIZE" help:"Host memory the run may use beside the data set and what it writes; what does not fit lies in files. auto: no bound."`
	Scratch    string `placeholder:"DIR" help:"Folder on a disk for those files, which have no names; default: that of --out."`
}

// predictCmd is saga predict.
type predictCmd struct {
	inferFlags
	Write string `default:"classes" enum:"classes,logits" placeholder:"WHAT" help:"classes or logits (${default}). Classes of multi-label data are a row of 0 and 1."`
}

// Help is what stands under the usage line.
func (predictCmd) Help() string {
	return `Examples:

  saga predict --checkpoint saga-run-0001 --out classes.csv
  saga predict --checkpoint saga-run-0001 --data other.saga --write logits --out logits.npy`
}

// Run predicts.
func (c *predictCmd) Run(a *app) error {
	j, x, cols, err := c.infer(a, saga.Predict)
	if err != nil {
		return err
	}
	v, row := len(x)/cols, string(cmp.Or(j.prep.Layers.Task, saga.VertexTask))
	switch {
	case c.Write == "logits":
		err = writeTable(c.Out, row, "class", j.ids(row), []int{v, cols}, x)
	case j.multi:
		set := make([]uint8, len(x))
		for i := range x {
			if x[i] > 0 {
				set[i] = 1
			}
		}
		err = writeTable(c.Out, row, "class", j.ids(row), []int{v, cols}, set)
	default:
		err = writeTable(c.Out, row, "class", j.ids(row), []int{v}, saga.Classes(x, cols))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s of %d %s, %d classes\n", c.Out, c.Write, v, things[j.prep.Layers.Task], cols)
	return err
}

// ids are the user's names of rows, nil where they are their numbers.
func (j *job) ids(row string) func(int) string {
	if row != "vertex" || !j.data.HasIDs() {
		return nil
	}
	return j.data.ID
}

// embedCmd is saga embed.
type embedCmd struct{ inferFlags }

// Help is what stands under the usage line.
func (embedCmd) Help() string {
	return `Example:

  saga embed --checkpoint saga-run-0001 --out rows.npy`
}

// Run embeds.
func (c *embedCmd) Run(a *app) error {
	j, x, cols, err := c.infer(a, saga.Embed)
	if err != nil {
		return err
	}
	rows, row := len(x)/cols, "vertex"
	if j.prep.Layers.Task == saga.GraphTask {
		row = "graph"
	}
	if err := writeTable(c.Out, row, "x", j.ids(row), []int{rows, cols}, x); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %d rows of %d columns\n", c.Out, rows, cols)
	return err
}

// things that labels stand on.
var things = map[saga.Task]string{"": "vertices", saga.VertexTask: "vertices", saga.EdgeTask: "edges", saga.GraphTask: "graphs"}

// infer rebuilds the model of the checkpoint and runs it.
func (c *inferFlags) infer(a *app, run func(saga.Model, *dataset.Data, saga.Config, string) ([]float32, int, error)) (j *job, x []float32, cols int, err error) {
	if err := canWrite(c.Out); err != nil {
		return nil, nil, 0, err
	}
	path := c.Checkpoint
	if info, err := os.Stat(path); err != nil {
		return nil, nil, 0, err
	} else if info.IsDir() {
		path = filepath.Join(path, checkpointFile)
	}
	ck, err := saga.ReadCheckpoint(path)
	if err != nil {
		return nil, nil, 0, err
	}
	var prep prepared
	if err := json.Unmarshal([]byte(ck.Options), &prep); err != nil {
		return nil, nil, 0, fmt.Errorf("%s: the metadata options were not written by saga train: %w", path, err)
	}
	m, err := layers.New(ck.Model, prep.Layers)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	m.SelfLoops = prep.SelfLoops
	name := c.Data
	if name == "" {
		name = prep.Data
	}
	d, err := cli.OpenData(name, dataset.Options{Undirected: prep.Undirected, Simple: prep.Simple})
	if err != nil {
		return nil, nil, 0, err
	}
	if err := prep.apply(d, a.Log); err != nil {
		return nil, nil, 0, err
	}
	if d.FeatureCols != prep.Layers.Features {
		return nil, nil, 0, fmt.Errorf("%s has %d features a vertex; the model in %s was trained on %d", name, d.FeatureCols, path, prep.Layers.Features)
	}
	x, cols, err = run(m, d, saga.Config{Mem: int64(c.Mem), HostMem: int64(c.HostMem), Scratch: cmp.Or(c.Scratch, filepath.Dir(c.Out))}, path)
	return &job{data: d, prep: prep, multi: d.MultiLabels != nil && m.Task != saga.EdgeTask && m.Task != saga.GraphTask}, x, cols, err
}
