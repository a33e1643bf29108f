package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"sagann/chunk"
	"sagann/dataset"
	"sagann/internal/cli"
)

// dataCmd is saga data.
type dataCmd struct {
	Convert  convertCmd  `cmd:"" help:"Write a graph as the project's store or as a folder of .npy files."`
	Info     infoCmd     `cmd:"" help:"Describe a graph."`
	Verify   verifyCmd   `cmd:"" help:"Read a graph and check all of it; of a store every checksum."`
	Generate generateCmd `cmd:"" help:"Generate a graph."`
}

// Help is what stands under the usage line.
func (dataCmd) Help() string {
	return `Graphs are recognised by what they are: folders of Planetoid, TU, OGB or .npy
files, single files .npz, .mat, .mtx and edge lists (.txt, .csv, .tsv, also .gz), and
the project's own store.

Examples:

  saga data info --data cora/
  saga data convert --data edges.csv.gz --undirected --out graph.saga
  saga data generate --out big.saga vertices=1e6,edges=2e7,features=64,classes=16
  saga data verify --data big.saga`
}

// source names a graph.
type source struct {
	Path       string `arg:"" optional:"" name:"path" help:"The graph; the same as --data."`
	Data       string `placeholder:"PATH" help:"The graph: a folder, a file, karate or synthetic[:..]."`
	Undirected bool   `help:"Add the reverse of every edge that has none."`
	Simple     bool   `help:"Drop self loops and repeated edges."`
	Relabel    string `default:"auto" enum:"auto,never,always" placeholder:"WHEN" help:"Number the vertices of an edge list anew: auto, never or always (${default})."`
}

func (s *source) name() (string, error) {
	switch {
	case s.Path != "" && s.Data != "" && s.Path != s.Data:
		return "", cli.Usagef("two graphs: %s and --data %s", s.Path, s.Data)
	case s.Path+s.Data == "":
		return "", cli.Usagef("which graph? --data PATH")
	case s.Path != "":
		return s.Path, nil
	}
	return s.Data, nil
}

func (s *source) open() (string, *dataset.Data, error) {
	name, err := s.name()
	if err != nil {
		return "", nil, err
	}
	relabel := map[string]dataset.Relabel{"auto": dataset.RelabelAuto, "never": dataset.RelabelNever, "always": dataset.RelabelAlways}
	d, err := cli.OpenData(name, dataset.Options{Undirected: s.Undirected, Simple: s.Simple, Relabel: relabel[s.Relabel]})
	return name, d, err
}

// target says where a graph is written to.
type target struct {
	Out    string `required:"" placeholder:"PATH" help:"File or folder to write, which must not exist."`
	Format string `default:"store" enum:"store,npy" placeholder:"FORM" help:"store (one file, checksums) or npy (a folder)."`
	Base   auto   `default:"auto" placeholder:"N" help:"Store: intervals of the base grid, up to 256."`
}

func (t *target) check() error {
	if t.Base > chunk.MaxBase {
		return cli.Usagef("--base %d: at most %d", t.Base, chunk.MaxBase)
	}
	if _, err := os.Lstat(t.Out); err == nil {
		return fmt.Errorf("%s exists and would be overwritten", t.Out)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// edgesPerCell is how many edges a cell of an automatic base grid holds.
const edgesPerCell = 1 << 16

// write puts d at t.Out as a whole, or nothing.
func (t *target) write(d *dataset.Data) error {
	out := filepath.Clean(t.Out) // without a slash at its end
	defer removedOnSignal(out)()
	if t.Format == "npy" {
		dir := filepath.Join(filepath.Dir(out), partialName(out)+"folder")
		err := dataset.WriteNpyFolder(dir, d)
		if err == nil {
			err = os.Rename(dir, out)
		}
		if err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
		return nil
	}
	base := int(t.Base)
	if base == 0 {
		for base = 1; base < chunk.MaxBase && base*base*edgesPerCell < d.Edges.E(); base *= 2 {
		}
	}
	return dataset.WriteStore(out, d, base)
}

// convertCmd is saga data convert.
type convertCmd struct {
	source
	target
}

// Run converts.
func (c *convertCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	_, d, err := c.open()
	if err != nil {
		return err
	}
	if err := c.write(d); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s\n", c.Out, cli.Describe(d))
	return err
}

// generateCmd is saga data generate.
type generateCmd struct {
	Spec string `arg:"" optional:"" help:"vertices=..,edges=..,features=..,classes=..,seed=..,copies=..,skew=..,kind=communities|rmat; what is left out is as in the built-in graph."`
	target
}

// Run generates.
func (c *generateCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	d, err := cli.OpenData("synthetic:"+strings.TrimPrefix(c.Spec, "synthetic:"), dataset.Options{})
	if err != nil {
		return err
	}
	if err := c.write(d); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s\n", c.Out, cli.Describe(d))
	return err
}

// verifyCmd is saga data verify.
type verifyCmd struct{ source }

// Run verifies.
func (c *verifyCmd) Run(a *app) error {
	name, err := c.name()
	if err != nil {
		return err
	}
	s, err := openStore(name)
	if err != nil {
		return err
	}
	if s == nil {
		_, d, err := c.open()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, "%s is good: %s\n", name, cli.Describe(d))
		return err
	}
	defer s.Close()
	if err := s.Verify(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s is good: %d vertices, %d edges, %d blocks, %s\n", name, s.V(), s.E(), len(s.Blocks()), cli.SizeText(s.Bytes()))
	return err
}

// syntheticSpec is the spec in the name of a generated graph.
// share is part of whole as a percentage, for people.
func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", math.Round(1000*float64(part)/float64(whole))/10)
}
