package main

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"

	"sagann/dataset"
	"sagann/internal/cli"
	"sagann/internal/words"
	"sagann/layers"
	"sagann/saga"
)

// exportCmd is saga export.
type exportCmd struct {
	checkpointFlags
	PyG   string `name:"pyg" placeholder:"FILE" help:"Write the weights: .pt, as torch.save writes a state_dict, or .safetensors."`
	Split string `placeholder:"DIR" help:"Write the split that the run trained on to a new folder: train.csv, val.csv and test.csv, by ids."`
}

// Help is what stands under the usage line.
func (exportCmd) Help() string {
	return `Examples:

  saga export saga-run-0001 --pyg weights.pt
  saga export saga-run-0001 --pyg weights.safetensors

The weights get the names and shapes that PyTorch Geometric's layers have for them: convs.0., convs.1. and so on for these, lins.0. for
linear layers, norms.0. for norms, lin. for the layer of --jk and head. for that of graphs. model.load_state_dict(torch.load("weights.pt"))
reads them into a module with such members. They are those that saga predict uses: of the best epoch with --patience, and
averages with --ema.

  saga export saga-run-0001 --split parts
  saga train --data graph.npz --split parts

The files have a heading and a row for each vertex (its id), graph (its number) or edge (its number and its ends); of --task link
source,target,label, where the label is 1 for an edge and 0 for a pair without one, and messages.csv has the edges that pass messages in training.`
}

// Run exports.
func (c *exportCmd) Run(a *app) error {
	path, err := c.checkpoint()
	if err != nil {
		return err
	}
	if c.PyG == "" && c.Split == "" {
		return cli.Usagef("what is written? --pyg FILE for weights, --split DIR for the split")
	}
	ending := filepath.Ext(c.PyG)
	if c.PyG != "" && ending != ".pt" && ending != ".safetensors" {
		return cli.Usagef("--pyg %s: the ending must be .pt or .safetensors", c.PyG)
	}
	if c.Split != "" {
		if err := c.split(a, path); err != nil {
			return err
		}
	}
	if c.PyG == "" {
		return nil
	}
	return c.weights(a, path, ending)
}

// weights writes the weights.
func (c *exportCmd) weights(a *app, path, ending string) error {
	path, err := checkpointIn(path)
	if err != nil {
		return err
	}
	w, about, prep, err := loadWeights(path)
	if err != nil {
		return err
	}
	if about == nil {
		return fmt.Errorf("%s: no checkpoint of saga train", path)
	}
	m, err := prep.model(about.Model)
	if err == nil {
		err = w.Run().Suits(&m)
	}
	if err != nil {
		return err
	}
	if about.ByTime() {
		a.Log.Warn("training drew edges by time (--sample-time): a module with these weights gives such scores where its loader does, too (NeighborLoader's time_attr, LinkNeighborLoader's edge_label_time less 1), and not over the whole graph")
	}
	params, value := w.Params()
	parts, err := w.Run().Parts(&m, prep.Target)
	if err != nil {
		return err
	}
	err = cli.WriteWhole(c.PyG, func(to *bufio.Writer) error {
		return layers.WriteWeights(to, ending, m, prep.Layers, params, parts, value)
	})
	if err != nil {
		return err
	}
	if _, err = fmt.Fprint(a.Stdout, words.Text("%s: %d {parameter|parameters} of model %s %s\n", c.PyG, len(params), about.Model, when(about))); err != nil {
		return err
	}
	return tellParts(a, about.Model, parts)
}

// tellParts says which relations the weights are of, in the order in which a layer that stacks them takes them.
func tellParts(a *app, model string, parts []saga.Part) error {
	var list []string
	for _, p := range parts {
		if p.Type == "" && p.Read {
			list = append(list, fmt.Sprintf("(%q, %q, %q)", p.Src, p.Name, p.Dst))
		}
	}
	if list == nil {
		return nil
	}
	text := "relations"
	if model == "hgt" {
		text = "HGTConv takes its relations in this order"
	}
	_, err := fmt.Fprintf(a.Stdout, "%s: %s\n", text, strings.Join(list, ", "))
	return err
}

// split writes the split that the run trained on.
func (c *exportCmd) split(a *app, path string) error {
	f := inferFlags{Device: "cpu"}
	t, err := f.load(a, path)
	if err != nil {
		return err
	}
	if t.about.ByTime() && t.task() == saga.LinkTask {
		return cli.Usagef("--split: links by time have times, and files of a split have none; the same --split-time divides them again, and saga evaluate --out writes pairs with their times")
	}
	if t.prep.allRelations(t.data) {
		return cli.Usagef("--split: files of pairs have no relations; of a run with --relation all they are not written yet")
	}
	d, _, _, err := t.prep.divide(t.data, t.task(), t.splitSeed())
	if err != nil {
		return err
	}
	if now := factsOf(d, t.task()); t.prep.Splits != nil && now.Parts != t.prep.Splits.Parts {
		return fmt.Errorf("%s has changed since training: its split is another", t.name)
	}
	defer removedOnSignal(c.Split)()
	if err := dataset.WriteSplit(c.Split, d, t.task()); err != nil {
		return err
	}
	var n [3]int
	for i, ids := range d.Splits(t.task()) {
		n[i] = len(ids)
	}
	if l := d.Targets.Links; t.task() == saga.LinkTask {
		n = [3]int{l.Train.Len(), l.Val.Len(), l.Test.Len()}
	}
	_, err = fmt.Fprint(a.Stdout, words.Text("%s: %d {"+string(t.task())+"|"+t.task().Plural()+"} for training, %d for validation, %d for testing\n", c.Split, n[0], n[1], n[2]))
	return err
}
