package main

import (
	"bufio"
	"fmt"
	"path/filepath"

	"sagann/internal/cli"
	"sagann/layers"
)

// exportCmd is saga export.
type exportCmd struct {
	checkpointFlags
	PyG string `name:"pyg" required:"" placeholder:"FILE" help:"File to write: .pt, as torch.save writes a state_dict, or .safetensors."`
}

// Help is what stands under the usage line.
func (exportCmd) Help() string {
	return `Examples:

  saga export saga-run-0001 --pyg weights.pt
  saga export saga-run-0001 --pyg weights.safetensors

The weights get the names and shapes that PyTorch Geometric's layers have for them: convs.0., convs.1. and so on for these, lins.0. for
linear layers, norms.0. for norms, lin. for the layer of --jk and head. for that of graphs. model.load_state_dict(torch.load("weights.pt"))
reads them into a module with such members. They are those that saga predict uses: of the best epoch with --patience, and
averages with --ema.`
}

// Run exports.
func (c *exportCmd) Run(a *app) error {
	path, err := c.checkpoint()
	if err != nil {
		return err
	}
	ending := filepath.Ext(c.PyG)
	if ending != ".pt" && ending != ".safetensors" {
		return cli.Usagef("--pyg %s: the ending must be .pt or .safetensors", c.PyG)
	}
	if path, err = checkpointIn(path); err != nil {
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
	if err != nil {
		return err
	}
	params, value := w.Params()
	err = writeWhole(c.PyG, func(to *bufio.Writer) error {
		return layers.WriteWeights(to, ending, m, prep.Layers, params, value)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %d parameters of model %s\n", c.PyG, len(params), about.Model)
	return err
}
