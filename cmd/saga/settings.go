package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sagann/dataflow/plan/sim"
	"sagann/dataset"
	"sagann/device"
	"sagann/layers"
	"sagann/saga"
)

// settings are the flags that a run is made of, and what config.json keeps of it
// under the flags' names.
type settings struct {
	Data         string `json:"data" default:"synthetic" placeholder:"PATH" group:"Data" help:"A folder or file (see saga data --help), karate, or synthetic[:vertices=..,edges=..,features=..,classes=..,seed=..,copies=..,skew=..] (${default})."`
	Undirected   bool   `json:"undirected" group:"Data" help:"Add the reverse of every edge that has none."`
	Simple       bool   `json:"simple" group:"Data" help:"Drop self loops and repeated edges."`
	Split        string `json:"split" placeholder:"TRAIN,VAL" group:"Data" help:"Replace the splits by random ones, by their shares: 0.6,0.2."`
	Task         string `json:"task" default:"auto" placeholder:"WHAT" group:"Data" help:"What labels stand on: vertex, edge, graph, or auto (vertex, where the data has labels of vertices)."`
	RowNormalize toggle `json:"row-normalize" default:"auto" placeholder:"B" group:"Data" help:"Divide each feature row by its sum: on, off, or auto (on for bags of words such as Planetoid's)."`

	Model     string  `json:"model" default:"ggcn" placeholder:"NAME" group:"Model" help:"One of ${models} (${default})."`
	Hidden    count   `json:"hidden" default:"32" placeholder:"N" group:"Model" help:"Columns between layers (${default})."`
	Layers    count   `json:"layers" default:"2" placeholder:"N" group:"Model" help:"Number of layers (${default})."`
	Steps     count   `json:"steps" default:"2" placeholder:"N" group:"Model" help:"Message steps of ggnn (${default})."`
	Heads     count   `json:"heads" default:"8" placeholder:"N" group:"Model" help:"Attention heads of gat and gatv2 (${default})."`
	Dropout   float32 `json:"dropout" default:"0" placeholder:"P" group:"Model" help:"Dropout on the input of every layer."`
	Normalize string  `json:"normalize" placeholder:"M" group:"Model" help:"Weights of gcn's edges: sym (default), weight or none."`
	Readout   string  `json:"readout" default:"mean" placeholder:"NAME" group:"Model" help:"What is made of the rows of a graph's vertices with --task graph: sum, mean or max (${default})."`
	SelfLoops toggle  `json:"self-loops" default:"auto" placeholder:"B" group:"Model" help:"Add self loops: on, off, or auto (on for gcn, gat and gatv2)."`

	Epochs       count   `json:"epochs" default:"60" placeholder:"N" group:"Training" help:"Epochs (${default})."`
	LR           float32 `json:"lr" name:"lr" default:"0.01" placeholder:"X" group:"Training" help:"Learning rate (${default})."`
	LRDecay      float32 `json:"lr-decay" name:"lr-decay" default:"1" placeholder:"X" group:"Training" help:"Factor on the learning rate every --lr-decay-every epochs."`
	LRDecayEvery count   `json:"lr-decay-every" name:"lr-decay-every" default:"0" placeholder:"N" group:"Training" help:"Epochs between two decays of the learning rate; 0: never."`
	WeightDecay  float32 `json:"weight-decay" default:"0" placeholder:"X" group:"Training" help:"Weight decay on the first layer."`
	Optimizer    string  `json:"optimizer" default:"adam" placeholder:"NAME" group:"Training" help:"adam, adamw or sgd (${default})."`
	Momentum     float32 `json:"momentum" default:"0" placeholder:"X" group:"Training" help:"Momentum of sgd."`
	ClipNorm     float32 `json:"clip-norm" default:"0" placeholder:"X" group:"Training" help:"Largest 2-norm of all gradients; 0: any."`
	EvalEvery    count   `json:"eval-every" default:"1" placeholder:"N" group:"Training" help:"Epochs between two evaluations (${default})."`
	Patience     count   `json:"patience" default:"0" placeholder:"N" group:"Training" help:"Stop after N evaluations without a lower validation loss and keep the best parameters; 0: never."`
	Seed         count   `json:"seed" default:"1" placeholder:"N" group:"Training" help:"Seed of parameters, dropout and --split (${default})."`

	Device   string   `json:"device" default:"cpu" placeholder:"NAME" group:"Memory" help:"cpu, cpu:4 for four devices that share the host, or in a build for NVIDIA GPUs cuda or cuda:1 (${default})."`
	Mem      memory   `json:"mem" default:"auto" placeholder:"SIZE" group:"Memory" help:"Memory of each device that the run may use, such as 8GiB; auto: what it takes and, on GPUs, what the card has, but for the built-in graph so little that chunks must stream."`
	HostMem  memory   `json:"host-mem" name:"host-mem" default:"auto" placeholder:"SIZE" group:"Memory" help:"Host memory that the run may use beside the data set; what does not fit lies in files in --scratch, what is moved least first. auto: no bound."`
	Scratch  string   `json:"-" placeholder:"DIR" group:"Memory" help:"Folder on a disk for those files, which have no names and are gone when the run ends, however it ends. Default: where the run folder is (saga plan: the system's folder for temporary files)."`
	Chunks   auto     `json:"chunks" default:"auto" placeholder:"P" group:"Memory" help:"Number of intervals, or auto: the fewest that fit."`
	Schedule string   `json:"schedule" default:"auto" placeholder:"NAME" group:"Memory" help:"Order of chunks: sag, stage, dest-order or auto (sag; with --machine the fastest)."`
	Save     string   `json:"save" default:"auto" placeholder:"WHAT" group:"Memory" help:"What of the forward pass the backward pass finds stored: all, none (computed again where it can be), some (element-wise values are computed again) or auto (the fastest by simulation)."`
	Storage  string   `json:"storage" default:"f32" placeholder:"TYPE" group:"Memory" help:"Rows that edges gather from their far end are stored, moved and read as f32 or bf16; sums are f32 (${default})."`
	Slices   auto     `json:"slices" default:"auto" placeholder:"K" group:"Memory" help:"Gather columns in K slices, each in a sweep of its own over all edges, where columns do not mix; auto: 1, and with a machine what is fastest by simulation."`
	Prefetch count    `json:"prefetch" default:"0" placeholder:"N" group:"Memory" help:"Chunks loaded ahead; 0: 2 where they fit, and more where memory is left."`
	Ring     toggle   `json:"ring" default:"auto" placeholder:"B" group:"Memory" help:"Several devices hand chunks on in a ring: on, off (each loads for itself) or auto (on)."`
	Machine  string   `json:"machine" placeholder:"NAME|FILE" group:"Memory" help:"Choose chunks, prefetch and, with --schedule auto, the schedule by simulation on this machine: one of ${machines}, or a file. --mem then holds what the machine keeps for itself, too. Default: h200 or h200x4 for cuda; for cpu none, the fewest chunks that fit."`
	TF32     bool     `json:"tf32" name:"tf32" group:"Memory" help:"On a GPU, round the operands of dense products to TF32 (10 bits of fraction): faster, and less exact."`
	Without  []string `json:"without" placeholder:"PASS" group:"Memory" help:"Passes to leave out, with commas between: stream, hoist, commute, factor, invariant, fuse and others."`
	Paper    bool     `json:"paper" group:"Memory" help:"Only what the NGra paper does: leaves out what came after it."`

	store   []string // of a run that goes on: what its plan stores, and
	once    []int    // over how many intervals its invariants were computed
	packing string   // whether its cells are packed, and
	tiles   []int    // rows that kernels of a GPU work on at a time
	groups  []int    // how many intervals a device visits at a time
}

// newerPasses are not in the paper.
var newerPasses = []string{"commute", "degree-sort", "factor", "group", "invariant", "pack", "postpone", "recompute-on-load", "residency", "row-gather", "serpentine", "slice"}

// paperSave is the save policy of the paper's system: what a product or a gather makes
// is stored, what is element-wise is computed again. No search.
const paperSave = "some"

// paperWithout are the passes that --paper leaves out; one that this engine does not
// have is left out already.
func paperWithout() []string {
	var list []string
	for _, pass := range newerPasses {
		if try := (&saga.Config{Without: []string{pass}}); try.Validate() == nil {
			list = append(list, pass)
		}
	}
	return list
}

// config is what the engine is told. Its errors, and those of the model's options
// that need no data, are mistakes in the command line.
func (s *settings) config() (saga.Config, error) {
	c := saga.Config{Device: s.Device, Mem: int64(s.Mem), HostMem: int64(s.HostMem), Scratch: s.Scratch, Chunks: int(s.Chunks),
		Prefetch: int(s.Prefetch), Save: s.Save, Storage: s.Storage, Slices: int(s.Slices),
		Seed: uint64(s.Seed), Without: slices.Clone(s.Without), Epochs: int(s.Epochs), EvalEvery: int(s.EvalEvery), Patience: int(s.Patience),
		Optimizer: saga.Optimizer{Kind: s.Optimizer, LR: s.LR, Momentum: s.Momentum, WeightDecay: s.WeightDecay,
			ClipNorm: s.ClipNorm, Gamma: s.LRDecay, DecayEvery: int(s.LRDecayEvery)}}
	c.Store, c.Once, c.Packing, c.Groups, c.Tiles = s.store, s.once, s.packing, s.groups, s.tiles
	c.NoRing = !s.Ring.or(true)
	c.TF32 = s.TF32
	if c.Machine = s.Machine; c.Machine == "" {
		if c.Machine = machineOf(s.Device); c.Machine != "" && c.Mem == 0 {
			c.Mem = smallerCard(s.Device, c.Machine)
		}
	}
	if s.Schedule != "auto" || c.Machine != "" {
		c.Schedule = s.Schedule
	}
	if s.Paper {
		c.Without = append(c.Without, paperWithout()...)
		if c.Save == saga.SaveAuto || c.Save == "" {
			c.Save = paperSave
		}
	}
	errs := []error{c.Validate()}
	for name, n := range map[string]count{"steps": s.Steps, "heads": s.Heads} {
		if n < 1 { // 0 is a default of the layers
			errs = append(errs, fmt.Errorf("--%s %d: at least 1", name, n))
		}
	}
	if s.Data == "" {
		errs = append(errs, errors.New("--data is empty: a path, karate or synthetic"))
	}
	if s.LR <= 0 {
		errs = append(errs, fmt.Errorf("--lr %v: must be above 0", s.LR))
	}
	if _, _, err := s.shares(); err != nil {
		errs = append(errs, err)
	}
	try := s.layers(1, 1, 0, 0)
	if try.Task = saga.Task(s.Task); s.Task == "auto" || s.Task == "" { // "" is that of old runs
		try.Task = ""
	}
	_, err := layers.New(s.Model, try)
	if errs = append(errs, err); errors.Join(errs...) != nil {
		return c, usageError{errors.Join(errs...)}
	}
	return c, nil
}

// machineOf is the machine model that a device is planned for by default; "" is none.
func machineOf(spec string) string {
	n, err := device.Count(spec)
	switch {
	case err != nil || !strings.HasPrefix(spec, "cuda") || n > 4:
		return ""
	case n > 1:
		return "h200x4"
	}
	return "h200"
}

// smallerCard is the memory of the smallest GPU that spec names, if it has less than the
// machine model's; 0 otherwise, or when no driver tells.
func smallerCard(spec, machine string) int64 {
	m, err := sim.LoadMachine(machine)
	if err != nil {
		return 0
	}
	sys, err := device.CUDASystem()
	if err != nil {
		return 0
	}
	_, gpus, err := device.Parse(spec)
	if err != nil {
		return 0
	}
	least := int64(m.Kind(0).Memory.Value)
	for _, i := range gpus {
		if total, _, err := sys.Memory(i); err == nil {
			least = min(least, total)
		}
	}
	if least == int64(m.Kind(0).Memory.Value) {
		return 0
	}
	return least
}

// layers are the options of the model for data of these widths.
func (s *settings) layers(features, classes, edgeData, edgeTypes int) layers.Options {
	return layers.Options{Features: features, Classes: classes, Hidden: int(s.Hidden), Layers: int(s.Layers), Steps: int(s.Steps),
		Heads: int(s.Heads), Dropout: s.Dropout, Normalize: s.Normalize, EdgeData: edgeData, EdgeTypes: edgeTypes,
		Readout: saga.Readout(s.Readout)}
}

// task is what labels stand on in d.
func (s *settings) task(d *dataset.Data) saga.Task {
	if s.Task != "auto" && s.Task != "" {
		return saga.Task(s.Task)
	}
	if kinds := d.LabelKinds(); len(kinds) > 0 {
		return kinds[0]
	}
	return saga.VertexTask
}

// idle lists the settings, other than the defaults, that nothing reads with labels of this
// kind and the other settings.
func (s *settings) idle(task saga.Task) []string {
	var list []string
	for _, x := range []struct {
		given bool
		what  string
	}{
		{s.Momentum != 0 && s.Optimizer != "sgd", "--momentum (of sgd; this is " + s.Optimizer + ")"},
		{s.LRDecay != 1 && s.LRDecayEvery == 0, "--lr-decay (without --lr-decay-every)"},
		{s.LRDecay == 1 && s.LRDecayEvery != 0, "--lr-decay-every (without --lr-decay)"},
		{s.Normalize != "" && s.Model != "gcn", "--normalize (of gcn)"},
		{s.Steps != 2 && s.Model != "ggnn", "--steps (of ggnn)"},
		{s.Layers != 2 && s.Model == "ggnn", "--layers (ggnn has --steps)"},
		{s.Heads != 8 && s.Model != "gat" && s.Model != "gatv2", "--heads (of gat and gatv2)"},
		{s.Readout != "" && s.Readout != string(saga.ReadoutMean) && task != saga.GraphTask, "--readout (of --task graph)"},
		{s.TF32 && !strings.HasPrefix(s.Device, "cuda"), "--tf32 (of GPUs)"},
	} {
		if x.given {
			list = append(list, x.what)
		}
	}
	return list
}

// shares are those of --split; zeros when it was not given.
func (s *settings) shares() (train, val float64, err error) {
	if s.Split == "" {
		return 0, 0, nil
	}
	a, b, _ := strings.Cut(s.Split, ",")
	if _, err := fmt.Sscanf(a+" "+b, "%g %g", &train, &val); err != nil || !(train > 0 && val > 0 && train+val < 1) {
		return 0, 0, fmt.Errorf("--split %s: want two shares above 0 that leave something for testing, such as 0.6,0.2", s.Split)
	}
	return train, val, nil
}

// dataOptions are those of reading the data.
func (s *settings) dataOptions() dataset.Options {
	return dataset.Options{Undirected: s.Undirected, Simple: s.Simple}
}

// absolute makes paths in Machine and Data independent of the working directory.
func (s *settings) absolute() error {
	if s.Machine != "" && !slices.Contains(sim.Machines(), s.Machine) {
		path, err := filepath.Abs(s.Machine)
		if err != nil {
			return err
		}
		s.Machine = path
	}
	if kind, _, _ := strings.Cut(s.Data, ":"); s.Data == "" || s.Data == "karate" || kind == "synthetic" {
		return nil
	}
	path, err := filepath.Abs(s.Data)
	s.Data = path
	return err
}

// changed lists the flags among given whose values differ from those of old.
func (s *settings) changed(old *settings, given map[string]bool) ([]string, error) {
	mine, err := s.asMap()
	if err != nil {
		return nil, err
	}
	theirs, err := old.asMap()
	if err != nil {
		return nil, err
	}
	var list []string
	for name, x := range mine {
		if given[name] && string(x) != string(theirs[name]) {
			list = append(list, fmt.Sprintf("--%s %s (it has %s)", name, x, theirs[name]))
		}
	}
	slices.Sort(list)
	return list, nil
}

func (s *settings) asMap() (m map[string]json.RawMessage, err error) {
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}
