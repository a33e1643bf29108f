package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sagann/backend"
	"sagann/dataset"
	"sagann/device"
	"sagann/internal/cli"
	"sagann/internal/runfolder"
	"sagann/internal/words"
	"sagann/saga"
)

// checkpointFlags name a checkpoint, by an argument or, as earlier versions wanted, by a flag.
type checkpointFlags struct {
	Run        string `arg:"" optional:"" name:"run" help:"Folder of a run, or a checkpoint file."`
	Checkpoint string `placeholder:"RUN" help:"The same as the argument."`
}

// checkpoint is the path that was given.
func (f *checkpointFlags) checkpoint() (string, error) {
	switch {
	case f.Run == "" && f.Checkpoint == "":
		return "", cli.Usagef("which checkpoint? Name the folder of a run, such as saga-run-0001")
	case f.Run != "" && f.Checkpoint != "" && f.Run != f.Checkpoint:
		return "", cli.Usagef("two checkpoints: %s and --checkpoint %s", f.Run, f.Checkpoint)
	}
	return cmp.Or(f.Run, f.Checkpoint), nil
}

// inferFlags say where a checkpoint is run and on what; predict, embed and evaluate share them.
type inferFlags struct {
	Data    string `placeholder:"PATH" help:"Graph to run on, as for saga train; default: the one that was trained on."`
	Device  string `default:"cpu" placeholder:"NAME" help:"cpu, cpu:4 for four devices that share the host, or in a build for NVIDIA GPUs cuda or cuda:1 (${default})."`
	Mem     memory `default:"auto" placeholder:"SIZE" help:"Memory of each device that the run may use; auto: what it takes and, on GPUs, at most what is free on the card."`
	HostMem memory `name:"host-mem" default:"auto" placeholder:"SIZE" help:"Host memory the run may use beside the data set and what it writes; what does not fit lies in files. auto: no bound."`
	Scratch string `placeholder:"DIR" help:"Folder on a disk for those files, which have no names; default: that of --out, or the system's for temporary files."`
}

// config is what the engine is told; out is the file that is written, or "".
func (f *inferFlags) config(out string) (saga.Config, error) {
	c := saga.Config{Device: f.Device, Mem: int64(f.Mem), HostMem: int64(f.HostMem), Scratch: f.Scratch, Machine: backend.MachineOf(f.Device)}
	if out != "" {
		c.Scratch = cmp.Or(c.Scratch, filepath.Dir(out))
	}
	if err := c.Validate(); err != nil {
		return c, cli.Usage(err)
	}
	return c, nil
}

// trained is a checkpoint with its model, and data to run it on.
type trained struct {
	path  string // of the checkpoint
	about *saga.Checkpoint
	prep  prepared
	model saga.Model
	name  string // of the data
	data  *dataset.Data
	list  []uint32 // of --vertices or --add; nil: all
	add   []string // of --add: tables
}

// load reads the checkpoint, a file or the folder of a run, rebuilds its model and brings
// the data into the form that it was trained on.
func (f *inferFlags) load(a *app, checkpoint string) (*trained, error) {
	return f.loadWith(a, checkpoint, nil)
}

// loadWith is load with the vertices of --add behind those of the data.
func (f *inferFlags) loadWith(a *app, checkpoint string, add []string) (*trained, error) {
	idleScratch(a, f.HostMem)
	path, err := checkpointIn(checkpoint)
	if err != nil {
		return nil, err
	}
	t := &trained{path: path}
	device.Warm(f.Device, true)
	t.about, err = saga.ReadCheckpoint(t.path)
	if ending := filepath.Ext(t.path); err != nil && ending != ".safetensors" && ending != "" {
		return nil, fmt.Errorf("%s: no checkpoint of saga, which is the folder of a run or its %s; a graph is named by --data", t.path, checkpointFile)
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(t.about.Options), &t.prep); err != nil {
		return nil, fmt.Errorf("%s: the metadata options were not written by saga train: %w", t.path, err)
	}
	t.name = cmp.Or(f.Data, t.prep.Data)
	// Labels of vertices in a TU folder are what they were in training.
	vertices := dataset.VertexFeatures
	if t.about.Schema == nil || t.about.Schema.Vertex.Form != "" {
		vertices = dataset.VertexClasses
	}
	if t.add, err = addedOf(add, t.task()); err != nil {
		return nil, err
	}
	apart := add != nil && (t.about.Schema == nil || t.about.Schema.Types == nil) // edges are rearranged when all are there; of several types also before, as relations are matched
	if t.data, err = t.open(dataset.Options{Undirected: t.prep.Undirected && !apart, Simple: t.prep.Simple && !apart, SparseFrom: t.prep.sparseFrom(), Vertices: vertices}); err != nil {
		return nil, err
	}
	if t.prep.VirtualNode {
		if err := dataset.VirtualVertices(t.data); err != nil {
			return nil, err
		}
	}
	if f.Data != "" { // of the graph that was trained on training has said it
		warn(a, t.data)
	}
	if numbers(t.prep.Layers.Loss.Kind) {
		if err := t.data.LabelsAsTargets(t.task()); err != nil {
			return nil, err
		}
	}
	if err := t.fit(a); err != nil {
		return nil, err
	}
	if t.model, err = t.prep.model(t.about.Model); err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	t.model.SelfLoops = t.prep.SelfLoops
	return t, nil
}

// when says of which epoch the parameters of a checkpoint are that are used, such as "after epoch 40".
func when(c *saga.Checkpoint) string {
	switch {
	case c.Kept != c.Epoch:
		return fmt.Sprintf("of epoch %d, which has the lowest validation loss of %d", c.Kept, c.Epoch)
	case c.Batch > 0:
		return words.Text("after epoch %d and %d {batch|batches} of the next", c.Epoch, c.Batch)
	}
	return fmt.Sprintf("after epoch %d", c.Epoch)
}

// parameters says of which epoch they are, "" where they are no run's.
func (t *trained) parameters() string {
	if t.about.Options == "" {
		return ""
	}
	return "; parameters " + when(t.about)
}

// open opens the data: of several types, as the run took them.
func (t *trained) open(o dataset.Options) (*dataset.Data, error) {
	if t.task() == saga.LinkTask {
		return cli.OpenLinks(t.name, t.prep.Target, t.prep.reverses(), o)
	}
	if t.task() == saga.EdgeTask {
		return cli.OpenEdges(t.name, t.prep.Target, o)
	}
	return cli.OpenApplied(t.name, t.about.Schema, o)
}

// checkpointIn is the path of a checkpoint, which path is or, as the folder of a run, has.
func checkpointIn(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: neither the folder of a run nor a checkpoint: there is no such file", path)
	case err != nil:
		return "", err
	case info.IsDir() && isRepeated(path):
		return "", runfolder.NotRun(path)
	case info.IsDir():
		folder := path
		path = filepath.Join(folder, checkpointFile)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s has no %s: not the folder of a run, or of one that has not written its first", folder, checkpointFile)
		}
	}
	return path, nil
}

// tellTimes says which edges the rows of a run by time are of.
func (t *trained) tellTimes(a *app) {
	switch {
	case !t.about.ByTime():
	case t.task() == saga.LinkTask:
		a.Log.Info("training drew edges before the times of pairs; these rows are of all edges, as after the last of them")
	default:
		a.Log.Info("training drew edges up to the times of vertices: each vertex sees all edges up to its own time")
	}
}

// task is what the model's predictions stand on.
func (t *trained) task() saga.Task { return cmp.Or(t.prep.Layers.Task, saga.VertexTask) }

// ids are the user's names of rows, nil where they are their numbers.
func (t *trained) ids(row string) func(int) string {
	if t.list != nil {
		return func(i int) string { return t.data.ID(int(t.list[i])) }
	}
	if row != string(saga.VertexTask) || !t.data.HasIDs() {
		return nil
	}
	return t.data.ID
}
