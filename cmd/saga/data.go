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
	"sagann/internal/words"
)

// dataCmd is saga data.
type dataCmd struct {
	Convert  convertCmd  `cmd:"" help:"Read a graph in any format and write it as a store (.saga), which loads fast, or as .npy files."`
	Info     infoCmd     `cmd:"" help:"Describe a graph."`
	Verify   verifyCmd   `cmd:"" help:"Read a graph and check all of it; of a store every checksum."`
	Shard    shardCmd    `cmd:"" help:"Write a graph as shards, for a run over ranks, or say how many edges would cross between hosts."`
	Generate generateCmd `cmd:"" help:"Generate a graph."`
}

// Help is what stands under the usage line.
func (dataCmd) Help() string {
	return `Formats are recognised by the ending of a file, or of the files in a folder; stores by their content:

  folders         OGB, Planetoid, TU, .npy files, an edge list with features.csv, labels.csv … beside it
  files           PyG's .pt, .npz (PyG's and SciPy's names), .mat, .mtx, edge lists (.txt, .csv, .tsv, also .gz),
                  and .saga, the store that saga data convert writes
  tables          CSV or TSV with named columns: saga data convert --edges ... --vertices ...
  built in        karate, synthetic[:vertices=..,edges=..]

docs/data.md has a command for every format.

Examples:

  saga data info --data cora/
  saga data convert --data processed/data.pt --out graph.saga
  saga data convert --edges e.csv --vertices v.csv --features 'f*' --out graph.saga
  saga data convert --data edges.csv.gz --undirected --out graph.saga
  saga data generate --out big.saga vertices=1e6,edges=2e7,features=64,classes=16
  saga data verify --data big.saga
  saga data shard --data big.saga --dry-run`
}

// target says where a graph is written to.
type target struct {
	Out    string `required:"" placeholder:"PATH" help:"File or folder to write, which must not exist."`
	Format string `default:"store" enum:"store,npy" placeholder:"FORM" help:"store (one file with checksums) or npy (a folder of arrays)."`
	Base   auto   `default:"auto" placeholder:"N" help:"Of a store: number of vertex intervals by which its edges are sorted, up to 256 (${default})."`
}

func (t *target) check() error {
	if t.Base > 0 && t.Format == "npy" {
		return cli.Usagef("--base %d is of a store, and --format npy writes a folder of arrays", t.Base)
	}
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

// write puts d at t.Out as a whole, or nothing.
func (t *target) write(d *dataset.Data) error {
	out := filepath.Clean(t.Out) // without a slash at its end
	defer removedOnSignal(out)()
	if t.Format == "npy" {
		dir, err := chunk.TempFolder(out)
		if err != nil {
			return err
		}
		err = dataset.WriteNpyFolder(dir, d)
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
		base = dataset.BaseFor(d.Edges.E())
	}
	return dataset.WriteStore(out, d, base)
}

// generateCmd is saga data generate.
type generateCmd struct {
	Spec string `arg:"" optional:"" help:"vertices=..,edges=..,features=..,classes=..,seed=..,copies=..,skew=..,kind=communities|rmat; what is left out is as in the built-in graph. With several types: paper=1000x64,author=2e3,author:writes:paper=5e3,target=paper,classes=8,reverse=yes,seed=1, or mag/20 for ogbn-mag's types and relations at a 20th."`
	target
}

// Run generates.
func (c *generateCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	if spec := strings.TrimPrefix(c.Spec, "synthetic:"); dataset.IsHeteroSpec(spec) {
		return c.types(a, spec)
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
	if done, err := verifyTypes(a, name); done || err != nil {
		return err
	}
	if store, _ := openStore(name); store != nil || dataset.IsShards(name) {
		a.Idle("the check of a store or of shards", "undirected", "simple", "relabel", "mask")
		if store != nil {
			store.Close()
		}
	}
	if dataset.IsShards(name) {
		d, err := dataset.VerifyShards(name)
		if err == nil {
			_, err = fmt.Fprintf(a.Stdout, "%s is good: %d shards of %d vertices, %d edges in %d intervals\n", name, d.Shard.Owners, d.Edges.V, d.Shard.E, d.Shard.Stats.P)
		}
		return err
	}
	s, err := openStore(name)
	if err != nil {
		return err
	}
	if s == nil {
		_, d, err := c.open(a)
		if cli.SeveralTypes(err) {
			h, err := c.openTypes(a, name)
			if err == nil {
				_, err = fmt.Fprintf(a.Stdout, "%s is good: %s\n%s", name, describeTypes(h, h.E()), changes(h.Whole()))
			}
			return err
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, "%s is good: %s\n%s", name, cli.Describe(d), changes(d.Report))
		return err
	}
	defer s.Close()
	if err := s.Verify(); err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Stdout, words.Text("%s is good: %d {vertex|vertices}, %d {edge|edges}, %d {block|blocks}, %s\n", name, s.V(), s.E(), len(s.Blocks()), cli.SizeText(s.Bytes())))
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
